"""A sheet of text over the main screen: keys, help, a server's state, a report. Esc closes it."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.screens.once import OnceModal
from hel_tui.tui.screens.sheets import text_keys_lines
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Caption, Line

LEAD_ON = frozenset(
    f"app.{name}" for name in ("context", "models", "prompts", "resources", "rewind", "servers", "sessions")
)
"""Keys of the main screen that work over a sheet, too: they close it first."""
ROWS_AROUND = 8
"""Rows that the text leaves: frame, title, foot, the gaps between, and one free at either end."""


class TextScreen(OnceModal[str]):
    """Shows lines that scroll. `keys` are further keys that close it: their name is the result.

    Those without a word are not told in the foot. Not for a yes or a no: that is a `ConfirmDialog`.
    """

    AUTO_FOCUS = ""

    def __init__(self, title: str, lines: list[Line], keys: dict[str, str] | None = None) -> None:
        super().__init__()
        self.heading, self.lines_shown, self.extra_keys = title, lines, keys or {}
        self.pane = TextPane()

    def compose(self) -> ComposeResult:
        foot: list[tuple[str, str]] = [(" ", "")]
        for key, text in self.extra_keys.items():
            if text:
                foot += [(keymap.pretty(key), "key"), (f" {text} · ", "muted")]
        foot += [("Esc", "key"), (f" {t('sheet.close')}", "muted")]
        with Vertical(classes="dialog sheet"):
            yield Caption([(f" {self.heading}", "strong")])
            yield self.pane
            yield Caption(foot)

    def on_mount(self) -> None:
        self.pane.show(self.lines_shown)

    def on_resize(self) -> None:
        self.pane.styles.max_height = max(self.size.height - ROWS_AROUND, 2)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key in self.extra_keys:
            self.dismiss(event.key)
        elif event.key in ("escape", "q", "enter", "ctrl+c"):
            self.dismiss("")
        elif event.key in keymap.keys("app.keys"):
            self.show_keys()
        elif (action := self._leads_to(event.key)) is not None:
            self.dismiss("")
            self.app.call_later(self.app.screen_stack[0].run_action, action)
        else:
            self.pane.scroll_key(event.key)

    def _leads_to(self, key: str) -> str | None:
        """What a key of the main screen would open in the place of a sheet that lies right over it."""
        if len(self.app.screen_stack) != 2:
            return None
        actions = (one for one in keymap.ACTIONS if one.id in LEAD_ON)
        return next((one.run for one in actions if key in keymap.keys(one.id)), None)

    def show_keys(self) -> None:
        """The keys of this sheet in another one."""
        self.app.push_screen(KeysScreen(text_keys_lines(self.extra_keys)))


class KeysScreen(TextScreen):
    """Keys, which the key that shows them takes away again."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__(t("keys.title"), lines)

    def show_keys(self) -> None:
        self.dismiss("")
