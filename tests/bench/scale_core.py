"""One core with so many servers, measured from inside; run as a program, prints one JSON object.

    python tests/bench/scale_core.py SERVERS TOOLS HOME [--eager]

Times in seconds, memory of hel's own process in MiB, bytes of the first request. Not here: the screen, what
the figures are compared with (scale).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from tests.fixtures.models.endpoint import ScriptedModel, say

SERVER = Path(__file__).parents[1] / "fixtures" / "servers" / "many.py"
LIMIT = 300.0


def entries(servers: int, tools: int) -> dict[str, Any]:
    """A server file with so many light servers."""
    command = {"command": sys.executable, "args": ["-S", "-E", str(SERVER), "described"]}
    return {
        "servers": {
            f"server-{n:03}": {**command, "env": {"COUNT": str(tools), "SEED": str(n)}}
            for n in range(servers)
        }
    }


def memory() -> float:
    """What this process holds now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


class Core:
    """A runtime and its events."""

    def __init__(self, options: Options) -> None:
        self.core = Runtime(options)
        self.ready: set[str] = set()
        self.events = 0

    def wait(self, done: Any) -> list[p.Event]:
        """Wait until `done` says so of an event or of the whole."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            self.core.wait(0.05)
            events = self.core.drain()
            self.events += len(events)
            self.ready |= {e.name for e in events if isinstance(e, p.ServerChanged) and e.phase == "ready"}
            if done(events):
                return events
        raise SystemExit("waited in vain")


def measured(servers: int, tools: int, home: Path, *, eager: bool) -> dict[str, Any]:
    """Start them all, ask one thing, search, load, and look."""
    project = home / "project"
    project.mkdir()
    (home / "hel" / "config").mkdir(parents=True)
    (home / "hel" / "config" / "config.toml").write_text(f'loading = "{"eager" if eager else "deferred"}"\n')
    file = home / "servers.json"
    file.write_text(json.dumps(entries(servers, tools)))
    environ = {**os.environ, "HOME": str(home), "HEL_HOME": str(home / "hel"), "HEL_API_KEY": "x"}
    with ScriptedModel() as model:
        model.replies[:] = [say("hello"), say("again")]
        options = Options(
            project=project,
            environ=environ,
            model="scripted/scripted",
            base_url=model.url,
            mcp_config=(file,) if servers else (),
            server_wait=LIMIT,
        )
        one = Core(options)
        before = memory()
        began = time.monotonic()
        one.core.start()
        if servers:
            one.wait(lambda _events: len(one.ready) == servers)
        ready = time.monotonic() - began
        used = sum(os.times()[:2])
        began = time.monotonic()
        one.core.send(p.Submit("hello"))
        one.wait(lambda events: any(isinstance(e, p.TurnEnded) for e in events))
        turn = time.monotonic() - began
        one.core.send(p.SearchTools("tool that reads the calendar of a person"))
        found = one.wait(lambda events: any(isinstance(e, p.Searched) for e in events)) if servers else []
        searches = time.monotonic()
        if servers:
            one.core.send(p.SearchTools("how warm will it be in the harbour tomorrow"))
            one.wait(lambda events: any(isinstance(e, p.Searched) for e in events))
        searched = time.monotonic() - searches
        began = time.monotonic()
        for _ in range(20):
            rows = one.core.tools()
        rows_time = (time.monotonic() - began) / 20
        held = memory()
        body = model.requests[0]
        one.core.stop(60)
    return {
        "servers": servers,
        "tools": len(rows),
        "ready": ready,
        "processor": used,
        "turn": turn,
        "search": searched,
        "rows": rows_time,
        "memory": held - before,
        "events": one.events,
        "request": len(json.dumps(body, ensure_ascii=False, separators=(",", ":"))),
        "listed": len(body["tools"]),
        "schemas": sum("mcp__" in each["function"]["name"] for each in body["tools"]),
        "found": bool(found),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("servers", type=int)
    parser.add_argument("tools", type=int)
    parser.add_argument("home", type=Path)
    parser.add_argument("--eager", action="store_true")
    given = parser.parse_args()
    print(json.dumps(measured(given.servers, given.tools, given.home, eager=given.eager)))
