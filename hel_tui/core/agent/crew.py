"""Runs tasks: each an agent with a conversation of its own, and the session's model, policy and costs.

Not here: the tool that the model calls (task), what a person sees of it (task_log).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.agent.approval import Approver
from hel_tui.core.agent.budget import Budget, Stop
from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.context import Prompt
from hel_tui.core.agent.gates import NoHooks, Record
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.agent.offer import Offer
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.spending import Accounts, Totals
from hel_tui.core.agent.task_log import MOST_TASKS, TaskLogs
from hel_tui.core.agent.turn import Agent, Ending
from hel_tui.core.models.types import ChatModel, ModelInfo, Usage
from hel_tui.core.protocol import (
    Answer,
    ApprovalQuestion,
    CallDetail,
    CallStarted,
    ContinueAnswer,
    ContinueQuestion,
    Event,
    Question,
    StepStarted,
    TurnEnded,
    TurnStarted,
    UsageChanged,
)
from hel_tui.core.questions import Desk
from hel_tui.core.store.record import RecordKind
from hel_tui.core.vocabulary import AssistantMessage, ProgressFn, Tool

MAX_STEPS = 30
"""Requests that one task may make."""
MOST_TITLE = 80
"""Characters that a task is named with where it asks."""
LEFT_OUT = frozenset({"task", "todo_write"})
"""Tools that no task has: there is no task within a task, and the list is the conversation's own."""
RULE = """\
# Your task
You work on one task for another agent, in a conversation of your own. Nobody answers questions here: do \
what you can with what you are told. Your last message is all that comes back: put the whole result into it, \
with paths and line numbers where they matter."""
STOPPED = "The person stopped the task."


@dataclass(frozen=True, slots=True)
class Done:
    """What a task came to."""

    ending: Ending
    text: str
    """The last that it said."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a crew works with."""

    registry: Registry
    desk: Desk
    record: Record
    prompt: Prompt
    accounts: Callable[[], Accounts]
    """The session's, as they are now."""
    budget: Budget
    """The session's: what tasks cost counts, and stops them, too."""
    model: Callable[[], ChatModel | None]
    turn: Callable[[], int]
    """The turn of the session that runs."""
    ledger: Callable[[Callable[[Event], None], str], Ledger]
    """A ledger for one task, given what hears of its calls and the beginning of their ids."""
    approver: Callable[[Ledger, Desk, Callable[[Event], None]], Approver]
    agent: Callable[..., Agent]
    """Makes an agent from what differs between tasks."""
    hide: Callable[[str], str]
    spent: Callable[[], None]
    """Something was spent: tell the screen."""
    stop: Callable[[], None]
    """The person denied a call and wants all to stop."""


class Crew:
    """Those of one session. Lives in the core's loop."""

    def __init__(self, logs: TaskLogs) -> None:
        self.logs = logs
        self._means: Means | None = None
        self._ledgers: dict[str, Ledger] = {}

    def join(self, means: Means) -> None:
        """What it works with; made after the tools, of which its own is one."""
        self._means = means

    def clear(self) -> None:
        """Another session is open."""
        self._ledgers.clear()
        self.logs.clear()

    def detail(self, call_id: str) -> CallDetail | None:
        """Everything about a call that a task made; safe from any thread."""
        ledger = self._ledgers.get(call_id.partition("/")[0])
        return ledger.detail(call_id) if ledger is not None else None

    async def run(
        self,
        call_id: str,
        prompt: str,
        keeps: Callable[[Tool], bool],
        *,
        servers: bool,
        progress: ProgressFn,
    ) -> Done:
        """Work on `prompt` with the built-ins that `keeps` lets through, and tools of servers or none.

        Cancelling the caller ends the task and all it runs.
        """
        means = self._means
        assert means is not None
        model = means.model()
        if model is None:
            return Done(Ending("failed", "There is no model to work on it."), "")
        log = self.logs.begin(call_id)
        teller = _Teller(log.add, means.spent, progress)
        title = " ".join(prompt.split())[:MOST_TITLE]
        desk = _TaskDesk(means.desk, title)
        registry = means.registry.narrowed(
            lambda tool: tool.definition.name not in LEFT_OUT and keeps(tool), servers=servers
        )
        ledger = self._ledgers[call_id] = means.ledger(teller.tell, f"{call_id}/")
        while len(self._ledgers) > MOST_TASKS:  # each may hold megabytes of results
            del self._ledgers[next(iter(self._ledgers))]
        approver = means.approver(ledger, desk, teller.tell)
        record = _TaskRecord(means.record, call_id)
        caller = Caller(
            registry=registry,
            approver=approver,
            hooks=NoHooks(),
            ledger=ledger,
            emit=teller.tell,
            record=record,
            hide=means.hide,
        )
        agent = means.agent(
            registry=registry,
            offer=Offer(registry, teller.tell, record),
            caller=caller,
            desk=desk,
            emit=teller.tell,
            record=record,
            prompt=lambda inventory: f"{means.prompt(inventory)}\n\n{RULE}",
            max_steps=MAX_STEPS,
            budget=_SharedBudget(means.budget, means.accounts),
            accounts=_Shared(means.accounts()),
        )
        turn = means.turn()
        log.add(TurnStarted(turn, prompt))
        ending = Ending("interrupted", STOPPED)
        try:
            ending = await agent.turn(turn, prompt, model)
        except asyncio.CancelledError:
            log.add(TurnEnded(turn, "interrupted", STOPPED))
            raise
        log.add(TurnEnded(turn, ending.reason, ending.message))
        if caller.stopped:
            means.stop()
        return Done(ending, ending.text or _last_words(agent))


