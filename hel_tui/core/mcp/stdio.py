"""The way to a server through the pipes of its process.

Not here: the process itself (process), what lines say (messages).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hel_tui.core.mcp.framing import LineSplitter
from hel_tui.core.mcp.link import Intake
from hel_tui.core.mcp.process import EXIT_FOLLOWS, ServerProcess

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage


class PipeLink:
    """A `Link` over stdin and stdout of a running process."""

    def __init__(self, process: ServerProcess, on_stray: Callable[[str], None]) -> None:
        self._process = process
        self._on_stray = on_stray

    async def run(self, intake: Intake) -> None:
        """Bring lines until the server closed its stdout, its stdin or itself."""
        splitter = LineSplitter()
        try:
            while True:
                chunk = await self._process.stdout.read()
                for line in splitter.feed(chunk) if chunk else splitter.close():
                    await intake.line(line)
                if not chunk:
                    return
                await asyncio.sleep(0)
        finally:
            self._process.stdin.close()

    async def send(self, message: JSONRPCMessage, line: bytes, headers: Mapping[str, str]) -> None:  # noqa: ARG002
        """Write one line, all of it. Raises OSError when the server closed its stdin or is gone."""
        try:
            await self._process.stdin.write(line + b"\n")
        except OSError:
            if not self._process.stopping and self._process.exit is None:
                self._on_stray("the server closed its stdin")
            raise

    def finish(self) -> None:
        """Take what is left and end, although others may hold the writing end."""
        self._process.stdout.finish()

    async def how_it_ended(self) -> str:
        """Wait a moment for the exit status: the pipes often close first."""
        await self._process.wait(EXIT_FOLLOWS)
        return f"it ended ({self._process.exit})" if self._process.exit else "it closed its stdout"
