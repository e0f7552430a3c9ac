"""What a server may ask of hel, in both eras: the roots, a form or a URL for the person, the model.

In the handshake era these are requests of the server; a stateless server asks inside a result and gets the
answers with the next try (specification 2026-07-28, multi round-trip requests). Anything else is refused by
the wire. Not here: dialogs (a screen), the model (passed in), limits of a call (requesting).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.asking import Helpers
from hel_tui.core.mcp.causes import UNASKED
from hel_tui.core.mcp.elicitation import form_answer, form_question, url_answer, url_question
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.limits import MOST_REFUSED, Limits
from hel_tui.core.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND
from hel_tui.core.mcp.sampling import REJECTED, sample
from hel_tui.core.mcp.switches import SWITCHES, Switches
from hel_tui.core.mcp.wire import AskRefused, Serve
from hel_tui.core.protocol import (
    Answer,
    FormAnswer,
    FormQuestion,
    NotAnswered,
    Question,
    Switch,
    UrlQuestion,
)
from hel_tui.core.vocabulary import Json

MOST_INPUTS = 8
"""Questions one result may ask."""
MOST_VISITS = 5
"""URLs one refused call may send the person to."""
UNDISTURBED = "It asked for the person or the model in a call that was made again by itself: it was declined."

_ABOUT: dict[str, Switch] = {
    "roots/list": "roots",
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
}
"""Requests of servers, and what they are about."""

_Handler = Callable[[Json, str], Awaitable[Json]]
"""(params, raw name of the tool it is about or "") -> result."""


def _no_pause() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


@dataclass(slots=True)
class Serving:
    """Answers the requests of one server."""

    entry: ServerEntry
    roots: Callable[[], tuple[Path, ...]]
    helpers: Helpers
    on_note: Callable[[str], None]
    """Hears a sentence for the person."""
    paused: Callable[[], contextlib.AbstractContextManager[None]] = _no_pause
    """Entered while a person is asked: no limit of a call runs."""
    current: Callable[[], str] = str
    """Raw name of the tool whose call it may be about; empty when that is not clear."""
    causes: Callable[[], tuple[tuple[str, bool], ...]] = tuple
    """The calls it may be about: the id of each, and whether it is made unasked."""
    limits: Limits = field(default_factory=Limits)
    mask: Callable[[str], str] = str
    """Hides known secrets in what the person and the model are told for the server."""
    switches: Switches = field(default_factory=Switches)
    """What the person lets the server ask for in this run."""
    _open: set[asyncio.Future[Answer]] = field(default_factory=set)

    def capabilities(self) -> Json:
        """What hel declares to the server: what it may ask for now."""
        declares: Json = {
            "roots": {"listChanged": True},
            "elicitation": {"form": {}, "url": {}},
            "sampling": {"tools": {}},
        }
        self.switches.declared = frozenset(what for what in SWITCHES if self.asks(what))
        return {what: declares[what] for what in SWITCHES if self.asks(what)}

    def asks(self, what: Switch) -> bool:
        """Whether the server may ask for that now."""
        return self.switches.allows(self.entry, what)

    def methods(self) -> Mapping[str, Serve]:
        """The requests that may come to be served; each time it is looked whether it is."""
        return {method: self._in_handshake_era(method) for method in _ABOUT}

    def _in_handshake_era(self, method: str) -> Serve:
        what, handler = _ABOUT[method], self._handler(method)

        async def serve(params: Json) -> Json:
            declared = self.switches.declared
            if (declared is not None and what not in declared) or not self.asks(what):
                return self._not_served(method, declared=declared is not None and what in declared)
            return await handler(params, self.current())

        return serve

    def _not_served(self, method: str, *, declared: bool) -> Json:
        """The answer to what is not served: a decline of what was declared, where the specification has one.

        Raises AskRefused.
        """
        what = _ABOUT[method]
        then = "" if declared or what in (self.switches.declared or ()) else ", then restart it (r)"
        self._note(f"It asked for {what}, which is off for it: turn it on in its overview (F2){then}.")
        if declared and method == "elicitation/create":
            return {"action": "decline"}
        if declared and method == "sampling/createMessage":
            raise AskRefused(REJECTED, "the person does not allow it")
        raise AskRefused(METHOD_NOT_FOUND, f"hel does not serve {method}")

    def _handler(self, method: str) -> _Handler:
        match _ABOUT[method]:
            case "roots":
                return self._roots
            case "elicitation":
                return self._elicit
            case "sampling":
                return self._sample

    def _handlers(self) -> dict[str, _Handler]:
        """Those that are served now."""
        return {method: self._handler(method) for method, what in _ABOUT.items() if self.asks(what)}

    async def inputs(self, requests: Any, tool: str = "") -> Json:
        """Answer what a stateless server asks in the middle of a request, all of it together.

        Returns key -> answer. Raises AskRefused when one of them cannot be served.
        """
        wanted = requests if isinstance(requests, dict) else {}
        if len(wanted) > MOST_INPUTS:
            raise AskRefused(INVALID_PARAMS, f"more than {MOST_INPUTS} questions at a time")
        handlers = self._handlers()
        calls: list[tuple[_Handler, Json]] = []
        for request in wanted.values():
            method = request.get("method") if isinstance(request, dict) else None
            handler = handlers.get(method) if isinstance(method, str) else None
            if handler is None:
                raise AskRefused(INVALID_PARAMS, f"hel does not serve {method!r:.100}")
            params = request.get("params")
            calls.append((handler, params if isinstance(params, dict) else {}))
        tasks = [asyncio.ensure_future(handler(params, tool)) for handler, params in calls]
        try:
            return dict(zip(wanted, await asyncio.gather(*tasks), strict=True))
        finally:  # what one refusal made moot is not asked any longer
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # ---------------------------------------------------------------- one of each

    async def _roots(self, _params: Json, _tool: str) -> Json:
        return {"roots": [{"uri": one.as_uri(), "name": one.name or "/"} for one in self.roots()]}

    async def _elicit(self, params: Json, tool: str) -> Json:
        question: FormQuestion | UrlQuestion | str
        if params.get("mode", "form") == "url":
            question = url_question(self.entry.name, params, tool)
        else:
            question = form_question(self.entry.name, params, tool)
        if isinstance(question, str):
            self._note(f"It asked for something hel cannot show, and was refused: {question}.")
            raise AskRefused(INVALID_PARAMS, question)
        if not self.helpers.answerable:
            self._note("It asked the person for something; nobody is there to answer, so it was declined.")
            return {"action": "decline"}
        if self._is_unasked():
            self._note(UNDISTURBED)
            return {"action": "decline"}
        if self.limits.refused.count >= MOST_REFUSED:
            self._note("It keeps asking what you did not say yes to: hel declines for you for a minute.")
            return {"action": "decline"}
        with self.paused():
            answer = await self._ask(replace(question, message=self.mask(question.message)))
        if not (isinstance(answer, FormAnswer) and answer.action == "accept"):
            self.limits.refused.happened()
        return form_answer(answer) if isinstance(question, FormQuestion) else url_answer(answer)

    async def visit(self, elicitations: Any, tool: str) -> bool:
        """A call was refused until the person has been to these URLs: ask for each. True if all opened."""
        listed = elicitations if isinstance(elicitations, list) else []
        wanted = [one for one in listed if isinstance(one, dict)][:MOST_VISITS]
        if not wanted or not self.asks("elicitation"):
            return False
        for one in wanted:
            try:
                answer = await self._elicit({**one, "mode": "url"}, tool)
            except AskRefused:  # no URL a person could be shown; they were told
                return False
            if answer.get("action") != "accept":
                return False
        return True

    async def _sample(self, params: Json, tool: str) -> Json:
        if self.helpers.sample is None:
            raise AskRefused(REJECTED, "there is no model to ask")
        if not self.helpers.answerable:
            self._note("It asked for the model; nobody is there to allow it, so it was declined.")
            raise AskRefused(REJECTED, "nobody is there to allow it")
        if self._is_unasked():
            self._note(UNDISTURBED)
            raise AskRefused(REJECTED, "this call was made again by itself; nobody was asked")
        with self.paused():
            return await sample(
                self.entry.name,
                params,
                tool,
                self.limits.samples,
                self.mask,
                self._ask,
                self.helpers.sample,
            )

    def _is_unasked(self) -> bool:
        """Whether all it can be about was made unasked: nobody is disturbed then. The calls are noted."""
        causes = self.causes()
        self.switches.asked.update(call for call, _ in causes if call)
        return UNASKED.get() or (bool(causes) and all(unasked for _, unasked in causes))

    def _note(self, sentence: str) -> None:
        """Tell the person, but not as often as the server likes."""
        if self.limits.notes.allows():
            self.on_note(sentence)

    async def _ask(self, question: Question) -> Answer:
        """Ask the person, until the call it is about is over."""
        asking = asyncio.ensure_future(self.helpers.ask(question))
        self._open.add(asking)
        try:
            return await asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asking.cancelled() and not (task is not None and task.cancelling()):
                return NotAnswered("the call was cancelled")
            raise
        finally:
            self._open.discard(asking)
            asking.cancel()

    def drop(self) -> None:
        """The person cancelled the call: what it asked is not to be answered any more."""
        for asking in self._open:
            asking.cancel()
