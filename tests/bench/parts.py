"""What the measurements share: a folder of their own, the endpoint as a process, servers to configure."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.program import ROOT

HERE = Path(__file__).parent
SERVER = (sys.executable, "-S", "-E", str(HERE / "server.py"))


@dataclass(frozen=True, slots=True)
class Place:
    """An empty project and a home."""

    project: Path
    home: Path

    def servers(self, name: str, count: int, *options: str) -> list[str]:
        """Options of `hel` that add so many servers: `bench`, `bench1`, `bench2` …"""
        command, *args = SERVER
        entries = {f"bench{n or ''}": {"command": command, "args": [*args, *options]} for n in range(count)}
        file = self.home / f"{name}.json"
        file.write_text(json.dumps({"servers": entries}))
        return ["--mcp-config", str(file)]


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """A temporary folder with a project and a home in it."""
    with tempfile.TemporaryDirectory(prefix="hel-bench.") as folder:
        found = Place(Path(folder).resolve() / "project", Path(folder).resolve() / "home")
        found.project.mkdir()
        found.home.mkdir()
        yield found


class Model:
    """The endpoint's process and what it told so far."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "endpoint.py")], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        self.url: str = self.fact()["url"]
        self.options = ["--model", "scripted/scripted", "--base-url", self.url]

    def fact(self) -> dict[str, Any]:
        """The next thing it tells; waits for it."""
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
