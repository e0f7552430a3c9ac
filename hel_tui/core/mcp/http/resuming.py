"""Event streams that carry answers: read to the answer, and taken up again where they were cut.

Not here: the stream a server opens of itself (listening), what messages mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass

from hel_tui.core.mcp.framing import MAX_LINE
from hel_tui.core.mcp.http.faults import LinkFailure, media_type, named
from hel_tui.core.mcp.http.sending import Answered, Sender
from hel_tui.core.mcp.http.session import EVENT_STREAM, LAST_EVENT_ID, OpenRequest, Session
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.sse import EventStream, EventTooLarge, ServerEvent

TRIES = 5
"""How often in a row a stream is taken up again without anything new."""
AFTER_ANSWER = 0.5
"""Seconds a stream may stay open behind the answer, so that its connection can be used again."""
LEAST_WAIT = 0.1
MOST_WAIT = 600.0
"""Seconds before a stream is taken up again, whatever the server asks for."""

_UNKNOWN = "the result is unknown"


@dataclass(slots=True)
class Reached:
    """How far a stream was read."""

    is_answered: bool = False
    last_id: str = ""
    retry: float | None = None
    """Seconds the server wants a client to wait."""
    broke: str = ""
    """Why it ended, when it did not end properly."""


async def read_stream(answered: Answered, take: Callable[[str], Awaitable[bool]]) -> Reached:
    """Read events until the answer has come or the stream ends; `take` says whether its text was the answer.

    Raises LinkFailure for an event that is too large.
    """
    events = EventStream(MAX_LINE)
    reached = Reached()
    with suppress(TimeoutError):
        async with asyncio.timeout(None) as limit:
            try:
                async with aclosing(answered.chunks()) as chunks:
                    async for chunk in chunks:
                        for event in events.feed(chunk):
                            if await _took(event, take):
                                reached.is_answered = True
                                limit.reschedule(asyncio.get_running_loop().time() + AFTER_ANSWER)
                if not events.last_id and not reached.is_answered:
                    # A last event without its blank line: taken if it is whole, for it cannot come again.
                    for event in events.close():
                        if event.data.rstrip().endswith("}"):
                            reached.is_answered = await _took(event, take)
            except EventTooLarge:
                sentence = f"an event of its answer is over {MAX_LINE:,} bytes"
                raise LinkFailure(LinkFault("refused", sentence)) from None
            except LinkFailure as failure:
                reached.broke = failure.fault.sentence
    reached.last_id, reached.retry = events.last_id, events.retry
    return reached


async def _took(event: ServerEvent, take: Callable[[str], Awaitable[bool]]) -> bool:
    """Only events of the default type carry messages (MCP, transports); empty ones set an id."""
    return event.event in ("", "message") and bool(event.data.strip()) and await take(event.data)


async def resume(
    sender: Sender,
    session: Session,
    request: OpenRequest,
    reached: Reached,
    take: Callable[[str], Awaitable[bool]],
    pause: Callable[[float], Awaitable[None]],
) -> None:
    """Take up a stream that ended before the answer, until the answer comes. Raises LinkFailure."""
    why = reached.broke or "its answer ended before the result"
    if not reached.last_id or request.is_stateless:
        raise LinkFailure(LinkFault("lost", f"{why}: {_UNKNOWN}"))
    tries = 0
    while tries < TRIES:
        await pause(_wait(reached, tries))
        tries += 1
        headers = session.headers({LAST_EVENT_ID: reached.last_id}, method="GET")
        again = Reached(broke=why)
        try:
            async with sender.exchange("GET", headers) as answered:
                if answered.status == 200 and media_type(answered.headers) == EVENT_STREAM:
                    again = await read_stream(answered, take)
                elif answered.status < 500 and answered.status != 429:
                    refused = f"{why}, and it answered {named(answered.status)} to the attempt to resume it"
                    raise LinkFailure(LinkFault("lost", f"{refused}: {_UNKNOWN}", status=answered.status))
        except LinkFailure as failure:
            if failure.fault.kind != "unreachable" and (
                failure.fault.status or failure.fault.kind == "refused"
            ):
                raise
        if again.is_answered:
            sender.hooks.on_remark("an answer broke off and was resumed")
            return
        if request.is_cancelled:
            return
        if again.last_id and again.last_id != reached.last_id:
            reached.last_id, tries = again.last_id, 0
        if again.retry is not None:
            reached.retry = again.retry
    raise LinkFailure(LinkFault("lost", f"{why} and could not be resumed: {_UNKNOWN}"))


def _wait(reached: Reached, tries: int) -> float:
    wait = reached.retry if reached.retry is not None else float(2**tries)
    return min(max(wait, LEAST_WAIT), MOST_WAIT)
