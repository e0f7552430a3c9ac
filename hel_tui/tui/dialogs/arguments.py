"""The arguments of a prompt or the variables of a template, filled in by a person who asked for it.

The fields are those of a server's form, but nobody is asked by surprise: keys count at once. The server may
suggest how a value goes on. Not here: what is done with the values (offers).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from textual import events, on
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, TextArea

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.base import Choice
from hel_tui.tui.dialogs.form import FieldsDialog
from hel_tui.tui.dialogs.pane import framed
from hel_tui.tui.safe import ForeignText, clean, cut
from hel_tui.tui.slash import Candidate
from hel_tui.tui.widgets.completion import Completion
from hel_tui.tui.widgets.fields import Editor, OneLine, Writing
from hel_tui.tui.widgets.lines import Line

PAUSE = 0.15
"""Seconds without a key after which the server is asked how the value may go on."""

Suggest = Callable[[p.FormField, str, tuple[tuple[str, str], ...], Callable[[tuple[str, ...]], None]], None]
"""(field, its value so far, the other values, what to do with the answer)."""


class ArgumentsDialog(FieldsDialog):
    """Enter in the last field or Ctrl+S sends, Esc leaves the field and then the form."""

    part = "arguments"
    why_locked = ""
    send = "arguments.send"
    cancel = "arguments.cancel"
    choices = (Choice("arguments.send", allows=True), Choice("arguments.cancel", refuses=True))

    def __init__(
        self,
        title: str,
        about: str,
        fields: tuple[p.FormField, ...],
        given: dict[str, str] | None = None,
        suggest: Suggest | None = None,
    ) -> None:
        super().__init__(fields, list(framed(ForeignText(about))) if about else [])
        self.title_text, self.suggest = title, suggest
        self.completion = Completion()
        self._timer: Timer | None = None
        self._asked = 0
        self._taken = ""
        for name, value in (given or {}).items():
            editor = self.fields.editors.get(name)
            if isinstance(editor, OneLine):
                editor.value = clean(value, newlines=False)
            elif isinstance(editor, Writing):
                editor.text = clean(value)

    def title_line(self) -> Line:
        return [(f" {cut(self.title_text, 90)}", "strong")]

    def extra(self) -> tuple[Widget, ...]:
        return (self.completion,)

    def _drawn(self) -> None:
        self.gate.deaf_until = float("-inf")

    def takes(self, _event: events.Event) -> bool:
        return True

    def choose(self, run: str, pressed: float, at_once: bool = False) -> None:
        del pressed, at_once
        self._commit(run)

    def decide(self, run: str) -> p.Answer | None:
        if run != "send":
            return self.refused()
        content = self.content()
        return None if content is None else p.FormAnswer("accept", content)

    def refused(self) -> p.Answer:
        return p.FormAnswer("cancel")

    # ------------------------------------------------------------- suggestions

    def _in_field(self, event: events.Key, editor: Editor) -> bool:
        if self.completion.is_open and self._in_completion(event.key, editor):
            return True
        if event.key == "enter" and self.fields.beside(editor, 1) is None:
            self.choose("send", event.time)
            return True
        return super()._in_field(event, editor)

    def _in_completion(self, key: str, editor: Editor) -> bool:
        """Keys while suggestions are open; none is marked until a key marks one."""
        marked = self.completion.mark >= 0
        match key:
            case "down":
                self.completion.move(1)
            case "up":
                self.completion.move(-1) if marked else self._close()
            case "enter" | "tab" if marked:
                self._take(editor)
            case "escape":
                self._close()
            case _:
                return False
        return True

    def _take(self, editor: Editor) -> None:
        self._taken = self.completion.marked.insert
        if isinstance(editor, OneLine):
            editor.value = self._taken
            editor.cursor_position = len(self._taken)
        elif isinstance(editor, Writing):
            editor.text = self._taken
            editor.move_cursor(editor.document.end)
        self._close()

    def _close(self) -> None:
        self.completion.offer([])
        self.call_after_refresh(self.fit)

    def on_descendant_focus(self) -> None:
        self._close()
        self._wonder()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._wonder()

    def _wonder(self) -> None:
        """Ask the server for suggestions once the keys rest."""
        if self._timer is not None:
            self._timer.stop()
        field = self.fields.field_of(self.focused)
        if field is not None and field.completes and self.suggest is not None:
            self._timer = self.set_timer(PAUSE, self._ask)

    def _ask(self) -> None:
        field = self.fields.field_of(self.focused)
        typed = self.fields.typed()
        if field is None or self.suggest is None:
            return
        value = str(typed[field.name])
        if value and value == self._taken:
            return
        self._asked += 1
        number = self._asked
        others = tuple((name, str(one)) for name, one in typed.items() if name != field.name and one)

        def came(values: tuple[str, ...]) -> None:
            now = self.fields.field_of(self.focused)
            if self.is_attached and number == self._asked and now is field:
                self._offer(value, values)

        self.suggest(field, value, others, came)

    def _offer(self, typed: str, values: tuple[str, ...]) -> None:
        self._taken = ""
        shown = [Candidate(clean(one, newlines=False), "", clean(one, newlines=False)) for one in values]
        self.completion.offer([one for one in shown if one.insert and one.insert != typed])
        self.completion.mark = -1
        self.call_after_refresh(self.fit)
        self.call_after_refresh(self.fields.reveal, cast("Editor", self.focused))
