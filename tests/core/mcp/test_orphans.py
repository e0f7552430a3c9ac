"""No server outlives hel: the reaper, and what a next start finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from hel_tui.core.mcp.guard import Guard
from hel_tui.core.mcp.leftovers import FOLDER
from tests.core.mcp.conftest import SERVERS, runs, until

HOST = """
import asyncio, os, sys
from pathlib import Path
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host

async def main(folder, events):
    host = Host(folder, os.environ, lambda: None, folder / "state", lambda event: None)
    servers = Path(sys.argv[2])
    for name, mode in (("a", "stubborn"), ("b", "grandchild")):
        env = (("EVENTS", str(folder / f"{name}.events")),)
        host.start([ServerEntry(name, "user", folder / "x", "stdio", {}, command=sys.executable, env=env,
            args=("-S", str(servers / "life.py"), mode), default_cwd=folder)])
    await host.settled()
    await asyncio.sleep(0.3)
    print("ready", flush=True)
    await asyncio.sleep(300)

asyncio.run(main(Path(sys.argv[1]), None))
"""


def noted(folder: Path, name: str, key: str) -> Any:
    lines = (folder / f"{name}.events").read_text().splitlines()
    return next(value[key] for value in map(json.loads, lines) if key in value)


def run_hel(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOST, str(folder), str(SERVERS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path.cwd())


async def test_servers_and_helpers_end_when_hel_is_killed(tmp_path: Path) -> None:
    hel = run_hel(tmp_path)
    assert hel.stdout is not None
    assert hel.stdout.readline() == b"ready\n"
    children = psutil.Process(hel.pid).children()
    pids = [
        *(child.pid for child in children),
        noted(tmp_path, "a", "child"),
        *noted(tmp_path, "b", "children"),
    ]
    assert len(pids) == 6
    record = json.loads(next((tmp_path / "state" / FOLDER).glob("*.json")).read_text())
    assert {one["server"] for one in record["servers"]} == {"a", "b"}
    hel.kill()
    hel.wait()
    hel.stdout.close()
    await until(lambda: not [pid for pid in pids if runs(pid)])


def sleep_for_ever() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True
    )


async def test_a_guard_that_is_closed_in_order_kills_nothing() -> None:
    guard = Guard()
    sleeper = sleep_for_ever()
    guard.watch(sleeper.pid)
    reaper = guard.pid
    guard.forget(sleeper.pid)
    await guard.close()
    assert not runs(reaper)
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


async def test_leftovers_of_a_hel_that_is_gone_are_found_and_ended(bench: Any) -> None:
    gone = sleep_for_ever()
    gone.kill()
    gone.wait()
    left = sleep_for_ever()
    folder = bench.folder / "state" / FOLDER
    folder.mkdir(parents=True)
    server = {
        "server": "old",
        "pid": left.pid,
        "created": psutil.Process(left.pid).create_time(),
        "command_line": "sleep",
    }
    reused = {**server, "server": "reused", "created": server["created"] - 5000}
    (folder / "1.json").write_text(
        json.dumps({"hel": {"pid": gone.pid, "created": 5.0}, "servers": [server, reused]})
    )
    mine = {"pid": os.getpid(), "created": psutil.Process().create_time()}
    (folder / "2.json").write_text(json.dumps({"hel": mine, "servers": [server]}))
    (folder / "3.json").write_text("{broken")
    (found,) = await bench.host.leftovers()
    assert (found.server, found.pid) == ("old", left.pid)
    await bench.host.end_leftovers((found,))
    left.wait(5)
    assert await bench.host.leftovers() == ()
    assert sorted(path.name for path in folder.iterdir()) == ["2.json"]
