"""The stream over which a server of the handshake era speaks of itself (the GET of streamable HTTP).

Many servers have none: one refusal is enough. Not here: streams that carry answers (resuming).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from hel_tui.core.mcp.framing import MAX_LINE
from hel_tui.core.mcp.http.faults import LinkFailure, media_type, named
from hel_tui.core.mcp.http.sending import Answered, Sender
from hel_tui.core.mcp.http.session import EVENT_STREAM, LAST_EVENT_ID, Session
from hel_tui.core.mcp.link import Intake
from hel_tui.core.sse import EventStream, EventTooLarge

FIRST_WAIT = 1.0
MOST_WAIT = 30.0
"""Seconds before a stream that ended is opened again: at first, and at most."""
STABLE = 60.0
"""Seconds after which a stream that ends counts as one that was fine."""

_PASSING = (429, 500, 502, 503, 504)


class Listener:
    """Keeps the stream of one session open as long as the server offers it."""

    def __init__(
        self,
        sender: Sender,
        session: Session,
        intake: Intake,
        *,
        pause: Callable[[float], Awaitable[None]],
        clock: Callable[[], float],
    ) -> None:
        self._sender = sender
        self._session = session
        self._intake = intake
        self._pause = pause
        self._clock = clock
        self._events = EventStream(MAX_LINE)
        self._last_id = ""
        self._retry = FIRST_WAIT

    async def run(self) -> bool:
        """Listen until the server does not want it. True when it forgot the session meanwhile."""
        wait, was_open = 0.0, False
        while True:
            began = self._clock()
            headers = {LAST_EVENT_ID: self._last_id} if self._last_id else {}
            try:
                async with self._sender.exchange(
                    "GET", self._session.headers(headers, method="GET")
                ) as answered:
                    if answered.status == 200 and media_type(answered.headers) == EVENT_STREAM:
                        was_open = True
                        await self._read(answered)
                    elif answered.status not in _PASSING:
                        return self._refused(answered, was_open)
            except LinkFailure as failure:
                if failure.fault.kind in ("login", "refused"):
                    self._sender.hooks.on_remark(f"no stream of its own: {failure.fault.sentence}")
                    return False
            lived = self._clock() - began
            wait = self._retry if lived >= STABLE or not wait else min(wait * 2, MOST_WAIT)
            await self._pause(max(wait, self._retry))

    def _refused(self, answered: Answered, was_open: bool) -> bool:
        if was_open and answered.status == 404 and self._session.id is not None:
            return True
        kind = media_type(answered.headers)
        what = f"{named(answered.status)}, {kind[:60]}" if answered.status == 200 else named(answered.status)
        self._sender.hooks.on_remark(f"it offers no stream of its own ({what})")
        return False

    async def _read(self, answered: Answered) -> None:
        """Hand on what comes. Waits while the reader has enough to do, and so does the server."""
        events = EventStream(MAX_LINE)
        try:
            async with aclosing(answered.chunks()) as chunks:
                async for chunk in chunks:
                    for event in events.feed(chunk):
                        if event.event in ("", "message") and event.data.strip():
                            await self._intake.line(event.data.encode("utf-8", "replace"))
        except EventTooLarge:
            self._sender.hooks.on_remark(f"an event of over {MAX_LINE:,} bytes was left out")
        finally:
            self._last_id = events.last_id or self._last_id
            if events.retry is not None:
                self._retry = min(max(events.retry, 0.1), MOST_WAIT)
