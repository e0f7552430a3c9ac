"""The one-line strips around the prompt: turn status, changed files, what waits, a waiting decision.

Not here: the keys at the foot (footer), what happens on keys.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.cells import cell_len
from textual import events
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import cut, one_line
from hel_tui.tui.sizes import size_text
from hel_tui.tui.state import AnswerItem, CallItem, ViewState
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Line, Part, spread, width_of


def status_key(state: ViewState, asked: bool, escape: str = "") -> str:
    """The key that matters while a turn runs.

    `asked`: the dialog of the first question is open; `escape`: what Esc does in it, if not its refusal.
    """
    if not state.questions:
        return t("status.interrupt", key=keymap.label("app.interrupt"))
    if not asked:
        return t("status.open", key=keymap.label("app.waiting"))
    if escape:
        return escape
    action = _REFUSALS[type(state.questions[0])]
    return t(f"status.{action}", key=keymap.pretty(keymap.keys(action)[-1]))


_REFUSALS: dict[type[p.Question], str] = {
    p.ApprovalQuestion: "approval.deny",
    p.TrustQuestion: "trust.refuse",
    p.ContinueQuestion: "continue.end",
    p.LeftoversQuestion: "leftovers.leave",
    p.FormQuestion: "form.cancel",
    p.UrlQuestion: "url.cancel",
    p.SamplingQuestion: "sampling.deny",
    p.LoginQuestion: "login.give_up",
    p.RestoreQuestion: "restore.cancel",
}
"""What Esc does in the dialog of each kind of question."""


def status_line(state: ViewState, now: float, asked: bool = False, escape: str = "") -> list[Part]:
    """What the turn is doing, without one the person's own calls; empty when nothing runs.

    `now`: time.monotonic(); more: see `status_key`.
    """
    stop = status_key(state, asked, escape)
    if not state.busy:
        return _by_hand(state.calls_by_hand, now, stop) if state.calls_by_hand else []
    if retry := state.retrying:
        why = one_line(retry.why, 60)
        text = t("status.retrying", attempt=retry.attempt, of=retry.of, delay=f"{retry.delay:.0f}", why=why)
        return [(f" {text}", "warn"), (f" · {stop}", "muted")]
    seconds = max(int(now - state.turn_began), 0)
    running = sum(isinstance(i, CallItem) and i.state == "running" for i in state.items[-16:])
    last = state.items[-1] if state.items else None
    answers = isinstance(last, AnswerItem) and not last.reasoning and not last.done
    doing = t("status.answering") if answers else t("status.thinking")
    if running:
        doing = t("status.running", n=running)
    if state.compacting:
        doing = t("status.compacting")
    if state.questions:
        doing = t("status.waiting")
    parts = [t("status.seconds", doing=doing, seconds=seconds)]
    if state.step:
        parts.append(t("status.step", step=state.step))
    return [(f" {' · '.join(parts)}", "accent"), (f" · {stop}", "muted")]


def _by_hand(calls: list[CallItem], now: float, stop: str) -> list[Part]:
    """The person's own calls, and since when the oldest of them runs."""
    doing = t("status.waiting" if calls[0].state == "waiting" else "status.running", n=len(calls))
    seconds = max(int(now - calls[0].began), 0) if calls[0].began else 0
    return [(f" {t('status.seconds', doing=doing, seconds=seconds)}", "accent"), (f" · {stop}", "muted")]


class StatusBar(Bar):
    """Shown while a turn runs; redrawn once a second."""

    def __init__(self, state: ViewState, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id="status")
        self.state, self.clock = state, clock
        self.asked = False
        """Whether a decision's dialog is open."""
        self.escape = ""
        """What Esc does in it, if not its refusal."""

    def lines(self) -> list[Line]:
        line = status_line(self.state, self.clock(), self.asked, self.escape)
        if not line:
            return []
        (doing, style), key = line
        return [[(cut(doing, max(self.columns - width_of([key]), 1)), style), key]]

    def ask(self, asked: bool, escape: str) -> None:
        """Say what Esc does now."""
        if (self.asked, self.escape) != (asked, escape):
            self.asked, self.escape = asked, escape
            self.refresh()

    def update(self) -> None:
        self.display = self.state.busy or bool(self.state.calls_by_hand)
        self.refresh()


class ConfigBar(Bar):
    """Server files changed on disk, and the key that carries it out; stays until that is done or undone."""

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="config-bar")
        self.state = state

    def lines(self) -> list[Line]:
        change = self.state.config
        if change is None:
            return []
        signs = (("+", change.added), ("−", change.removed), ("~", change.changed))
        names = [f"{sign}{one_line(name, 40)}" for sign, each in signs for name in each]
        names += [one_line(problem, 200) for problem in change.problems[:1]]
        key = t("config.apply", key=keymap.label("app.apply"))
        tail: list[Part] = [(f" {key} ", "key")]
        room = max(self.columns - width_of(tail) - 1, 1)
        left = cut(f" ▲ {t('config.changed')} {' '.join(names)}", room)
        return [spread([(left, "warn")], tail, self.columns)]

    def update(self) -> None:
        self.display = self.state.config is not None
        self.refresh()


