"""What is still to do, as the model keeps it: a list in the right column, or a line above the prompt.

Pure lines over the view state. Not here: who writes the list (core).
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from hel_tui.tui import keymap
from hel_tui.tui.safe import cut, one_line
from hel_tui.tui.state import ViewState
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Line, Part, spread
from hel_tui.tui.widgets.pane_title import PaneTitle

MOST_ROWS = 8
"""Rows of the list; of a longer one, those around what is being done."""
_MARKS: dict[str, Part] = {"done": ("✓", "ok"), "in_progress": ("▸", "accent"), "pending": ("○", "muted")}
_TEXTS = {"done": "muted", "in_progress": "strong", "pending": ""}

Items = Sequence[tuple[str, str]]
"""(state, text) each."""


def todo_lines(items: Items, width: int) -> list[Line]:
    """The list in at most `MOST_ROWS` rows of `width` cells."""
    first, last = _window(items)
    lines: list[Line] = []
    for state, text in items[first:last]:
        sign, style = _MARKS.get(state, _MARKS["pending"])
        shown = cut(one_line(text, 200), max(width - 4, 4))
        lines.append([(f" {sign} ", style), (shown, _TEXTS.get(state, ""))])
    if first:
        lines[0] = [(f"   {t('todo.done_before', n=first + 1)}", "muted")]
    if last < len(items):
        lines[-1] = [(f"   {t('todo.more', n=len(items) - last + 1)}", "muted")]
    return lines


def _window(items: Items) -> tuple[int, int]:
    """Which items are shown: all, or those around the first that is not done."""
    if len(items) <= MOST_ROWS:
        return 0, len(items)
    now = current(items)
    first = min(max((now if now >= 0 else len(items)) - 2, 0), len(items) - MOST_ROWS)
    return first, first + MOST_ROWS


def current(items: Items) -> int:
    """Place of what is being done, else of what comes next; -1 when all is done."""
    for wanted in ("in_progress", "pending"):
        for place, (state, _) in enumerate(items):
            if state == wanted:
                return place
    return -1


def fact(items: Items) -> str:
    """How much of it is done, such as `2/5`."""
    return f"{sum(state == 'done' for state, _ in items)}/{len(items)}"


def one_bar(items: Items, width: int) -> Line:
    """All of it in one line: how far, and what is being done now."""
    place = current(items)
    text = one_line(items[place][1], 200) if place >= 0 else ""
    left: list[Part] = [(" ▸ ", "accent"), (f"{fact(items)} ", "strong"), (text, "")]
    right: list[Part] = [(f" {keymap.label('app.todos')} ", "key"), (f"{t('short.app.todos')} ", "muted")]
    return spread(left, right, width)


class TodoTitle(PaneTitle):
    """The rule above the list; a click folds and unfolds it."""

    class Folded(Message):
        """Fold the list, or unfold it."""

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Folded())


class TodoPane(Bar):
    """The list in the right column."""

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="todos")
        self.state = state

    def lines(self) -> list[Line]:
        return todo_lines(self.state.todos, self.columns)

    def update(self, shown: bool) -> None:
        """Take the height that the list needs, or none."""
        self.display = shown
        self.styles.height = min(len(self.state.todos), MOST_ROWS)
        self.refresh()


class TodoBar(Bar):
    """The list in one line above the prompt, where the right column is folded."""

    def __init__(self, state: ViewState) -> None:
        super().__init__(id="todo-bar")
        self.state = state

    def lines(self) -> list[Line]:
        return [one_bar(self.state.todos, self.columns)] if self.state.todos else []

    def update(self, has_column: bool, folded: bool) -> None:
        """Show it where the column does not, until all is done."""
        self.display = not has_column and not folded and current(self.state.todos) >= 0
        self.refresh()
