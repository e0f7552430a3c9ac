"""May this call run? The policy's word, and the person's where the policy asks.

Not here: rules and levels (permissions), running (calls).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from hel_tui.core.agent.arguments import changed_since, parse_arguments, shown
from hel_tui.core.agent.gates import Checked, Policy, Record, Verdict
from hel_tui.core.agent.ledger import Card, Ledger
from hel_tui.core.protocol import ApprovalAnswer, ApprovalQuestion, CallState, Event, Notice
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.threads import Writes
from hel_tui.core.vocabulary import Foreseeing, Json, Tool

CHANGED = "The tool is not what was approved before, so that no longer counts. What changed is below."
FUTILE = "As things are this call changes nothing:"
NOT_EXECUTED = "Not executed: the person stopped the turn."


CHANGING = "Not executed: its server changes the tool each time the person looks at it."
MOST_CHANGES = 5
"""Times a call is asked about anew because its tool changed meanwhile."""


@dataclass(slots=True)
class Refused(Exception):
    """The call ends here, without having run; the sentence is its result."""

    sentence: str
    state: CallState = "refused"


class Approver:
    """Decides on calls, one question at a time and in call order."""

    def __init__(
        self,
        *,
        policy: Policy,
        desk: Desk,
        ledger: Ledger,
        emit: Callable[[Event], None],
        record: Record,
        writes: Writes,
        answerable: bool,
        pinned: Callable[[], None] = lambda: None,
        current: Callable[[str, str], Tool | None],
    ) -> None:
        """`current` finds the tool of a server by its own name, as it is on offer. `pinned` is called when a
        tool is let run as something new. `answerable` is False when nobody can approve (headless): what would
        ask is refused.
        """
        self._policy = policy
        self._desk = desk
        self._ledger = ledger
        self._emit = emit
        self._record = record
        self._writes = writes
        self._answerable = answerable
        self._pinned = pinned
        self._current = current
        self._asking = asyncio.Lock()
        self._last: dict[tuple[str, str], Json] = {}
        self.stopped = False
        """The person denied a call and the turn with it."""

    def turn_over(self) -> None:
        """A new session began: no call was made in it yet."""
        self._last.clear()

    def runs_unasked(self, checked: Checked) -> bool:
        """Whether the policy lets the call run without a question."""
        return self._policy.decide(checked.tool, checked.arguments).action == "run"

    async def permit(self, card: Card, checked: Checked) -> Checked:
        """The call as it may run (a person may have changed its arguments), or `Refused`."""
        for _ in range(MOST_CHANGES):
            checked = self._as_it_is_now(checked)
            verdict = self._policy.decide(checked.tool, checked.arguments)
            if verdict.action == "run" or (verdict.action == "ask" and _is_answered(card, checked, verdict)):
                permitted, decision = checked, "run"
            elif verdict.action == "refuse" or not self._answerable:
                raise self._refused(checked, verdict.action, verdict.sentence)
            else:
                permitted, decision = await self._approved(card, checked)
            await self._pin(permitted, asked=decision != "run")
            if _says_the_same(self._as_it_is_now(permitted).tool, permitted.tool):
                break
            # it became another one while the person was looking: what was approved is not what would run
        else:
            raise self._refused(checked, "changing", CHANGING)
        self._trace(permitted, decision, executed=True)
        self._last[permitted.tool.server, permitted.tool.raw] = permitted.arguments
        return permitted

    def _as_it_is_now(self, checked: Checked) -> Checked:
        """The call with the tool as its server lists it now, or `Refused` when it does no longer."""
        if not checked.tool.server:
            return checked
        tool = self._current(checked.tool.server, checked.tool.raw)
        if tool is None:
            raise self._refused(checked, "gone", f"{checked.name} is no longer there; it was not executed.")
        return checked if tool is checked.tool else replace(checked, tool=tool)

    async def _pin(self, permitted: Checked, *, asked: bool) -> None:
        """Remember what the tool says of itself now that it is let run."""
        if write := self._policy.saw(permitted.tool, asked=asked):
            self._pinned()
            if problem := await self._writes.do(write):
                self._emit(Notice("warning", problem))

    def block(self, checked: Checked, reason: str) -> Refused:
        """A hook said no."""
        return self._refused(checked, "blocked by a hook", f"A hook blocked this call: {reason}")

    async def _approved(self, card: Card, checked: Checked) -> tuple[Checked, str]:
        self._ledger.state(card, "waiting")
        async with self._asking:
            if self.stopped and not card.beside:
                raise Refused(NOT_EXECUTED)
            question = await self._question(card, checked)
            answer = await self._desk.ask(question)
        if not isinstance(answer, ApprovalAnswer):
            why = "Nobody approved this call, so it was not executed."
            raise self._refused(checked, "not answered", why)
        comment = f" The person says: {answer.comment}" if answer.comment.strip() else ""
        if answer.decision in ("deny", "stop"):
            if not card.beside:
                self.stopped = answer.decision == "stop"
            why = f"The person refused this call; it was not executed.{comment}"
            raise self._refused(checked, answer.decision, why)
        permitted = self._edited(checked, answer)
        if permitted is not checked:
            self._ledger.diff(card, await permitted.tool.preview(permitted.arguments))
            card.remarks.append("The person changed the arguments to: " + shown(permitted.arguments))
        elif answer.decision in ("session", "project"):
            rule = question.session_rule if answer.decision == "session" else question.project_rule
            scope = answer.decision
            if problem := await self._writes.do(lambda: self._policy.remember(rule, scope, checked.tool)):
                self._emit(Notice("warning", problem))
        if comment:
            card.remarks.append(comment.strip())
        return permitted, answer.decision

    def _edited(self, checked: Checked, answer: ApprovalAnswer) -> Checked:
        if answer.arguments is None:
            return checked
        arguments = parse_arguments(answer.arguments)
        if isinstance(arguments, str):
            raise self._refused(checked, "unreadable edit", arguments)
        if arguments == checked.arguments:
            return checked
        verdict = self._policy.decide(checked.tool, arguments)
        if verdict.action == "refuse":
            raise self._refused(checked, "refuse", verdict.sentence)
        return replace(checked, arguments=arguments)

    async def _question(self, card: Card, checked: Checked) -> ApprovalQuestion:
        tool, arguments = checked.tool, checked.arguments
        diff = await tool.preview(arguments)
        self._ledger.diff(card, diff)
        redefined = self._policy.change(tool)
        warnings = (CHANGED, *tool.warnings) if redefined else tool.warnings
        if not diff and isinstance(tool, Foreseeing) and (obstacle := await tool.obstacle(arguments)):
            warnings = (*warnings, f"{FUTILE} {obstacle}")
        return ApprovalQuestion(
            id=question_id(),
            call_id=checked.call_id,
            server=tool.server,
            tool=tool.raw,
            arguments=shown(arguments),
            diff=diff,
            changed=changed_since(self._last.get((tool.server, tool.raw)), arguments),
            claims=tool.claims,
            warnings=warnings,
            redefined=redefined,
            session_rule=self._policy.session_rule(tool, arguments),
            project_rule=self._policy.project_rule(tool, arguments),
        )

    def _refused(self, checked: Checked, decision: str, sentence: str) -> Refused:
        self._trace(checked, decision, executed=False)
        return Refused(sentence)

    def _trace(self, checked: Checked, decision: str, *, executed: bool) -> None:
        self._record.write(
            "permission",
            id=checked.call_id,
            name=checked.name,
            server=checked.tool.server,
            access=checked.tool.access,
            arguments=checked.arguments,
            decision=decision,
            executed=executed,
        )


def _says_the_same(one: Tool, other: Tool) -> bool:
    """Whether two tools say the same of themselves."""
    return one is other or (one.definition, one.claims, one.access) == (
        other.definition,
        other.claims,
        other.access,
    )


def _is_answered(card: Card, checked: Checked, verdict: Verdict) -> bool:
    """Whether the person said yes already: typed it as such, or sent it from a form that showed all of it.

    A rule that asks, a tool that changed and one whose words are suspicious are asked about all the same.
    """
    return card.trusted or (card.seen and verdict.by_level and not checked.tool.warnings)
