"""Fields to fill in: a head of foreign text and something to type or choose in for each, in one scroll.

Not here: what a value must be like (forms), and what is done with the values (dialogs).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from hel_tui.core import protocol as p
from hel_tui.forms import Problem, Typed, start
from hel_tui.forms.values import short_number
from hel_tui.tui.dialogs.pane import FRAME, TextPane, foreign, one_line
from hel_tui.tui.safe import ForeignText, clean
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import LabelledInput
from hel_tui.tui.widgets.lines import Line, LineView
from hel_tui.tui.widgets.scrolling import scroll_by_key

if TYPE_CHECKING:
    from textual.events import Paste

_BAR = (FRAME, "frame")


def head_lines(field: p.FormField, problem: str) -> list[Line]:
    """Label, what kind of value it takes, description, and what is wrong with it now."""
    need = t("form.required") if field.required else t("form.optional")
    notes = " · ".join(note for note in (need, t(f"field.is_{field.kind}"), _limits(field)) if note)
    label = one_line(ForeignText(field.label or field.name))
    lines: list[Line] = [[_BAR, (label, "strong"), (f"  {notes}", "muted")]]
    for line in foreign(ForeignText(field.description)).split("\n") if field.description else ():
        lines.append([_BAR, (line, "muted")])
    if problem:
        lines.append([("✗ ", "bad"), (problem, "bad")])
    return lines


def _limits(field: p.FormField) -> str:
    """The limits of a number; those of a text are said when they are passed."""
    if field.kind not in ("number", "integer"):
        return ""
    low, high = (None if limit is None else short_number(limit) for limit in (field.minimum, field.maximum))
    if low and high:
        return t("field.between", low=low, high=high)
    return t("field.from", low=low) if low else t("field.to", high=high) if high else ""


def problem_text(problem: Problem) -> str:
    """A problem in the language of the screen."""
    return t(f"field.{problem.kind}", limit=one_line(ForeignText(problem.limit)))


class OneLine(LabelledInput):
    """A value of one line."""

    DEFAULT_CSS = """
    OneLine { height: 1; border: none; padding: 0 1; background: $panel; }
    OneLine:focus { border: none; background: $boost; }
    """

    def __init__(self, value: str) -> None:
        super().__init__(clean(value, newlines=False), select_on_focus=False)
        self.cursor_blink = False

    @property
    def typed(self) -> Typed:
        return self.value

    def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(clean(event.text.strip(), newlines=False), *self.selection)


class Writing(TextArea):
    """A text, of several lines if need be."""

    DEFAULT_CSS = """
    Writing { height: auto; min-height: 1; max-height: 5; border: none; padding: 0 1; background: $panel; }
    Writing:focus { border: none; background: $boost; }
    """

    def __init__(self, value: str) -> None:
        super().__init__(clean(value), soft_wrap=True, show_line_numbers=False, compact=True)
        self.cursor_blink = False

    @property
    def typed(self) -> Typed:
        return self.text

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # the form's, not a line break

    async def _on_paste(self, event: Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(clean(event.text))

    def wants(self, key: str) -> bool:
        """Whether a key moves inside the text, or breaks a line, instead of leaving the field."""
        if key == "ctrl+j":
            self.insert("\n")
            return True
        return not self.cursor_at_first_line if key == "up" else not self.cursor_at_last_line


class Options(LineView, can_focus=True):
    """One or some of a list of options, or a single check box."""

    DEFAULT_CSS = """
    Options { height: auto; max-height: 6; overflow-x: hidden; overflow-y: auto; background: $panel; }
    Options:focus { background: $boost; }
    """

    class Picked(Message):
        """Something was chosen or taken back."""

    def __init__(self, field: p.FormField, value: Typed) -> None:
        super().__init__()
        self.many = field.kind == "choices"
        self.is_flag = field.kind == "boolean"
        self.free = not field.required
        self.options = (("", ""),) if self.is_flag else field.options
        self.cursor = 0
        first = value if isinstance(value, tuple) else ("",) if value is True else (value,)
        self.chosen = {option for option, _label in self.options if option in first}
        self.set_height(len(self.options))

    @property
    def typed(self) -> Typed:
        if self.is_flag:
            return bool(self.chosen)
        chosen = tuple(option for option, _label in self.options if option in self.chosen)
        return chosen if self.many else (chosen or ("",))[0]

    def line_at(self, y: int) -> Line:
        if y >= len(self.options):
            return ()
        value, label = self.options[y]
        on = value in self.chosen
        style = "cursor" if y == self.cursor and self.has_focus else ""
        if self.is_flag:
            return [(" ", ""), ("[x] " if on else "[ ] ", style), (t("form.yes" if on else "form.no"), style)]
        sign = ("[x] " if on else "[ ] ") if self.many else ("(•) " if on else "( ) ")
        shown = one_line(ForeignText(label))
        parts = [(" ", ""), (sign, style), (shown, style)]
        if value != label:
            parts.append((f"  {one_line(ForeignText(value))}", "muted"))
        return parts

    def wants(self, key: str) -> bool:
        """Take a key that moves among the options or chooses; False leaves it to the form."""
        if key == "space":
            self.toggle(self.cursor)
            return True
        step = {"up": -1, "down": 1}.get(key, 0)
        if not step or not 0 <= self.cursor + step < len(self.options):
            return False
        self.cursor += step
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, immediate=True)
        self.refresh()
        return True

    def toggle(self, index: int) -> None:
        """Choose an option, or take it back; of one that is needed the last choice stays."""
        value = self.options[index][0]
        if value in self.chosen:
            if self.many or self.is_flag or self.free:
                self.chosen.discard(value)
        elif self.many or self.is_flag:
            self.chosen.add(value)
        else:
            self.chosen = {value}
        self.refresh()
        self.post_message(self.Picked())

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if row < len(self.options):
            self.cursor = row
            self.toggle(row)


Editor = OneLine | Writing | Options


def editor_for(field: p.FormField) -> Editor:
    """What a field is filled in with, its default in it."""
    value = start(field)
    if field.kind in ("boolean", "choice", "choices") or field.options:
        return Options(field, value)
    text = value if isinstance(value, str) else ""
    return Writing(text) if field.kind == "text" else OneLine(text)


class Fields(VerticalScroll, can_focus=False):
    """`intro` and below it the fields. Says `EndSeen` when the last row has been on the screen."""

    DEFAULT_CSS = """
    Fields { height: auto; margin: 1 0; scrollbar-size-vertical: 1; }
    """

    class EndSeen(Message):
        """All of it has been shown."""

    def __init__(self, fields: Iterable[p.FormField], intro: list[Line]) -> None:
        super().__init__()
        self.fields = tuple(fields)
        self.intro, self._intro_lines = TextPane(), intro
        self.heads = {field.name: TextPane() for field in self.fields}
        self.editors: dict[str, Editor] = {field.name: editor_for(field) for field in self.fields}
        self.end_seen = False

    def compose(self) -> ComposeResult:
        yield self.intro
        for field in self.fields:
            head, editor = self.heads[field.name], self.editors[field.name]
            head.add_class("head")
            editor.add_class("editor")
            editor.set_class(field is self.fields[-1], "last")
            yield head
            yield editor

    def on_mount(self) -> None:
        self.intro.show(self._intro_lines)
        self.intro.display = bool(self._intro_lines)
        self.show_problems(())

    def show_problems(self, problems: Iterable[Problem]) -> None:
        """Say beside each field what is wrong with it; the others are silent."""
        found = {problem.field: problem_text(problem) for problem in problems}
        for field in self.fields:
            head, lines = self.heads[field.name], head_lines(field, found.get(field.name, ""))
            if head.source != lines:
                head.show(lines)

    def typed(self) -> Mapping[str, Typed]:
        """What stands in each field."""
        return {name: editor.typed for name, editor in self.editors.items()}

    def field_of(self, widget: Widget | None) -> p.FormField | None:
        """The field that is filled in with `widget`."""
        return next((field for field in self.fields if self.editors[field.name] is widget), None)

    def beside(self, widget: Widget | None, step: int) -> Editor | None:
        """The editor `step` after the one of `widget`; None at either end. From none: the first or last."""
        order = list(self.editors.values())
        at = next((i for i, editor in enumerate(order) if editor is widget), -1 if step > 0 else len(order))
        return order[at + step] if 0 <= at + step < len(order) else None

    def reveal(self, editor: Editor) -> None:
        """Scroll so that a field and its head are seen, the head first where there is no room for both."""
        name = next(name for name, one in self.editors.items() if one is editor)
        head = self.heads[name]
        top = head.virtual_region.y
        both = Region(0, top, 1, editor.virtual_region.bottom - top)
        self.scroll_to_region(
            both, animate=False, immediate=True, force=True, top=both.height > self.size.height
        )

    def scroll_key(self, key: str) -> bool:
        """Scroll by a key; say whether it was one for that."""
        return scroll_by_key(self, key)

    def look(self) -> None:
        """See whether the end is on the screen."""
        room = self.scrollable_content_region.height
        if not self.end_seen and room and self.scroll_offset.y + room >= self.virtual_size.height:
            self.end_seen = True
            self.post_message(self.EndSeen())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.look()
