"""A process that runs a session and prints each event as a screen would get it, a JSON object a line.

    python -m tests.bench.shown PROJECT SERVERS URL SESSION PROMPT

SESSION empty: a new one; PROMPT empty: nothing is said. Killed by whoever started it (kills).
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime


def main() -> None:
    project, servers, url, session, prompt = sys.argv[1:]
    core = Runtime(
        Options(
            project=Path(project),
            environ=dict(os.environ),
            model="scripted/scripted",
            base_url=url,
            access="auto",
            mcp_config=(Path(servers),),
            resume=session,
            answerable=False,
            server_wait=30.0,
        )
    )
    core.start()
    if prompt:
        core.send(p.Submit(prompt))
    restoring = over = False
    while not over:
        core.wait(1.0)
        for event in core.drain():
            over = isinstance(event, p.Stopped)
            if isinstance(event, p.Cleared | p.SessionRestored):
                restoring = isinstance(event, p.Cleared) and event.restoring
            if restoring and prompt:
                continue
            fields = dataclasses.asdict(event)
            sys.stdout.write(json.dumps({"kind": type(event).__name__, **fields}, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
