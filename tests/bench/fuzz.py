"""Millions of bent frames through the border into a live connection with open requests, in one process.

    python tests/bench/fuzz.py [--frames 1000000] [--seed 1]

Bytes go through the line splitter, the border and the wire into the SDK's session, beneath the very
connection that servers get. Whatever they say: nothing raises, no request waits for ever, memory stays.
Prints a table; the status is 1 when anything crashed or hung.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


from hel_tui.core.mcp.asking import Helpers
from hel_tui.core.mcp.connection import Connection, ConnectionHooks
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.serving import Serving
from hel_tui.core.mcp.wire import WireHooks
from tests.bench.bent_link import BentLink, Report
from tests.bench.frames import frame, pieces

CALLERS = 8
ROUND = 500
"""Frames between two moments at which every open request is answered."""
LIMIT = 60.0
"""Seconds an answered request may stay open before it counts as a hang."""


class Fuzz:
    """One run over one connection."""

    def __init__(self, frames: int, seed: int) -> None:
        self.report = Report()
        self._most = frames
        self._chance = random.Random(seed)
        self._link = BentLink(self.report)
        self._ready = asyncio.Event()
        self._calls = [0] * CALLERS
        """How many calls each caller has finished."""
        self._process = psutil.Process()
        count = self.report.counts
        hooks = ConnectionHooks(
            on_ready=lambda _hello, _listing: self._ready.set(),
            on_listing=lambda _listing: count.update(["lists read"]),
            on_list_failed=lambda _why: count.update(["lists failed"]),
            on_list_ignored=lambda: None,
            on_resources=lambda _found: None,
            on_prompts=lambda _found: count.update(["lists read"]),
            on_updated=lambda _uri: count.update(["updates"]),
            on_log=lambda _level, _text: count.update(["log messages"]),
            on_dropped=lambda number: count.update({"dropped": number}),
            on_pulse=lambda _problem: None,
            on_gone=lambda _problem: None,
            on_note=lambda _text: count.update(["words to the person"]),
        )
        wire_hooks = WireHooks(
            on_noise=lambda _text: count.update(["noise"]),
            on_note=lambda _method, _params: None,
            on_stray=self._stray,
            on_latency=lambda _seconds: count.update(["answers"]),
        )
        entry = ServerEntry("fuzz", "user", Path("mcp.json"), "stdio", {}, protocol="handshake")
        serving = Serving(entry, lambda: (Path("/tmp"),), Helpers(), hooks.on_note)
        self._connection = Connection(entry, self._link, serving, hooks, wire_hooks)

    def _stray(self, text: str) -> None:
        self.report.counts["strays"] += 1
        if "hel failed at" in text or "could not be read and was dropped" in text:
            self.report.crashed(f"{text}: {self._link.line!r}")

    async def run(self) -> Report:
        """Send all frames, then end in order."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: self.report.crashed(str(context)))
        living = asyncio.create_task(self._connection.live(skip_probe=True))
        await asyncio.wait_for(self._ready.wait(), LIMIT)
        self._link.is_greeting = False
        callers = [asyncio.create_task(self._caller(number)) for number in range(CALLERS)]
        began, base = time.monotonic(), 0.0
        while self.report.frames < self._most and not self.report.hangs and not living.done():
            await self._round(min(ROUND, self._most - self.report.frames))
            memory = self._process.memory_info().rss / 2**20
            if self.report.frames * 20 <= self._most or not base:
                base = memory
            self.report.grown = max(self.report.grown, memory - base)
        self.report.seconds = time.monotonic() - began
        if living.done():
            self.report.crashed(f"the connection ended: {living.exception()!r}: {self._link.line!r}")
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await self._end(living)
        return self.report

    async def _end(self, living: asyncio.Task[None]) -> None:
        self._link.finish()
        done, _ = await asyncio.wait({living}, timeout=LIMIT)
        if not done:
            self.report.hangs += 1
            living.cancel()
        left = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in left:
            self.report.crashed(f"a task is left: {task!r}")
            task.cancel()

    async def _round(self, frames: int) -> None:
        """Some frames in whatever pieces, then a sound answer to everything that is open."""
        chance, link = self._chance, self._link
        ids = list(link.open)
        tokens = [f"call-{sum(self._calls) + n}" for n in range(CALLERS + 1)]
        data = bytearray()
        for _ in range(frames):
            data += frame(chance, ids, tokens)
            data += chance.choice((b"\n", b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b""))
        for piece in pieces(chance, bytes(data)):
            await link.feed(piece)
        await link.feed(b"\n")
        await link.drained()
        self.report.frames += frames
        self.report.bytes += len(data)
        if not await self._all_answered():
            self.report.hangs += 1

    async def _all_answered(self) -> bool:
        """Answer what is open until every caller has got through the call it was in."""
        before = list(self._calls)
        end = time.monotonic() + LIMIT
        while any(now == then for now, then in zip(self._calls, before, strict=True)):
            if time.monotonic() > end:
                return False
            await self._link.settle()
            await self._link.drained()
            await asyncio.sleep(0)
        return True

    async def _caller(self, number: int) -> None:
        """Call, whatever comes of it. The last one loses patience every second time."""
        while True:
            calling = asyncio.create_task(self._call())
            try:
                if number == CALLERS - 1 and self._calls[number] % 2:
                    for _ in range(self._calls[number] % 40):
                        await asyncio.sleep(0)
                    calling.cancel()
                await asyncio.wait({calling})
            finally:
                calling.cancel()
                await asyncio.gather(calling, return_exceptions=True)
            self._calls[number] += 1

    async def _call(self) -> None:
        count = self.report.counts
        try:
            await self._connection.call("echo", {"text": "words"}, lambda *_: count.update(["progress"]))
        except CallFault as fault:
            count[f"calls: {fault.kind}"] += 1
        except asyncio.CancelledError:
            count["calls: cancelled"] += 1
        except BaseException as error:
            self.report.crashed(f"a call raised {error!r}: {self._link.line!r}")
        else:
            count["calls: answered"] += 1


def fuzz(frames: int, seed: int) -> Report:
    """Send so many frames; the report says what came of it."""
    logging.disable(logging.CRITICAL)
    try:
        return asyncio.run(Fuzz(frames, seed).run())
    finally:
        logging.disable(logging.NOTSET)


def main() -> int:
    parser = argparse.ArgumentParser(description="Send bent frames through hel's border.")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = fuzz(options.frames, options.seed)
    for name, value in report.rows():
        print(f"{name:<24}{value:>32}")
    for crash in report.crashes:
        print(f"\n{crash}")
    return 1 if report.crashes or report.hangs else 0


if __name__ == "__main__":
    sys.exit(main())
