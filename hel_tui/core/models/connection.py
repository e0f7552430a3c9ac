"""The connection to one endpoint: opened once and beside the loop, used again, closed in order.

httpx is imported on first use. Not here: what is sent, what comes back, trying again (client).
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING

from hel_tui.core.models.broken import who_answers
from hel_tui.core.models.faults import Failure, refused, sentence
from hel_tui.core.models.profiles import Api
from hel_tui.core.models.types import ModelFault, ModelInfo
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    import httpx

CONNECT = 10.0
DRAIN = 2.0
"""Seconds an endpoint gets to end the body behind the answer, so that the connection can be used again."""
ERROR_BODY = 65_536
"""Bytes of a refusal that are read, and again at most of what they unpack to."""
_PACKED = ("gzip", "x-gzip", "deflate")


class Connection:
    """The HTTP client of one model. Use it in one event loop, and `aclose` it there.

    `idle` in seconds; `hint` says what to check about the key; `clock` gives Unix time.
    """

    def __init__(
        self,
        info: ModelInfo,
        api: Api,
        key: str,
        *,
        hint: str,
        idle: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._info = info
        self._api = api
        self._key = key
        self._hint = hint
        self._idle = idle
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()
        self.tasks: set[asyncio.Task[None]] = set()
        """What goes on beside requests."""

    def warm_up(self) -> None:
        """Begin to import and build what the first request needs, off the loop."""

        async def warm() -> None:
            with suppress(Failure):  # the first request reports it
                await self.ready()

        self._background(warm())

    async def aclose(self) -> None:
        """Close it; what goes on beside requests ends."""
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def send(self, path: str, content: bytes) -> httpx.Response:
        """The head of the response to a POST. Raises Failure when it is a refusal, or httpx.HTTPError."""
        client = await self.ready()
        headers = {"Content-Type": "application/json"}
        request = client.build_request(
            "POST", f"{self._info.base_url}{path}", content=content, headers=headers
        )
        response = await client.send(request, stream=True)
        if response.status_code == 200:
            return response
        try:
            said = bytearray()
            async for chunk in response.aiter_raw():
                said += chunk
                if len(said) > ERROR_BODY:
                    break
        finally:
            await response.aclose()
        raise refused(
            response.status_code,
            response.headers,
            unpacked(bytes(said), response.headers.get("content-encoding", "")),
            who=who_answers(self._info),
            key=self._key,
            hint=self._hint,
            now=self._clock(),
        )

    def drain(self, response: httpx.Response, chunks: AsyncIterator[bytes]) -> None:
        """Read the end of the body in the background: nobody waits for it, the connection stays usable."""

        async def drain() -> None:
            try:
                with suppress(Exception):
                    async with asyncio.timeout(DRAIN):
                        async for _ in chunks:
                            pass
            finally:
                await response.aclose()

        self._background(drain())

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def ready(self) -> httpx.AsyncClient:
        """The HTTP client. The imports and the CA bundle cost a tenth of a second: not on the loop.

        Raises Failure when there can be none.
        """
        async with self._opening:
            if self._client is None:
                self._client = await in_thread(self._opened, "hel-http")
            return self._client

    def _opened(self) -> httpx.AsyncClient:
        if not (self._key.isascii() and self._key.isprintable()):
            text = f"The key for {self._info.provider} holds characters that cannot be sent. {self._hint}"
            raise Failure(ModelFault("auth", text.strip()))
        from hel_tui.core.models.adapter import adapter_for
        from hel_tui.core.models.httpclient import open_client

        adapter_for(self._api)
        try:
            return open_client(
                self._info.base_url, self._key, connect=CONNECT, idle=self._idle, api=self._api
            )
        except (ValueError, ImportError) as error:  # proxy variables that httpx cannot use
            text = sentence("The proxy settings of the environment cannot be used", str(error), "", self._key)
            raise Failure(ModelFault("connect", text)) from None


def unpacked(data: bytes, encoding: str) -> bytes:
    """The beginning of a body, at most `ERROR_BODY` bytes of it, though nobody asked for a packed one."""
    if encoding.strip().lower() not in _PACKED:
        return data
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, ERROR_BODY)
    except zlib.error:
        return data
