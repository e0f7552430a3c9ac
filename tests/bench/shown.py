"""A process that runs a session and prints each event as a screen would get it, a JSON object a line.

    python -m tests.bench.shown PROJECT SERVERS URL SESSION PROMPT

SESSION empty: a new one; PROMPT empty: nothing is said. With $FULL, a seed, files cannot grow from time to time
while a turn runs, as on a disk that is full. With $SPEAK, a seed, more is said while it runs. Killed by whoever
started it (kills).
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import resource
import sys
from collections.abc import Iterable
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from tests.bench.spoken import Speaker

TOOL = "noted.note"
"""What is called by hand."""


class Disk:
    """A disk that is full from time to time, seen from this process: its files cannot grow beyond a size."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._is_on = bool(seed)
        self._limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.is_full = False

    def turn(self, event: p.Event, files: Iterable[Path]) -> None:
        """Fill up or make room, by chance; there is room when a turn is over."""
        if isinstance(event, p.TurnEnded):
            self._set(None)
            return
        kinds = (p.TextDelta, p.ReasoningDelta, p.CallChanged, p.StepStarted)
        if self._is_on and isinstance(event, kinds) and self._random.random() < 0.1:
            sizes = [path.stat().st_size for path in files if path.exists()]
            size = max(sizes, default=0) + self._random.randrange(200)
            self._set(None if self.is_full else size)

    def _set(self, size: int | None) -> None:
        soft, hard = self._limits
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size is None else size, hard))
        self.is_full = size is not None


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
            answerable=bool(speak := os.environ.get("SPEAK", "")),
            server_wait=30.0,
        )
    )
    core.start()
    if prompt:
        core.send(p.Submit(prompt))
    speaker = Speaker(speak if prompt else "", core.send, TOOL)
    disk, home = Disk(os.environ.get("FULL", "")), Path(os.environ["HEL_HOME"]) / "state" / "sessions"
    restoring = over = False
    while not over:
        core.wait(1.0)
        for event in core.drain():
            over = isinstance(event, p.Stopped)
            disk.turn(event, home.glob("*/session.jsonl"))
            if isinstance(event, p.Cleared | p.SessionRestored):
                restoring = isinstance(event, p.Cleared) and event.restoring
            if restoring and prompt:
                continue
            speaker.hear(event)
            fields = dataclasses.asdict(event)
            sys.stdout.write(json.dumps({"kind": type(event).__name__, **fields}, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
