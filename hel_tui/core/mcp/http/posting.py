"""The life of one request over streamable HTTP: sent, answered or not, tried again, session renewed.

Not here: the order of messages and the end of the link (streamable), streams that were cut (resuming).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from hel_tui.core.mcp.framing import MAX_LINE
from hel_tui.core.mcp.http.answers import Look, as_utf8, look
from hel_tui.core.mcp.http.faults import (
    LinkFailure,
    login_fault,
    media_type,
    named,
    speaks_of_lost_session,
    status_fault,
    told_by,
)
from hel_tui.core.mcp.http.resuming import read_stream, resume
from hel_tui.core.mcp.http.sending import Answered, Sender
from hel_tui.core.mcp.http.session import (
    EVENT_STREAM,
    JSON,
    SAFE_METHODS,
    SESSION_ID,
    Message,
    OpenRequest,
    Session,
)
from hel_tui.core.mcp.link import Intake, LinkFault
from hel_tui.core.mcp.messages import Id
from hel_tui.core.store.redact import head

TRIES = 3
"""How often a safe request is sent in all."""
FIRST_WAIT = 0.5
MOST_WAIT = 10.0
"""Seconds between two tries: the first, and the longest that a server may ask for."""

_PASSING = (429, 502, 503, 504)
_METHOD_NOT_FOUND = -32601

Pause = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Failed:
    """One try came to nothing. `line` is the error answer itself, where the server gave one."""

    fault: LinkFault
    line: bytes = b""
    lost_session: bool = False
    did_not_run: bool = False
    """The status proves that the request was not carried out."""


class Poster:
    """Posts requests in one session. `intake` must be set before the first."""

    intake: Intake

    def __init__(self, sender: Sender, session: Session, pause: Pause) -> None:
        self.sender = sender
        self.session = session
        self.pause = pause
        self.open: dict[Id, OpenRequest] = {}
        self.on_session: Callable[[], None] = lambda: None
        """A session was renewed."""
        self.on_expired: Callable[[LinkFault], None] = lambda _fault: None
        """It was lost for good."""
        self._renewing = asyncio.Lock()

    # ---------------------------------------------------------------- requests

    async def request(self, request: OpenRequest) -> None:
        """Send it until it is answered or has failed; either is told to the intake."""
        failed = await self._settle(request)
        if failed is None or request.is_cancelled:
            return
        if failed.line:
            await self.intake.line(failed.line)
        else:
            await self.intake.failed(request.id, failed.fault)

    async def _settle(self, request: OpenRequest) -> Failed | None:
        tries, was_renewed = 0, False
        is_hello = request.method == "initialize"
        while True:
            used = self.session.generation
            if self.session.is_lost and not is_hello and not was_renewed:
                if fault := await self.renew(used):
                    return Failed(fault)
                used, was_renewed = self.session.generation, True
            failed = await self._try(request)
            if failed is None or request.is_cancelled:
                return failed
            tries += 1
            if failed.lost_session and not was_renewed and self.session.hello is not None:
                if fault := await self.renew(used):
                    return Failed(fault)
                was_renewed = True
                if failed.did_not_run or request.method in SAFE_METHODS:
                    continue
                return failed
            wait = self._wait(request, failed, tries)
            if wait is None:
                return failed
            await self.pause(wait)

    def _wait(self, request: OpenRequest, failed: Failed, tries: int) -> float | None:
        """Seconds until it is worth sending again; None when it is not."""
        fault = failed.fault
        is_passing = fault.status in _PASSING or fault.kind == "lost"
        wait = max(FIRST_WAIT * float(2 ** (tries - 1)), fault.retry_after)
        if request.method not in SAFE_METHODS or not is_passing or tries >= TRIES or wait > MOST_WAIT:
            return None
        return wait

    async def _try(self, request: OpenRequest) -> Failed | None:
        """Send it once; None when it was answered."""
        is_hello = request.method == "initialize"
        used = None if is_hello else self.session.id
        headers = self.session.headers(request.headers, is_hello=is_hello)
        try:
            async with self.sender.exchange(
                "POST",
                headers,
                request.line,
                has_session=used is not None,
                on_sent=request.sent.set,
            ) as answered:
                if not 200 <= answered.status < 300:
                    return await self._refused(request, answered, used)
                if is_hello and not self.session.take_id(answered.headers.get(SESSION_ID)):
                    self.sender.hooks.on_remark("its session id is not usable and was left out")
                return await self._taken(request, answered)
        except LinkFailure as failure:
            return Failed(failure.fault)
        finally:
            request.sent.set()

    async def _taken(self, request: OpenRequest, answered: Answered) -> Failed | None:
        kind = media_type(answered.headers)
        if answered.status in (202, 204):
            accepted = f"it took the request ({named(answered.status)}) but sends no answer to it"
            return Failed(LinkFault("refused", accepted, status=answered.status))
        if kind == EVENT_STREAM:
            return await self._streamed(request, answered)
        if kind in (JSON, ""):
            return await self._body(request, answered)
        page = await answered.page()
        seen = await look(page, request.id, self._is_open)
        if seen.is_answer:
            return await self._hand_on(request, seen)
        fault = LinkFault("refused", f"it answered with {kind[:60]}, which is no protocol message")
        return Failed(_with(fault, answered, page))

    async def _body(self, request: OpenRequest, answered: Answered) -> Failed | None:
        """A JSON answer. One whose connection broke off behind the last brace is still an answer."""
        body = bytearray()
        cut: LinkFailure | None = None
        try:
            async with aclosing(answered.chunks()) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) > MAX_LINE:
                        return Failed(LinkFault("refused", f"its answer is over {MAX_LINE:,} bytes"))
        except LinkFailure as failure:
            cut = failure
        data = as_utf8(bytes(body), answered.headers.get("content-type", "")).strip()
        seen = await look(data, request.id, self._is_open)
        if seen.is_answer and not (cut and seen.error):
            return await self._hand_on(request, seen)
        if cut is not None:
            raise cut
        if not data:
            return Failed(LinkFault("refused", f"its answer ({named(answered.status)}) is empty"))
        fault = LinkFault("refused", "its answer is no protocol message")
        return Failed(_with(fault, answered, data))

    async def _streamed(self, request: OpenRequest, answered: Answered) -> Failed | None:
        failed: Failed | None = None

        async def take(data: str) -> bool:
            nonlocal failed
            seen = await look(data.encode("utf-8", "replace"), request.id, self._is_open)
            if seen.is_answer:
                failed = await self._hand_on(request, seen)
            else:
                await self.intake.line(seen.line)
            return seen.is_answer

        where = await read_stream(answered, take)
        if not where.is_answered and not request.is_cancelled:
            await resume(self.sender, self.session, request, where, take, self.pause)
        return failed

    async def _hand_on(self, request: OpenRequest, seen: Look) -> Failed | None:
        """Give the answer to who waits for it, unless it says that the session is lost."""
        if seen.lost_session and self.session.id is not None and request.method != "initialize":
            fault = LinkFault("refused", "it does not know the session any more")
            return Failed(fault, seen.line, lost_session=True)
        if request.method == "initialize" and seen.result is not None:
            version = seen.result.get("protocolVersion")
            self.session.negotiated = version if isinstance(version, str) else ""
        if request.captured is not None:
            if seen.error is not None:
                told = head(seen.error["message"], 300, self.sender.hooks.exchanges.mask)
                return Failed(LinkFault("refused", "it refused initialize", told))
            request.captured.append(seen.line)
            self.sender.hooks.exchanges.took(seen.line)
        else:
            await self.intake.line(seen.line)
        return None

    async def _refused(self, request: OpenRequest, answered: Answered, used: str | None) -> Failed | None:
        """A status that is no success: a lost session, an error answer, or a refusal."""
        status, page = answered.status, await answered.page()
        seen = await look(page, request.id, self._is_open)
        says_lost = speaks_of_lost_session(page.decode("utf-8", "replace"))
        is_method_missing = seen.error is not None and seen.error["code"] == _METHOD_NOT_FOUND
        if used is not None and (
            (status in (400, 401, 404) and says_lost) or (status == 404 and not is_method_missing)
        ):
            fault = LinkFault("expired", "it does not know the session any more", status=status)
            return Failed(_with(fault, answered, page), lost_session=True, did_not_run=True)
        wants_login = status == 401 or (status == 403 and answered.headers.get("www-authenticate"))
        if seen.error is not None and b'"jsonrpc"' in page and not wants_login:
            if status in _PASSING:
                return Failed(status_fault(status, answered.headers, page, answered.mask), seen.line)
            return await self._hand_on(request, seen)
        if status in (401, 403):
            return Failed(
                login_fault(status, answered.headers, page, answered.mask, gave=answered.gave_credentials)
            )
        return Failed(status_fault(status, answered.headers, page, answered.mask))

    def _is_open(self, request: Id) -> bool:
        return request in self.open

    # ------------------------------------------------------------------ notes

    async def note(self, message: Message) -> bool:
        """Post a notification or an answer; False when it was not taken, which is remarked."""
        headers = self.session.headers(message.headers)
        used = self.session.id
        try:
            async with self.sender.exchange(
                "POST", headers, message.line, has_session=used is not None
            ) as answered:
                if 200 <= answered.status < 300:
                    return True
                if answered.status == 404 and used is not None and used == self.session.id:
                    self.session.is_lost = self.session.hello is not None
                reason = f"it answered {named(answered.status)}"
        except LinkFailure as failure:
            reason = failure.fault.sentence
        self.sender.hooks.on_remark(f"it did not take {message.about}: {reason}")
        return False

    # ---------------------------------------------------------------- renewing

    async def renew(self, used: int) -> LinkFault | None:
        """Open a new session in place of the one of generation `used`, once for all who lost it.

        Returns why it did not work.

        After a fault of kind `expired` the link is over; after any other the next request tries again.
        """
        async with self._renewing:
            session = self.session
            if session.generation != used and not session.is_lost:
                return None
            hello, initialized, before = session.hello, session.initialized, session.negotiated
            if hello is None:
                return None
            session.id, session.is_lost = None, True
            captured: list[bytes] = []
            again = OpenRequest(hello.id, hello.method, hello.line, hello.headers, False, captured=captured)
            failed = await self._settle(again)
            if failed is not None and failed.fault.kind in ("unreachable", "lost", "timeout", "login"):
                return failed.fault
            if failed is not None and failed.fault.status in _PASSING:
                return failed.fault
            if failed is not None or session.negotiated != before:
                return self._expired(failed, before)
            session.is_lost = False
            session.generation += 1
            if initialized is not None:
                await self.note(initialized)
            self.sender.hooks.on_session_renewed()
            self.on_session()
            return None

    def _expired(self, failed: Failed | None, before: str) -> LinkFault:
        why = f"it then speaks version {self.session.negotiated or 'unknown'} in place of {before}"
        if failed is not None:
            why = failed.fault.sentence
        told = failed.fault.told if failed is not None else ""
        sentence = f"its session is gone and a new one could not be opened: {why}"
        fault = LinkFault("expired", sentence, told, failed.fault.status if failed is not None else 0)
        self.on_expired(fault)
        return fault


def _with(fault: LinkFault, answered: Answered, page: bytes) -> LinkFault:
    told = told_by(page, answered.headers.get("content-type", ""), answered.mask)
    return LinkFault(fault.kind, fault.sentence, told, answered.status, fault.retry_after)
