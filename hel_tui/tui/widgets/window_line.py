"""The lines around a view of a log or a wire: what is shown, one to type in, the keys that help.

Not here: what is typed for (the panels).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.widget import Widget
from textual.widgets.input import Selection

from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import LabelledInput
from hel_tui.tui.widgets.lines import Bar, Line, Part, width_of


class AskLine(LabelledInput):
    """One line to type in, hidden until it is opened. Enter keeps what was typed, Esc does not."""

    DEFAULT_CSS = """
    AskLine { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    AskLine:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(select_on_focus=False)
        self._typed: Callable[[str], object] | None = None
        self._done: Callable[[str], object] | None = None
        self._back: Widget | None = None
        self._before = ""

    def open(
        self,
        hint: str,
        back: Widget,
        *,
        value: str = "",
        typed: Callable[[str], object] | None = None,
        done: Callable[[str], object] | None = None,
    ) -> None:
        """Ask for something: `typed` hears each change, and `value` again after Esc; `done` hears the end."""
        self._typed = self._done = None
        self.placeholder, self.value = hint, value
        self.cursor_position = len(value)
        if done is not None and typed is None:  # an offer, not what holds now: typing replaces it
            self.selection = Selection(0, len(value))
        self._back, self._typed, self._done, self._before = back, typed, done, value
        self.display = True
        self.focus()

    def watch_value(self, value: str) -> None:
        if self._typed is not None and self.display:
            self._typed(value)

    def on_blur(self) -> None:
        """Leaving it by another way keeps what was heard so far."""
        self._typed = self._done = None
        self.display = False

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("enter", "escape"):
            return
        event.stop()
        event.prevent_default()
        typed, done, value = self._typed, self._done, self.value
        self._typed = self._done = None
        if event.key == "enter":
            if done is not None:
                done(value)
        elif typed is not None and value != self._before:
            typed(self._before)
        self.display = False
        if self._back is not None and self.screen.focused is self:
            self._back.focus()


class FactLine(Bar):
    """What is shown of how much, and how: filters, following, progress."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[Part] = []

    def say(self, facts: list[Part]) -> None:
        """Show these facts with a dot between them."""
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def lines(self) -> list[Line]:
        line: list[Part] = [(" ", "")]
        for number, part in enumerate(self.facts):
            line += [(" · ", "muted")] if number else []
            line.append(part)
        return [line]


class KeyLine(Bar):
    """The keys that help here, as many as fit."""

    def __init__(self, actions: Sequence[str] = ()) -> None:
        super().__init__()
        self.actions = tuple(actions)

    def say(self, actions: Sequence[str]) -> None:
        """Name other actions."""
        if tuple(actions) != self.actions:
            self.actions = tuple(actions)
            self.refresh()

    def lines(self) -> list[Line]:
        line: list[Part] = [(" ", "")]
        for action in self.actions:
            gap = " · " if len(line) > 1 else ""
            more: list[Part] = [
                (gap, "muted"),
                (keymap.label(action), "key"),
                (f" {t(f'short.{action}')}", "muted"),
            ]
            if width_of([*line, *more]) > self.columns:
                break
            line += more
        return [line]
