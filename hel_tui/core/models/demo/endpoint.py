"""A chat-completions endpoint on loopback that plays a script, the demo's or a lab's. Standard library only.

Answers in small pieces with small pauses, as a model does. Not here: what it answers (script).
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from hel_tui.core.models.demo.script import Line, answer, arguments_text
from hel_tui.core.vocabulary import Json, estimate_tokens

PAUSE = 0.012
"""Seconds between two pieces of an answer."""
_MAX_BODY = 64 * 2**20
_PIECE = re.compile(r"\s*\S{1,6}|\s+")


class DemoEndpoint:
    """Listens from `start` until `aclose`."""

    def __init__(self, key: str, pause: float = PAUSE, plays: Callable[[Json], Line] = answer) -> None:
        """`plays` gives the answer to a request body."""
        self._plays = plays
        self._key = key
        self._pause = pause
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers = 0

    async def start(self) -> str:
        """Begin to listen on a free port; the base URL for a client."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A client that leaves in the middle of an answer is no error, and neither is one that talks rubbish.
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the client is through."""
        request = await reader.readline()
        if not request.strip():
            return False
        headers: dict[str, str] = {}
        while (field := await reader.readline()).strip():
            name, _, value = field.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        size = int(headers.get("content-length", "0"))
        if not 0 <= size <= _MAX_BODY:
            return False
        body = await reader.readexactly(size)
        if not hmac.compare_digest(headers.get("authorization", ""), f"Bearer {self._key}"):
            _reply(writer, "401 Unauthorized", {"error": {"message": "This demo is another program's."}})
        elif b"/models " in request:
            _reply(writer, "200 OK", {"object": "list", "data": [{"id": "walk-through"}]})
        elif b"/chat/completions " in request:
            await self._stream(writer, json.loads(body), len(body))
        else:
            _reply(writer, "404 Not Found", {"error": {"message": "no such path"}})
        await writer.drain()
        return True

    async def _stream(self, writer: asyncio.StreamWriter, body: Json, size: int) -> None:
        self._answers += 1
        line = self._plays(body)
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for delta in _deltas(line, self._answers):
            _send(writer, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            await writer.drain()
            if self._pause:
                await asyncio.sleep(self._pause)
        reason = "tool_calls" if line.calls else "stop"
        _send(writer, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        made = estimate_tokens(line.think + line.say + "".join(arguments_text(a) for _, a in line.calls))
        usage = {"prompt_tokens": size // 4, "completion_tokens": made, "total_tokens": size // 4 + made}
        _send(writer, {"choices": [], "usage": usage})
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")


def _deltas(line: Line, number: int) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for piece in _PIECE.findall(line.think):
        yield {"reasoning_content": piece}
    for piece in _PIECE.findall(line.say):
        yield {"content": piece}
    for index, (name, arguments) in enumerate(line.calls):
        head = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_demo_{number}_{index}", "type": "function", "function": head}
        yield {"tool_calls": [call]}
        for piece in _PIECE.findall(arguments_text(arguments)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _send(writer: asyncio.StreamWriter, value: Json) -> None:
    data = b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


def _reply(writer: asyncio.StreamWriter, status: str, value: Json) -> None:
    data = json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
