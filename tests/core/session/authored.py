"""A server as its author has it: a program in the project, that is saved again and again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.rig import SERVERS

PROGRAM = """
import os, sys, time
sys.path.insert(0, {servers!r})
from stdio_server import Server, text, tool

class Mine(Server):
    tools = [{tools}]

    def begin(self):
        {begin}

    def call(self, identity, name, arguments, params):
        self.note(made=name)
        {call}
        self.answer(identity, text({says!r} + ":" + arguments.get("text", "")))

Mine().run()
"""


class Source:
    """The server's program, as its author writes it."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.file = project / "src" / "server.py"
        self.file.parent.mkdir()
        self.named = folder / "servers.json"
        self.events = folder / "events"

    def configure(self, *watch: str) -> None:
        entry = {
            "command": sys.executable,
            "args": ["-S", "-E", str(self.file)],
            "cwd": str(self.file.parents[1]),
            "watch": list(watch),
            "env": {"EVENTS": str(self.events)},
        }
        self.named.write_text(json.dumps({"mcpServers": {"mine": entry}}))

    def save(self, says: str, tools: str = 'tool("echo")', begin: str = "pass", call: str = "pass") -> None:
        """Replace the file as editors do. `call` is run before a call is answered."""
        beside = self.file.with_suffix(".tmp")
        beside.write_text(
            PROGRAM.format(servers=str(SERVERS), says=says, tools=tools, begin=begin, call=call)
        )
        beside.replace(self.file)

    @property
    def made(self) -> list[str]:
        """Calls that reached any generation."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [note["made"] for note in map(json.loads, lines) if "made" in note]
