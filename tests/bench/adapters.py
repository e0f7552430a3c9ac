"""Adapters: processor time of the client for a streamed answer of 5,000 tokens, in each API against chat.

The endpoint runs in a thread of its own, and only the client's thread is counted.
"""

from __future__ import annotations

import asyncio
import time

from tests.bench.figures import Figure
from tests.fixtures.models.endpoint import Endpoint, Exchange
from tests.fixtures.models.spelling import SPELLINGS, Call, Say, Script, Think, spelling_of

TOKENS = 5_000
PIECE = 1_400
"""Bytes that come at once: what a packet holds."""


def script(tokens: int) -> Script:
    """A fifth of it thoughts, then text, then one call."""
    thoughts = [Think("thought ")] * (tokens // 5)
    words = [Say("word ")] * (tokens - tokens // 5)
    return Script([*thoughts, *words, Call("look", ('{"service":', ' "api"}'))], "calls")


def measure(quick: bool) -> list[Figure]:
    """One client an API, each asked in turn, so that a slow minute falls on all of them."""
    tokens, runs = (200, 2) if quick else (TOKENS, 15)
    bodies = {name: b"".join(one.events(script(tokens))) for name, one in SPELLINGS.items()}

    async def answer(exchange: Exchange) -> None:
        spelling = spelling_of(exchange.path)
        assert spelling is not None
        body = bodies[spelling.name]
        await exchange.start()
        for start in range(0, len(body), PIECE):
            await exchange.write(body[start : start + PIECE])
        await exchange.end()

    with Endpoint(answer) as endpoint:
        times = asyncio.run(_measured(endpoint.url, runs))
    return [
        Figure(
            f"adapters: {name}, processor for {tokens} tokens",
            "s",
            tuple(values),
            () if name == "chat" else tuple(times["chat"]),
            aim="" if name == "chat" else "at most 2 times chat",
            note=f"{len(bodies[name]) / 1024:.0f} KiB",
        )
        for name, values in times.items()
    ]


async def _measured(url: str, runs: int) -> dict[str, list[float]]:
    from hel_tui.core.models.types import Finish, Request
    from hel_tui.core.vocabulary import UserMessage
    from tests.core.models.apis import client_at

    clients = {name: client_at(url, name) for name in SPELLINGS}
    times: dict[str, list[float]] = {name: [] for name in clients}
    for turn in range(runs + 1):
        for name, client in clients.items():
            began = time.thread_time()
            parts = [part async for part in client.stream(Request((UserMessage("go"),)))]
            took = time.thread_time() - began
            last = parts[-1]
            assert isinstance(last, Finish) and last.message.calls
            if turn:  # the first one imports
                times[name].append(took)
    for client in clients.values():
        await client.aclose()
    return times