class _Teller:
    """Keeps what a task does, and tells its card how far it is."""

    def __init__(
        self, keep: Callable[[Event], None], spent: Callable[[], None], progress: ProgressFn
    ) -> None:
        self._keep = keep
        self._spent = spent
        self._progress = progress
        self._step = 0

    def tell(self, event: Event) -> None:
        """An event of the task's conversation."""
        match event:
            case UsageChanged():
                self._spent()
                return
            case StepStarted(step=step):
                self._step = step
                self._progress(float(step), None, f"step {step}")
            case CallStarted():
                name = f"{event.server} · {event.tool}" if event.server else event.tool
                self._progress(float(self._step), None, f"step {self._step}: {name} {event.summary}".strip())
            case _:
                pass
        self._keep(event)


class _TaskDesk(Desk):
    """Asks at the session's desk, and says which task asks. Nobody is asked whether a task may go on."""

    def __init__(self, desk: Desk, title: str) -> None:
        super().__init__(lambda _event: None)
        self._desk = desk
        self._title = title

    async def ask(self, question: Question) -> Answer:
        """See `Desk`."""
        if isinstance(question, ContinueQuestion):
            return ContinueAnswer(False)
        if isinstance(question, ApprovalQuestion):
            question = replace(question, task=self._title)
        return await self._desk.ask(question)


class _TaskRecord:
    """The session's record, each line with the task it belongs to."""

    def __init__(self, record: Record, call_id: str) -> None:
        self._record = record
        self._call_id = call_id

    def write(self, kind: RecordKind, **facts: Any) -> None:
        """See `Record`."""
        self._record.write(kind, task=self._call_id, **facts)


class _Shared(Accounts):
    """What a task spends is the session's, too."""

    def __init__(self, session: Accounts) -> None:
        super().__init__()
        self._session = session

    def add(
        self,
        turn: int,
        info: ModelInfo,
        usage: Usage | None,
        *,
        estimate: Usage | None = None,
        cut_off: bool = False,
        summary: bool = False,
    ) -> None:
        """See `Accounts`."""
        super().add(turn, info, usage, estimate=estimate, cut_off=cut_off, summary=summary)
        self._session.add(turn, info, usage, estimate=estimate, cut_off=cut_off, summary=summary)


class _SharedBudget(Budget):
    """The session's bound on cost, whoever of it spends."""

    def __init__(self, session: Budget, accounts: Callable[[], Accounts]) -> None:
        super().__init__()
        self._session = session
        self._accounts = accounts

    def stop(self, _totals: Totals, info: ModelInfo) -> Stop | None:
        """See `Budget`; the task's own sums are part of the session's."""
        return self._session.stop(self._accounts().totals, info)


def _last_words(agent: Agent) -> str:
    """The last text of the model, where the end has none."""
    said = (one.text for one in reversed(agent.history) if isinstance(one, AssistantMessage))
    return next((text for text in said if text.strip()), "")
