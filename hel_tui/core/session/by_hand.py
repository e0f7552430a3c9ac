"""Calls that the person makes: beside the turns and beside each other, each with a card of its own.

What the model is to know of them waits until no turn runs: nothing comes between a call of the model and its
result. Not here: hooks, permission and running (agent), who asks for a call (a screen, a slash command).
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from hel_tui.core import protocol as p
from hel_tui.core.agent.arguments import parse_arguments
from hel_tui.core.agent.calls import PERSON, Caller, cancelled
from hel_tui.core.agent.ledger import Card, Ledger
from hel_tui.core.mcp.causes import META
from hel_tui.core.vocabulary import Outcome, UserMessage

MOST_KEPT = 4_000_000
"""Characters of results that can still be handed to the model; beyond, the oldest are let go."""
MAX_TARGET = 200
GONE = "The result of this call is not kept any more; it was not handed to the model."
HANDED = "The model gets the result of {name} with the next message."


@dataclass(frozen=True, slots=True)
class _Result:
    """What can be handed to the model."""

    name: str
    message: UserMessage


class ByHand:
    """The person's own calls in one session. Lives in the core's loop."""

    def __init__(
        self,
        caller: Caller,
        ledger: Ledger,
        emit: Callable[[p.Event], None],
        *,
        ready: Callable[[str], Awaitable[str]],
        tell: Callable[[UserMessage], None],
    ) -> None:
        """`ready` waits for the server of a target and gives a sentence when it is not there. `tell` takes
        what the model is to know; it may keep it until a turn is over.
        """
        self._caller = caller
        self._ledger = ledger
        self._emit = emit
        self._ready = ready
        self._tell = tell
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._results: dict[str, _Result] = {}
        self._numbers = itertools.count(1)

    @property
    def running(self) -> tuple[asyncio.Task[None], ...]:
        """The calls that are on their way."""
        return tuple(self._tasks.values())

    def start(self, turn: int, command: p.CallTool, fault: Callable[[Exception], None]) -> None:
        """Begin a call; it goes on by itself. `fault` hears of a bug of our own."""
        call_id = f"hand-{command.key or next(self._numbers)}"
        while call_id in self._tasks:
            call_id += "~"

        def over(done: asyncio.Task[None]) -> None:
            del self._tasks[call_id]
            if done.cancelled():
                if self._ledger.detail(call_id) is None:  # it came to no card
                    outcome = Outcome(cancelled(PERSON, began=False), failed=True, cancelled=True)
                    self._caller.not_made(turn, call_id, command.target, command.arguments, outcome)
            elif isinstance(error := done.exception(), Exception):
                fault(error)

        task = self._tasks[call_id] = asyncio.ensure_future(self._run(turn, call_id, command))
        task.add_done_callback(over)

    def cancel(self, call_id: str) -> bool:
        """Stop one call, also while it waits for its server; False when it is not on its way."""
        if self._caller.cancel(call_id):
            return True
        task = self._tasks.get(call_id)
        return task is not None and task.cancel()

    def cancel_all(self) -> None:
        """Stop all of them."""
        for call_id in tuple(self._tasks):
            self.cancel(call_id)

    async def clear(self) -> None:
        """A new session begins: stop what runs, forget what ran."""
        tasks = self.running
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._results.clear()

    def share(self, call_id: str) -> None:
        """Hand the result of an earlier call to the model; once is enough."""
        detail = self._ledger.detail(call_id)
        if detail is not None and detail.shared:
            return
        result = self._results.pop(call_id, None)
        if result is None:
            self._emit(p.Notice("warning", GONE))
            return
        self._hand_over(call_id, result)
        self._emit(p.Notice("info", HANDED.format(name=result.name)))

    # ------------------------------------------------------------------ a call

    async def _run(self, turn: int, call_id: str, command: p.CallTool) -> None:
        target, arguments = command.target, command.arguments
        if problem := await self._ready(target):
            self._caller.not_made(turn, call_id, target, arguments, Outcome(problem, failed=True))
            return
        meta = parse_arguments(command.meta)
        if isinstance(meta, dict) and meta:
            META.set(meta)  # of this call's own task
        card, outcome = await self._caller.by_hand(turn, call_id, target, arguments, seen=command.seen)
        if card.state in ("ok", "failed") and card.began:
            self._keep(card, outcome, share=command.share)

    def _keep(self, card: Card, outcome: Outcome, *, share: bool) -> None:
        """A call that ran: its result goes to the model, or may go later."""
        name = f"{card.detail.server}.{card.detail.tool}" if card.detail.server else card.detail.tool
        line = f"{name} {card.detail.arguments}"
        result = _Result(
            name[:MAX_TARGET],
            UserMessage(f"I called a tool myself: {line}\n{outcome.text}", outcome.images),
        )
        if share:
            self._hand_over(card.id, result)
            return
        self._results[card.id] = result
        size = sum(len(one.message.text) for one in self._results.values())
        while size > MOST_KEPT and len(self._results) > 1:
            size -= len(self._results.pop(next(iter(self._results))).message.text)

    def _hand_over(self, call_id: str, result: _Result) -> None:
        self._ledger.shared(call_id)
        self._tell(result.message)
