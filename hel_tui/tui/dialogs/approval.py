"""May this call run? Shows exactly what would be sent, who says what about it, and what "always" would write.

Not here: whether a call must be asked about (core).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from textual import events
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.base import Choice, Dialog
from hel_tui.tui.dialogs.editor import TextEditor
from hel_tui.tui.dialogs.pane import diff_lines, foreign, framed, one_line
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.slash import check_object
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import LabelledInput
from hel_tui.tui.widgets.lines import Caption, Line

_EMPTY = ("", "{}", "null")


def grouped(number: int) -> str:
    """5 012: digits in threes, so that a large number is seen as large."""
    return f"{number:,}".replace(",", "\u202f")


class Comment(LabelledInput):
    """A sentence to the model that goes with the answer."""

    DEFAULT_CSS = """
    Comment { height: 1; border: none; padding: 0 1; display: none; background: $panel; }
    Comment:focus { border: none; }
    """


class ApprovalDialog(Dialog):
    """`y s p` allow, `n N Esc` deny; Tab adds a comment, `e` edits the arguments, `f` fills the screen."""

    part = "approval"
    choices: tuple[Choice, ...] = (
        Choice("approval.deny", refuses=True),
        Choice("approval.stop", refuses=True),
        Choice("approval.once", allows=True),
        Choice("approval.session", allows=True),
        Choice("approval.project", allows=True),
        Choice("approval.comment"),
        Choice("approval.edit"),
        Choice("approval.full"),
    )

    def __init__(
        self, question: p.ApprovalQuestion, waiting: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(clock)
        self.question = question
        self.waiting = waiting
        self.edited: str | None = None
        self.comment = Comment(placeholder=t("approval.comment_hint"), select_on_focus=False)
        self.arguments = TextEditor(show_line_numbers=True, soft_wrap=True, compact=True)
        self.hint = Caption()
        self._offer()

    def _rules(self) -> list[tuple[str, str]]:
        """(action, rule it would add). None for edited arguments: a rule speaks of what the model asked."""
        q = self.question
        rules = (("approval.session", q.session_rule), ("approval.project", q.project_rule))
        return [(action, rule) for action, rule in rules if rule and self.edited is None]

    def _offer(self) -> None:
        """A choice that would add no rule is not offered."""
        missing = {"approval.session", "approval.project"} - {action for action, _ in self._rules()}
        choices = type(self).choices
        self.choices = tuple(choice for choice in choices if choice.action not in missing)
        self.bar.choices, self.bar.mark = self.choices, 0

    # -------------------------------------------------------------- what it says

    def title_line(self) -> Line:
        q = self.question
        more = f"  {t('approval.more', n=self.waiting)}" if self.waiting else ""
        if q.server:
            ask, name = t("approval.title_server"), f"{q.server} · {q.tool}"
        else:
            ask, name = t("approval.title_tool"), q.tool
        return [
            (f" ▲ {ask} ", "strong"),
            (cut(one_line(ForeignText(name)), 60), "accent"),
            (more, "muted"),
        ]

    def text(self) -> list[Line]:
        q = self.question
        lines: list[Line] = []
        for warning in q.warnings:
            lines += [[("⚠ ", "warn"), (ForeignText(line).revealed, "warn")] for line in warning.splitlines()]
        for claim in q.claims:
            lines.append([(t("approval.claimed"), "muted"), (" ", ""), (foreign(ForeignText(claim)), "")])
        if lines:
            lines.append([])
        lines += self._argument_lines()
        if q.redefined:
            lines += [[], [(t("approval.redefined"), "warn")], *diff_lines(ForeignText(q.redefined))]
        if self.edited is not None:
            return lines + self._edit_note()
        if q.diff:
            lines += [[], [(t("approval.diff"), "strong")], *diff_lines(ForeignText(q.diff))]
        if q.changed:
            lines += [[], [(t("approval.changed"), "strong")], *diff_lines(ForeignText(q.changed))]
        rules = self._rules()
        if rules:
            lines.append([])
        for action, rule in rules:
            head = t(f"rule.{action}", key=keymap.label(action))
            lines.append([(f"{head} ", "muted"), (foreign(ForeignText(rule)), "accent")])
        return lines

    def _edit_note(self) -> list[Line]:
        """What is no longer shown and offered since the arguments were edited: it spoke of the old ones."""
        q = self.question
        keys = {name: keymap.label(f"approval.{name}") for name in ("session", "project")}
        notes = [t("approval.edited_diff")] if q.diff else []
        notes += [t("approval.edited_rules", **keys)] if q.session_rule or q.project_rule else []
        return [[], *([(note, "muted")] for note in notes)] if notes else []

    def _argument_lines(self) -> list[Line]:
        shown = self.question.arguments if self.edited is None else self.edited
        if shown.strip() in _EMPTY:
            return [[(t("approval.no_arguments"), "strong")]]
        count = t("approval.count", characters=grouped(len(shown)), n=grouped(shown.count("\n") + 1))
        head = t("approval.arguments") if self.edited is None else t("approval.arguments_edited")
        return [[(head, "strong"), (f"  {count}", "muted")], *framed(ForeignText(shown), break_escapes=True)]

    def extra(self) -> Iterable[Widget]:
        self.hint.display = False
        return (self.arguments, self.hint, self.comment)

    # ------------------------------------------------------------------- input

    def editing(self, _event: events.Key) -> bool:
        if self.focused is self.comment:
            return self._in_comment(_event)
        if self.focused is self.arguments:
            return self._in_arguments(_event)
        return False

    def _in_comment(self, event: events.Key) -> bool:
        """Enter and Tab keep the comment and go back to the choices; so does Esc. Nothing is decided here."""
        if event.key in ("enter", "tab", "escape"):
            event.stop()
            event.prevent_default()
            self.comment.display = bool(self.comment.value)
            self.set_focus(None)
            self.gate.typing(event.time)
        return True

    def _in_arguments(self, event: events.Key) -> bool:
        """Ctrl+S keeps the edited arguments, Esc leaves them as they were."""
        if event.key not in ("ctrl+s", "escape"):
            return True
        event.stop()
        event.prevent_default()
        if event.key == "ctrl+s":
            if why := check_object(self.arguments.text):
                self._say(why, "bad")
                return True
            unchanged = self.arguments.text == self.question.arguments
            self.edited = None if unchanged else self.arguments.text
            self._offer()
        self._edit(False)
        self.gate.typing(event.time)
        self.show_text()
        return True

    def _say(self, text: str, style: str = "muted") -> None:
        """One line below the text; none when there is nothing to say."""
        self.hint.say([(f" {text}", style)])
        self.hint.display = bool(text)
        self.call_after_refresh(self.fit)

    def _edit(self, on: bool) -> None:
        self.arguments.display = on
        self.pane.display = not on
        self.bar.display = not on
        self._say(t("approval.edit_hint") if on else "")
        self.set_focus(self.arguments if on else None)

    def decide(self, run: str) -> p.Answer | None:
        match run:
            case "deny":
                return self.refused()
            case "stop":
                return p.ApprovalAnswer("stop", self.comment.value.strip())
            case "comment":
                self.comment.display = True
                self.call_after_refresh(self.fit)
                self.set_focus(self.comment)
            case "edit":
                self.arguments.text = self.question.arguments if self.edited is None else self.edited
                self._edit(True)
            case "full":
                self.toggle_large()
            case "once":
                return self._allowed("once")
            case "session" | "project" if f"approval.{run}" in dict(self._rules()):
                return self._allowed(run)
        return None

    def _allowed(self, decision: str) -> p.ApprovalAnswer:
        comment = self.comment.value.strip()
        match decision:
            case "session":
                return p.ApprovalAnswer("session", comment, self.edited)
            case "project":
                return p.ApprovalAnswer("project", comment, self.edited)
            case _:
                return p.ApprovalAnswer("once", comment, self.edited)

    def refused(self) -> p.Answer:
        return p.ApprovalAnswer("deny", self.comment.value.strip())