class QueueBar(Bar):
    """Messages that wait while a turn runs or are held since one was stopped, the newest three."""

    SHOWN = 3

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="queue")
        self.state = state

    def lines(self) -> list[Line]:
        width = self.columns
        texts = self.state.queued
        rows: list[Line] = []
        hidden = len(texts) - self.SHOWN
        for index, text in enumerate(texts[-self.SHOWN :]):
            place = max(hidden, 0) + index - self.state.held
            head = t(
                "queue.held" if place < 0 else "queue.joins" if place < self.state.joins else "queue.waits"
            )
            if index == 0 and hidden > 0:
                head = t("queue.more", head=head, n=hidden)
            tail = f" {self._keys()} " if index == min(len(texts), self.SHOWN) - 1 else ""
            left: list[Part] = [(f" ◷ {head} ", "muted"), (one_line(text, width), "")]
            rows.append(spread(left, [(tail, "muted")], width))
        return rows

    def _keys(self) -> str:
        back = t("queue.edit", key=keymap.label("prompt.unqueue"))
        if not self.state.held or self.state.busy:
            return back
        return f"{t('queue.send', key=keymap.label('prompt.send'))} · {back}"

    def update(self) -> None:
        self.display = bool(self.state.queued)
        self.styles.height = min(len(self.state.queued), self.SHOWN)
        self.refresh()


class AttachmentBar(Bar):
    """What joins the next message, one chip each; a click on one takes it out."""

    class Removed(Message):
        def __init__(self, attachment: p.Attachment) -> None:
            super().__init__()
            self.attachment = attachment

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="attachments")
        self.state = state
        self._places: list[tuple[int, int, p.Attachment]] = []

    def lines(self) -> list[Line]:
        width = self.columns
        tail = f" {t('attachments.remove', key=keymap.label('prompt.detach'))} "
        room = width - cell_len(tail)
        parts: list[Part] = []
        self._places = []
        for index, one in enumerate(self.state.attachments):
            chip = f" ▤ {_chip(one)} ✕ "
            left = len(self.state.attachments) - index
            start = width_of(parts)
            if parts and start + cell_len(chip) + 6 > room:
                parts.append((f" +{left}", "muted"))
                break
            chip = cut(chip, max(room - start, 8))
            parts += [(" ", ""), (chip, "accent")]
            self._places.append((start + 1, start + 1 + cell_len(chip), one))
        return [spread(parts, [(tail, "muted")], width)]

    def update(self) -> None:
        self.display = bool(self.state.attachments)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        for start, stop, attachment in self._places:
            if start <= event.x < stop:
                self.post_message(self.Removed(attachment))


def _chip(one: p.Attachment) -> str:
    name = one_line(f"{one.server}: {one.name or one.uri}" if one.server else one.name, 40)
    chip = "attachments.chip_part" if one.in_part else "attachments.chip"
    return t(chip, name=name, size=size_text(one.size), tokens=one.tokens)


def question_text(question: p.Question) -> str:
    """One line that says who waits for what."""
    match question:
        case p.ApprovalQuestion():
            name = f"{question.server} · {question.tool}" if question.server else question.tool
            return t("waiting.approval", what=one_line(name, 60))
        case p.TrustQuestion():
            return t("waiting.trust", n=len(question.servers))
        case p.ContinueQuestion():
            return t("waiting.continue", steps=question.steps)
        case p.LeftoversQuestion():
            return t("waiting.leftovers", n=len(question.servers))
        case p.RestoreQuestion():
            return t("waiting.restore", n=len(question.changed) + question.more)
        case p.SamplingQuestion(stage="answer"):
            return t("waiting.sampling_answer", server=one_line(question.server, 40))
        case p.FormQuestion() | p.UrlQuestion() | p.SamplingQuestion() | p.LoginQuestion():
            kinds = {p.FormQuestion: "form", p.UrlQuestion: "url", p.SamplingQuestion: "sampling"}
            kind = kinds.get(type(question), "login")
            return t(f"waiting.{kind}", server=one_line(question.server, 40))


class WaitingBar(Bar):
    """Announces a decision that waits while the person does something else."""

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="waiting")
        self.state = state

    def lines(self) -> list[Line]:
        width = self.columns
        if not self.state.questions:
            return []
        first = self.state.questions[0]
        more = len(self.state.questions) - 1
        text = f"▲ {question_text(first)}" + (f" {t('waiting.more', n=more)}" if more else "")
        key = t("waiting.open", key=keymap.label("app.waiting"))
        return [spread([(f" {cut(text, width - len(key) - 4)} ", "alert")], [(f" {key} ", "key")], width)]

    async def on_click(self, event: events.Click) -> None:
        event.stop()
        await self.run_action("screen.waiting")
