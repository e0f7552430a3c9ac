"""The calls of one model response: lookup, loaded?, hooks, permission, run, hooks, result.

Built-in, server and hand-made calls take this one path. Results come back one per call id, in request
order, failures included. Not here: what the model is asked next (turn), who may approve (approval).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from hel_tui.core.agent.approval import NOT_EXECUTED, Approver, Refused
from hel_tui.core.agent.arguments import parse_arguments, shown
from hel_tui.core.agent.gates import Checked, Hooks, Record
from hel_tui.core.agent.hiding import without_secrets
from hel_tui.core.agent.ledger import Card, Ledger
from hel_tui.core.agent.offer import Offered
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.repeats import REMARK_AT, Repeats
from hel_tui.core.protocol import Event, Notice
from hel_tui.core.vocabulary import Invocation, Json, Mixed, Outcome, Shaped, Tool, ToolCall, ToolMessage

NOT_LOADED = " is not loaded. Call load_mcp_tool"
"""In the result of a call that was not made because its definition was in no request."""
PERSON = "the person"
"""Who cancels a call, if nothing else is said."""

BROKEN = "hel failed inside, and the turn ended; the call may have taken effect."


def cancelled(by: str, *, began: bool) -> str:
    """The result of a call that was cancelled, for the model."""
    what = f"The call was cancelled by {by}"
    return (
        f"{what}. It may have taken effect in part."
        if began
        else f"{what} before it ran; it was not executed."
    )


class Caller:
    """Runs calls for one session. Lives in the core's loop."""

    def __init__(
        self,
        *,
        registry: Registry,
        approver: Approver,
        hooks: Hooks,
        ledger: Ledger,
        emit: Callable[[Event], None],
        record: Record,
        hide: Callable[[str], str] = lambda text: text,
    ) -> None:
        """`hide` takes known secrets out of what tools return, before the model or anyone reads it."""
        self._registry = registry
        self._approver = approver
        self._hooks = hooks
        self._ledger = ledger
        self._emit = emit
        self._record = record
        self._hide = hide
        self._running: dict[str, tuple[Card, asyncio.Task[Outcome]]] = {}
        self._repeats = Repeats()
        self._interrupted = False
        """What ran of the calls of this answer was cancelled once."""
        self.cancelled_by = PERSON
        """Who cancels what is cancelled now."""
        self.circling = ""
        """Why the turn is over: a sentence once the model went in circles with a call that cannot be made."""

    @property
    def stopped(self) -> bool:
        """The person denied a call and the turn with it."""
        return self._approver.stopped

    def interrupt(self) -> bool:
        """Cancel what runs of a turn; say whether there was anything. Once for the calls of one answer: who
        wants more than that wants the turn to end.
        """
        tasks = [task for card, task in self._running.values() if not card.beside and not task.done()]
        if self._interrupted:
            return False
        self._interrupted = bool(tasks)
        for task in tasks:
            task.cancel()
        return self._interrupted

    def cancel(self, call_id: str) -> bool:
        """Cancel one call that runs or waits; say whether there was one."""
        _, task = self._running.get(call_id, (None, None))
        if task is None or task.done():
            return False
        return task.cancel()

    async def perform(
        self,
        turn: int,
        calls: Sequence[ToolCall],
        offered: Offered,
        keep: Callable[[ToolMessage], None],
    ) -> None:
        """Run all calls of one response and hand each result to `keep`, in request order.

        `offered` is what its request carried: only that can be called.
        """
        self._approver.stopped = self._interrupted = False
        self.cancelled_by = PERSON
        self.circling = ""
        cards = [self._opened(turn, call, offered) for call in calls]
        groups = self._groups(cards, offered)
        kept = 0
        try:
            for group in groups:
                await self._together(group, offered)
                kept += _keep_results(group, keep)
        except BaseException as end:  # the turn ends: what was not begun is not, and each call has a result
            by_person = isinstance(end, asyncio.CancelledError)
            for card in cards[kept:]:
                if card.outcome is None:
                    card.state = "cancelled"
                    sentence = self._cancelled(card) if by_person else BROKEN
                    self._ledger.finish(card, Outcome(sentence, failed=True, cancelled=True))
            _keep_results(cards[kept:], keep)
            raise

    async def _together(self, group: Sequence[Card], offered: Offered) -> None:
        """Run calls at the same time; over when all of them are, also when it is cancelled."""
        try:
            async with asyncio.TaskGroup() as together:
                for card in group:
                    together.create_task(self._one(card, offered))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    def _opened(self, turn: int, call: ToolCall, offered: Offered) -> Card:
        """A card for a call of the model, its arguments as the tool's server wants them."""

        def restored(arguments: Json) -> tuple[Json, tuple[str, ...]]:
            return offered.restored(call.name, arguments)

        tool, loaded = self._registry.get(call.name), call.name in offered.names
        return self._ledger.open(turn, call, tool, restored=restored, loaded=loaded)

    async def by_hand(
        self, turn: int, call_id: str, target: str, arguments: str, *, seen: bool = False
    ) -> tuple[Card, Outcome]:
        """A call of the person, beside any turn: `target` is `server.tool`, a public name or a built-in.

        `seen`: its arguments were filled in and sent in a form.
        """
        card = self._for_person(turn, call_id, target, self._registry.by_hand(target), arguments)
        card.beside, card.seen = True, seen
        return card, await self._one(card, Offered(names=frozenset({card.call.name})))

    def not_made(self, turn: int, call_id: str, target: str, arguments: str, outcome: Outcome) -> None:
        """A call of the person that cannot be made: its card says why."""
        card = self._for_person(turn, call_id, target, self._registry.by_hand(target), arguments)
        card.state = "cancelled" if outcome.cancelled else "failed"
        self._ledger.finish(card, outcome)

    async def run_for_person(
        self, turn: int, call_id: str, target: str, tool: Tool, arguments: str
    ) -> Outcome:
        """A turn of the person's own with a tool that is at hand; typing it was the approval."""
        self._approver.stopped = self._interrupted = False
        card = self._for_person(turn, call_id, target, tool, arguments)
        card.trusted = True
        self._ledger.shared(card.id)
        return await self._one(card, Offered(names=frozenset({card.call.name})))

    def _for_person(self, turn: int, call_id: str, target: str, tool: Tool | None, arguments: str) -> Card:
        name = tool.definition.name if tool is not None else target
        call = ToolCall(call_id, name, arguments.strip() or "{}")
        return self._ledger.open(turn, call, tool, by_hand=True)

    # ------------------------------------------------------------------ order

    def _groups(self, cards: Sequence[Card], offered: Offered) -> list[list[Card]]:
        """Neighbours that may run together, in order: reads, and tools of servers marked parallel."""
        groups: list[list[Card]] = []
        joins = False
        for card in cards:
            free = self._is_independent(card, offered)
            if free and joins:
                groups[-1].append(card)
            else:
                groups.append([card])
            joins = free
        return groups

    def _is_independent(self, card: Card, offered: Offered) -> bool:
        checked = card.checked
        if checked is None or card.call.name not in offered.names:
            return False
        if checked.tool.access != "read" and not checked.tool.parallel:
            return False
        if isinstance(checked.tool, Mixed) and not checked.tool.only_reads(checked.arguments):
            return False
        return self._approver.runs_unasked(checked)

    # --------------------------------------------------------------- one call

    async def _one(self, card: Card, offered: Offered) -> Outcome:
        task = asyncio.ensure_future(self._path(card, offered))
        self._running[card.id] = card, task
        try:
            outcome = await asyncio.shield(task)
        except asyncio.CancelledError:
            outcome = await self._cut(card, task)
            own = asyncio.current_task()
            if own is not None and own.cancelling():  # the turn ends, not just this call
                self._ledger.finish(card, outcome)
                raise
        finally:
            del self._running[card.id]
        self._ledger.finish(card, outcome)
        return outcome

    async def _cut(self, card: Card, task: asyncio.Task[Outcome]) -> Outcome:
        """End a call's task, however often who waits for that is cancelled; what came of the call."""
        task.cancel()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled() and task.exception() is None:  # it came to its end just before
            return task.result()
        card.state = "cancelled"
        return Outcome(self._cancelled(card), failed=True, cancelled=True)

    def _cancelled(self, card: Card) -> str:
        return cancelled(PERSON if card.beside else self.cancelled_by, began=bool(card.began))

    async def _path(self, card: Card, offered: Offered) -> Outcome:
        """The path of a call; every way to fail is an outcome."""
        checked: Checked | None = None
        try:
            if self._approver.stopped and not card.beside:
                raise Refused(NOT_EXECUTED)
            checked = self._require(card, offered)
            if reason := await self._hooks.before(checked):
                raise self._approver.block(checked, reason)
            card.checked = await self._approver.permit(card, checked)
            outcome = await without_secrets(await self._run(card, card.checked), self._hide)
        except Refused as refusal:
            card.state = refusal.state
            if checked is None and refusal.state == "failed":
                self._note_repeats(card, card.call.arguments, is_possible=False)
            return Outcome("\n\n".join([refusal.sentence, *card.remarks]), failed=True)
        card.state = "failed" if outcome.failed else "ok"
        if card.remarks:
            outcome = replace(outcome, text="\n\n".join([outcome.text, *card.remarks]))
        return outcome

    def _require(self, card: Card, offered: Offered) -> Checked:
        """The call, looked up and readable, or `Refused` with the sentence for the model."""
        name = card.call.name
        if card.tool is None:
            near = self._registry.nearest(name)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            hint += self._registry.not_there_yet()
            raise Refused(f"There is no tool named {name}.{hint} The call was not executed.", "failed")
        if name not in offered.names:
            self._record.write("permission", name=name, decision="not loaded", executed=False)
            raise Refused(
                f'{name}{NOT_LOADED} with names ["{name}"] first; '
                "it can be called from the request after that. The call was not executed.",
                "failed",
            )
        if card.checked is None:
            problem = parse_arguments(card.call.arguments)
            raise Refused(problem if isinstance(problem, str) else "The call could not be read.", "failed")
        tool = card.checked.tool
        if isinstance(tool, Shaped) and (problem := tool.misfit(card.checked.arguments)):
            raise Refused(problem, "failed")  # nobody is asked about what cannot run
        return card.checked

    async def _run(self, card: Card, checked: Checked) -> Outcome:
        tool, arguments = checked.tool, checked.arguments
        if tool.access == "write" and not card.detail.diff:
            self._ledger.diff(card, await tool.preview(arguments))
        self._note_repeats(card, shown(checked.arguments))
        self._ledger.state(card, "running")
        try:
            outcome = await tool.run(arguments, Invocation(card.id, self._ledger.progress(card)))
        except Exception as error:  # a bug in a tool must not end the conversation
            self._record.write("note", text=f"{tool.raw} raised {type(error).__name__}: {error}")
            return Outcome(f"{tool.raw} failed inside hel: {type(error).__name__}: {error}", failed=True)
        return outcome if outcome.failed else await self._hooks.after(checked, outcome)

    def _note_repeats(self, card: Card, arguments: str, *, is_possible: bool = True) -> None:
        """Put a remark behind the result when the model goes in circles; with a call that cannot be made it
        does not go on for ever.

        A call of the person beside the turns does not break a circle; a turn of the person's own does.
        """
        if card.by_hand:
            if not card.beside:
                self._repeats.clear()
            return
        count, calls = self._repeats.add((card.call.name, arguments))
        if not count:
            return
        what = (
            f"this is the same call with the same arguments {count} times in a row. Repeating it"
            if calls == 1
            else f"this call and the one before it took turns {count} times, with the same arguments. "
            "Repeating them"
        )
        card.remarks.append(
            f"Remark: {what} will not change the result: try something else, or say what is missing."
        )
        if count == REMARK_AT[-1]:
            told = "the same call" if calls == 1 else "the same two calls in turn"
            raw = card.tool.raw if card.tool is not None else card.call.name
            self._emit(Notice("warning", f"The model made {told} {count} times: {raw}"))
            if not is_possible:
                self.circling = f"The model asked {count} times for calls that cannot be made: {raw}"


def _keep_results(cards: Sequence[Card], keep: Callable[[ToolMessage], None]) -> int:
    """Hand on the results of calls that are over; returns how many."""
    for card in cards:
        outcome = card.outcome
        assert outcome is not None
        keep(ToolMessage(card.call.id, card.call.name, outcome.text, outcome.failed, outcome.images))
    return len(cards)
