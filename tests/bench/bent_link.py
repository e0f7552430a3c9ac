"""A link whose other side is made of bent bytes, and the report of what they did.

Not here: the frames (frames), what is above the link (fuzz).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from hel_tui.core.mcp.framing import LineSplitter
from hel_tui.core.mcp.link import Intake

MAX_LINE = 2 * 2**20
"""Longest line here: small enough that lines over the limit come often."""
KEPT = 20
"""Crashes whose frames are kept."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "prompts": {}, "logging": {}},
    "serverInfo": {"name": "fuzz", "version": "1"},
}
TOOLS = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
SAID = {"content": [{"type": "text", "text": "an answer"}]}


@dataclass(slots=True)
class Report:
    """What came of a run."""

    frames: int = 0
    bytes: int = 0
    seconds: float = 0.0
    grown: float = 0.0
    """MiB of memory, at most, above what there was after the first twentieth."""
    slowest: float = 0.0
    """Seconds the slowest line took."""
    slowest_size: int = 0
    hangs: int = 0
    crashes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def crashed(self, what: str) -> None:
        """Something raised."""
        self.counts["crashes"] += 1
        if len(self.crashes) < KEPT:
            self.crashes.append(what)

    def rows(self) -> list[tuple[str, str]]:
        """The report as names and values."""
        return [
            ("frames", f"{self.frames:,}"),
            ("bytes", f"{self.bytes:,}"),
            ("seconds", f"{self.seconds:.1f}"),
            ("frames a second", f"{self.frames / max(self.seconds, 1e-9):,.0f}"),
            ("peak memory growth", f"{self.grown:.1f} MiB"),
            ("slowest line", f"{self.slowest * 1000:.0f} ms ({self.slowest_size:,} bytes)"),
            *((name, f"{number:,}") for name, number in sorted(self.counts.items()) if name != "crashes"),
            ("crashes", str(self.counts["crashes"])),
            ("hangs", str(self.hangs)),
        ]


class BentLink:
    """A link whose other side is made of bytes that are fed to it."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._splitter = LineSplitter(MAX_LINE)
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(4)
        self.open: dict[Any, str] = {}
        """Requests of hel that were not answered by `settle`, and their methods."""
        self.line = b""
        """The beginning of the line that is taken in."""
        self.is_greeting = True

    async def run(self, intake: Intake) -> None:
        """Take in what is fed until `finish`."""
        while (chunk := await self._chunks.get()) is not None:
            for line in self._splitter.feed(chunk):
                size = len(line) if isinstance(line, bytes) else line.size
                self.line = line[:500] if isinstance(line, bytes) else line.head[:500]
                began = time.perf_counter()
                await intake.line(line)
                spent = time.perf_counter() - began
                if spent > self._report.slowest:
                    self._report.slowest, self._report.slowest_size = spent, size
            self._chunks.task_done()

    async def feed(self, data: bytes) -> None:
        """Bring bytes, once there is room."""
        await self._chunks.put(data)

    async def drained(self) -> None:
        """Wait until everything fed was taken in."""
        await self._chunks.join()

    async def send(self, message: JSONRPCMessage, line: bytes, headers: Mapping[str, str]) -> None:
        """What hel says; the greeting is answered at once."""
        json.loads(line)  # what hel writes is JSON, whatever it was asked
        if isinstance(message, JSONRPCRequest):
            self.open[message.id] = message.method
            if self.is_greeting:
                await self.settle()
        elif isinstance(message, JSONRPCNotification):
            if message.method == "notifications/cancelled":
                self.open.pop((message.params or {}).get("requestId"), None)
        else:
            self._report.counts["answers to the server"] += 1

    async def settle(self) -> None:
        """Answer everything that is open."""
        for identity, method in list(self.open.items()):
            if self.open.pop(identity, None) is None:  # cancelled meanwhile
                continue
            answer: dict[str, Any] = {"jsonrpc": "2.0", "id": identity}
            match method:
                case "initialize":
                    answer["result"] = HELLO
                case "tools/list":
                    answer["result"] = TOOLS
                case "tools/call":
                    answer["result"] = SAID
                case _:
                    answer["error"] = {"code": -32601, "message": "not known"}
            await self.feed(b"\n" + json.dumps(answer).encode() + b"\n")

    def finish(self) -> None:
        """End `run`, whatever is still to be taken in."""
        with contextlib.suppress(asyncio.QueueFull):
            self._chunks.put_nowait(None)

    async def how_it_ended(self) -> str:
        """It never does by itself."""
        return "it ended"
