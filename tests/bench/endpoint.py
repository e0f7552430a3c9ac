"""A chat-completions endpoint to measure against, in a process of its own. It does what the prompt says:

    say N MARK     Markdown of N tokens, four characters in a chunk, as fast as the socket takes it
    flood          the same without an end
    call NAME N    N requests in a row are answered by one call each

Every answer in words ends with END and the prompt's last word. Each request's arrival (time.monotonic()) and size and each answer's
last byte are printed as JSON lines; the first line has the base URL.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.markdown_text import answer
from tests.fixtures.models.endpoint import Endpoint, Exchange, chunk, event, pieces, usage

END = "that-is-all-"
PIECE = 4
BURST = 50
"""Chunks in one write."""


def framed(data: bytes) -> bytes:
    """An HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def said(text: str) -> list[bytes]:
    """Text as streamed chunks, several in a write."""
    chunks = [framed(event(chunk({"content": piece}))) for piece in pieces(text, PIECE)]
    return [b"".join(chunks[start : start + BURST]) for start in range(0, len(chunks), BURST)]


def called(name: str, number: int) -> bytes:
    """One call as a streamed chunk. The arguments differ from call to call."""
    arguments = {"text": f"number {number}"} if name.startswith("mcp__") else {"pattern": f"*{number}.txt"}
    if name == "load_mcp_tool":
        arguments = {"names": ["mcp__bench__echo"]}  # type: ignore[dict-item]
    function = {"name": name, "arguments": json.dumps(arguments)}
    asked = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return framed(event(chunk({"tool_calls": [asked]}, "tool_calls", usage())))


def prompt(messages: list[dict[str, Any]]) -> tuple[list[str], int]:
    """The words of the newest prompt, and how many tool results came since."""
    last = max(n for n, message in enumerate(messages) if message["role"] == "user")
    return messages[last]["content"].split(), sum(m["role"] == "tool" for m in messages[last:])


def tell(**fact: Any) -> None:
    """One line for the measurement that reads."""
    print(json.dumps(fact), flush=True)


async def reply(exchange: Exchange) -> None:
    """Do what the newest prompt says."""
    tell(arrived=time.monotonic(), bytes=len(exchange.body))
    words, results = prompt(exchange.json["messages"])
    await exchange.start()
    await exchange.delta(role="assistant", content="")
    if words[0] == "call" and results < int(words[2]):
        await finish(exchange, called(words[1], results))
        return
    if words[0] == "flood":
        text = said(answer(2_000))
        while True:
            for burst in text:
                await exchange.raw(burst)
    if words[0] == "say":
        for burst in said(answer(int(words[1]))):
            await exchange.raw(burst)
    await exchange.delta(content=f"\n\n{END}{words[-1]}")
    await finish(exchange, framed(event(chunk({}, "stop", usage()))))


async def finish(exchange: Exchange, last: bytes) -> None:
    await exchange.raw(last + framed(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    tell(sent=time.monotonic())


async def serve() -> None:
    async with Endpoint(reply) as endpoint:
        tell(url=endpoint.url)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())
