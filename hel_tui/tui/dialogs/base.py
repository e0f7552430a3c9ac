"""What all decisions share: deaf at first, allow only on a deliberate key and after all was seen.

A dialog is a modal screen whose choices are keys of the key table. Not here: when which one opens (desk).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.widget import Widget

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.gate import Gate
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.screens.once import OnceModal
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Caption, Line, Part, width_of

_TYPED = frozenset({"enter", "backspace", "tab", "ctrl+j", "ctrl+m"})
FRAME_ROWS = 4
"""Rows of a dialog that hold no text: its border, and a blank row above and below the text."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice in the bottom line."""

    action: str
    """Id in the key table."""
    allows: bool = False
    """Whether it makes something happen: only after all was seen."""
    refuses: bool = False
    words: str = ""
    """What it is called; empty: as in the catalogue."""

    @property
    def label(self) -> str:
        return self.words or t(f"short.{self.action}")

    @property
    def run(self) -> str:
        return next(a.run for a in keymap.ACTIONS if a.id == self.action)


class Choices(Bar):
    """The choices with their keys; `↵` stands at the one that Enter does, unless a field has the focus."""

    DEFAULT_CSS = """
    Choices { height: auto; }
    """

    def __init__(self, choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self.choices = choices
        self.mark = 0
        self.active = True
        """Whether Enter does the marked choice now: not while a field has the focus."""
        self.locked = ""
        """Why nothing can be allowed yet; empty when it can."""
        self._places: list[tuple[int, int, int, int]] = []

    def lines(self) -> list[Line]:
        width = self.columns
        rows: list[list[Part]] = [[]]
        self._places = []
        for index, choice in enumerate(self.choices):
            dim = choice.allows and self.locked
            chosen = index == self.mark and self.active
            parts: list[Part] = [
                ("↵" if chosen else " ", "accent"),
                (f" {keymap.label(choice.action)} ", "muted" if dim else "key"),
                (f"{choice.label} ", "muted" if dim else "cursor" if chosen else ""),
            ]
            size = width_of(parts)
            if rows[-1] and width_of(rows[-1]) + size > width:
                rows.append([])
            start = width_of(rows[-1])
            self._places.append((len(rows) - 1, start, start + size, index))
            rows[-1] += parts
        if self.locked:
            rows.append([(f" {self.locked}", "warn")])
        return list(rows)

    def fit(self) -> None:
        """Take the height the choices need at this width."""
        if self.columns:
            self.styles.height = len(self.lines())
        self.refresh()

    def on_resize(self) -> None:
        self.fit()

    def at(self, offset: Offset) -> Choice | None:
        """The choice drawn at a place."""
        for row, start, stop, index in self._places:
            if offset.y == row and start <= offset.x < stop:
                return self.choices[index]
        return None

    def step(self, by: int) -> None:
        self.mark = (self.mark + by) % len(self.choices)
        self.refresh()


class Dialog(OnceModal[p.Answer]):
    """Base of all decisions. Subclasses give `part`, `choices`, `title_line`, `text` and `decide`."""

    part = ""
    """Part of the key table that holds its keys."""
    choices: tuple[Choice, ...] = ()
    why_locked = "dialog.scroll_first"
    """Key of the sentence that says why nothing can be allowed yet; empty when it can from the start."""
    has_fields = False
    """Whether Tab goes through fields."""
    AUTO_FOCUS = ""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.clock = clock
        self.gate = Gate()
        self.pane = TextPane()
        self.bar = Choices(self.choices)
        self.large = False

    def title_line(self) -> Line:
        raise NotImplementedError

    def text(self) -> list[Line]:
        raise NotImplementedError

    def decide(self, run: str) -> p.Answer | None:
        """The answer for a choice; None when it is not an answer (or not yet)."""
        raise NotImplementedError

    def refused(self) -> p.Answer:
        """What Esc and Ctrl+C mean."""
        raise NotImplementedError

    def extra(self) -> Iterable[Widget]:
        """Widgets between the text and the choices."""
        return ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Caption(self.title_line())
            yield self.pane
            yield from self.extra()
            yield self.bar

    def on_mount(self) -> None:
        self.bar.locked = t(self.why_locked) if self.why_locked else ""
        self.show_text()
        self.call_after_refresh(self.fit)
        self.call_after_refresh(self._drawn)
        self.begin()

    def begin(self) -> None:
        """What a subclass does when it is mounted."""

    def _drawn(self) -> None:
        self.gate.drawn(self.clock())

    def show_text(self) -> None:
        """Draw the text anew."""
        self.pane.show(self.text())

    def on_text_pane_end_seen(self) -> None:
        self.bar.locked = ""
        self.fit()

    def on_resize(self) -> None:
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Give the text what the title, the choices and the frame leave of the screen."""
        self.bar.fit()
        others = [child for child in self.query_one(".dialog").children if child is not self.pane]
        used = sum(child.outer_size.height for child in others if child.display and child is not self.bar)
        height = self.size.height if self.large else self.size.height * 9 // 10
        rows = len(self.bar.lines()) if self.bar.display else 0
        self.pane.styles.max_height = max(height - used - rows - FRAME_ROWS, 2)

    # ------------------------------------------------------------------ input

    def takes(self, event: events.Event) -> bool:
        """Whether the dialog hears this input; the app asks before it hands a key or a click on."""
        if isinstance(event, events.MouseEvent):
            return event.time > self.gate.deaf_until
        if self.focused is not None:
            return self.gate.hears_field(event.time)
        is_text = not isinstance(event, events.Key) or event.is_printable or event.key in _TYPED
        return self.gate.hears(event.time, is_text)

    def tick(self, now: float) -> None:
        """Every frame: do what was decided and has settled."""
        if run := self.gate.settled(now):
            self._commit(run)

    def on_key(self, event: events.Key) -> None:
        if event.key in keymap.keys("app.keys"):
            event.stop()
            event.prevent_default()
            self.show_keys()
            return
        if self.editing(event):
            return
        event.stop()
        event.prevent_default()
        if event.key == "ctrl+c":
            self.answer(self.refused())
        elif run := keymap.by_key(self.part).get(event.key):
            self.choose(run, event.time, at_once=event.key == "escape")
        elif event.key == "enter":
            self.choose(self.bar.choices[self.bar.mark].run, event.time)
        elif event.key in ("left", "right"):
            self.bar.step(1 if event.key == "right" else -1)
        else:
            self.pane.scroll_key(event.key)

    def show_keys(self) -> None:
        """The keys of this dialog in a sheet over it; when that closes, it is deaf as when it opened."""
        from hel_tui.tui.screens.sheets import dialog_keys_lines
        from hel_tui.tui.screens.text import KeysScreen

        lines = dialog_keys_lines(self.part, self.has_fields)
        self.app.push_screen(KeysScreen(lines), lambda _: self._drawn())

    def editing(self, _event: events.Key) -> bool:
        """Whether a field of the dialog takes this key; then the dialog does not."""
        return False

    def escape_word(self) -> str:
        """What Esc does now, where that is not the refusal of the dialog; empty where it is."""
        return t("status.leave_field", key="Esc") if self.focused is not None else ""

    def on_descendant_focus(self) -> None:
        self._mark_choices(False)

    def on_descendant_blur(self) -> None:
        self._mark_choices(self.focused is None)

    def _mark_choices(self, active: bool) -> None:
        self.bar.active = active
        self.bar.refresh()

    def on_click(self, event: events.Click) -> None:
        widget, region = self.get_widget_at(event.screen_x, event.screen_y)
        if widget is self.bar and (choice := self.bar.at(event.screen_offset - region.offset)):
            self.choose(choice.run, event.time)

    def choose(self, run: str, pressed: float, at_once: bool = False) -> None:
        """Do a choice; one that answers waits until it is clear that nobody is typing."""
        choice = next((c for c in self.choices if c.run == run), None)
        if choice is None:
            return
        if choice.allows:
            if not self.bar.locked:
                self.gate.decide(run, pressed)
        elif choice.refuses and not at_once:
            self.gate.decide(run, pressed)
        else:
            self._commit(run)

    def _commit(self, run: str) -> None:
        if (answer := self.decide(run)) is not None:
            self.answer(answer)

    def answer(self, answer: p.Answer) -> None:
        self.dismiss(answer)

    def toggle_large(self) -> None:
        self.large = not self.large
        self.set_class(self.large, "-large")
        self.fit()
