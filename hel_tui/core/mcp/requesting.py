"""One request to a server, from its limit to its fault: calls, reads, prompts, completions.

Rounds of input (stateless era), progress, idle and hard limits, and what a failure means for the one who
asked. Imports the SDK: import late. Not here: which server is ready (calling), answering it (serving).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator

from hel_tui.core.mcp.causes import CALL, META, UNASKED
from hel_tui.core.mcp.client import MCPError, Session
from hel_tui.core.mcp.deadline import Deadlines
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault, CallTrouble
from hel_tui.core.mcp.link import LinkFault, LinkTrouble
from hel_tui.core.mcp.messages import UNREADABLE
from hel_tui.core.mcp.serving import Serving
from hel_tui.core.mcp.wire import AskRefused, Wire
from hel_tui.core.vocabulary import Json, ProgressFn

HARD_LIMIT = 4.0
"""How many times its idle limit a request may take in all, however much progress it reports."""
MOST_ROUNDS = 10
"""How often one request may ask for input before it is given up."""
PROGRESS_GAP = 0.05
"""Seconds between two reports of progress of one request; those between are merged."""
INPUT_METHODS = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Requests whose answer may be that input is wanted (2026-07-28, multi round-trip requests)."""
URL_FIRST = -32042
"""The person has to visit a URL before (2025-11-25, elicitation)."""
UNKNOWN = "The outcome is unknown; the call was not repeated."
NOT_MADE = "The call was not made."

_LINK_KINDS: dict[LinkTrouble, CallTrouble] = {
    "unreachable": "unreachable",
    "lost": "lost",
    "refused": "protocol",
    "login": "login",
    "timeout": "timeout",
    "expired": "lost",
}


def no_progress(_progress: float, _total: float | None, _message: str) -> None:
    """Nobody wants to know."""


class Requests:
    """Requests to the server of one connection, at once and by many."""

    def __init__(
        self,
        entry: ServerEntry,
        wire: Wire,
        serving: Serving,
        how_it_ended: Callable[[], Awaitable[str]],
    ) -> None:
        self.deadlines = Deadlines()
        self.answers = 0
        """How often the server answered, if only with an error."""
        self._entry = entry
        self._wire = wire
        self._serving = serving
        self._how_it_ended = how_it_ended
        self._next_token = 0
        self._running: dict[str, str] = {}
        """Progress token -> raw name of the tool, of the calls under way."""
        self._causes: dict[str, tuple[str, bool]] = {}
        """Progress token -> id of the call, and whether it is made unasked."""

    def current(self) -> str:
        """The tool whose call a request of the server may be about; empty when there are several or none."""
        return next(iter(self._running.values())) if len(self._running) == 1 else ""

    def causes(self) -> tuple[tuple[str, bool], ...]:
        """The calls a request of the server may be about: the id of each, and whether it is made unasked."""
        return tuple(self._causes.values())

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While this is entered a person is asked on behalf of the server: no time runs."""
        began = None if self.deadlines.is_paused else time.monotonic()
        try:
            with self.deadlines.paused():
                yield
        finally:
            if began is not None:
                self._wire.waited += time.monotonic() - began

    @property
    def is_busy(self) -> bool:
        """True while any request is under way."""
        return bool(self._running)

    async def request(
        self,
        session: Session,
        method: str,
        params: Json,
        *,
        what: str,
        on_progress: ProgressFn = no_progress,
        idle: float | None = None,
    ) -> Json:
        """Send a request and return its raw result. Raises CallFault; cancelling tells the server.

        `what` names it in sentences: the raw name of a tool, a URI. The idle limit is the entry's `timeout`
        unless given; progress resets it, up to `HARD_LIMIT` times of it; time in which a person is asked on
        behalf of the server does not count.
        """
        idle = idle or self._entry.timeout
        report = _Throttle(on_progress)
        self._next_token += 1
        token = f"call-{self._next_token}"
        self._running[token] = what if method == "tools/call" else ""
        trace, call = self._wire.hooks.trace, CALL.get()
        if method in INPUT_METHODS:
            self._causes[token] = call, UNASKED.get()
        trace.began(token, call)
        is_hard = False
        try:
            async with self.deadlines.limited(idle, idle * HARD_LIMIT) as deadline:

                def progressed(progress: float, total: float | None, message: str) -> None:
                    deadline.progressed()
                    report(progress, total, message)

                self._wire.progress[token] = progressed
                try:
                    return await self._rounds(session, method, params, token, what)
                except asyncio.CancelledError:
                    is_hard = deadline.is_hard
                    raise
                finally:  # here: the deadline does not outlive this block
                    self._wire.progress.pop(token, None)
        except asyncio.CancelledError:
            if len(self._running) == 1:
                self._serving.drop()
            raise
        except TimeoutError:
            raise self._timed_out(
                what, f"{idle * HARD_LIMIT:g} s in all" if is_hard else f"{idle:g} s"
            ) from None
        except MCPError as error:
            raise await self._fault(error, what) from error
        finally:
            self._running.pop(token, None)
            self._causes.pop(token, None)
            trace.ended(call)
            report.close()

    async def _rounds(self, session: Session, method: str, params: Json, token: str, what: str) -> Json:
        params = {**params, "_meta": {**META.get(), "progressToken": token}}
        for _ in range(MOST_ROUNDS):
            try:
                result = await session.ask(method, params)
            except MCPError as error:
                self.answers += not (self._wire.lost.is_set() or isinstance(error.error.data, LinkFault))
                raise
            self.answers += 1
            if result.get("resultType") != "input_required" or method not in INPUT_METHODS:
                return result
            try:
                answers = await self._serving.inputs(result.get("inputRequests"), what)
            except AskRefused as refusal:
                sentence = "It asked in the middle of the call for something that was not given."
                raise CallFault("protocol", sentence, refusal.message) from refusal
            params = {**params, "inputResponses": answers}
            params.pop("requestState", None)
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        raise CallFault("protocol", f"It asked for input {MOST_ROUNDS} times; it was given up.")

    def _timed_out(self, what: str, limit: str) -> CallFault:
        return CallFault(
            "timeout",
            f'"{what}" of the server "{self._entry.name}" did not answer within {limit}. It was told to '
            "stop, but the server may still be working: the call may or may not have taken effect.",
        )

    async def _fault(self, error: MCPError, what: str) -> CallFault:
        server = f'The server "{self._entry.name}"'
        if isinstance(error.error.data, LinkFault):
            return _link_fault(server, error.error.data)
        if self._wire.lost.is_set():
            how = await self._how_it_ended()
            return CallFault("lost", f"{server} disconnected during the call: {how}. {UNKNOWN}")
        if error.error.data is UNREADABLE:
            return CallFault(
                "protocol",
                f"{server} answered, but hel cannot read the answer ({error.message}). The call has probably "
                "taken effect.",
            )
        if error.code == URL_FIRST:
            data = error.error.data
            listed = data.get("elicitations") if isinstance(data, dict) else None
            went = await self._serving.visit(listed, what)
            then = (
                "The person opened it. Call again once they have finished there."
                if went
                else "The person did not go there."
            )
            return CallFault("protocol", f"{server} wants the person to visit a web page first. {then}")
        sentence = f"The server refused the call with an error (code {error.code})."
        if "back-channel" in error.message:  # as the Python SDK says it
            sentence += (
                ' It wants to ask in a way that its protocol revision has no more: set "protocol": '
                f'"handshake" for {self._entry.name} in its file to let it.'
            )
        return CallFault("protocol", sentence, error.message, error.code)


def _link_fault(server: str, fault: LinkFault) -> CallFault:
    kind = _LINK_KINDS[fault.kind]
    match fault.kind:
        case "unreachable":
            sentence = f"{server} could not be reached: {fault.sentence}. {NOT_MADE}"
        case "lost" | "timeout" | "expired":
            sentence = f"{server} did not answer: {fault.sentence}. {UNKNOWN}"
        case "login":
            sentence = f"{server} wants the person to log in ({fault.sentence}). {NOT_MADE}"
        case _:
            sentence = f"{server} refused the call: {fault.sentence}."
            if fault.retry_after:
                sentence += f" It wants to be left alone for {min(fault.retry_after, 1e6):.0f} s."
    if fault.status >= 500:
        kind = "lost"
    return CallFault(kind, sentence, fault.told)


class _Throttle:
    """Passes on the newest progress, at most every `PROGRESS_GAP` seconds."""

    def __init__(self, target: ProgressFn) -> None:
        self._target = target
        self._newest: tuple[float, float | None, str] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, progress: float, total: float | None, message: str) -> None:
        if self._timer is not None:
            self._newest = (progress, total, message)
            return
        self._target(progress, total, message)
        self._timer = asyncio.get_running_loop().call_later(PROGRESS_GAP, self._again)

    def _again(self) -> None:
        self._timer = None
        if self._newest is not None:
            newest, self._newest = self._newest, None
            self(*newest)

    def close(self) -> None:
        """Tell the last news; no more after that."""
        if self._timer is not None:
            self._timer.cancel()
        if self._newest is not None:
            self._target(*self._newest)
