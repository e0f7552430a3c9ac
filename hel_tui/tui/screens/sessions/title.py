"""One line to give a session another title in. Not here: giving it (core)."""

from __future__ import annotations

from textual import events
from textual.message import Message

from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.finder import LabelledInput


class TitleField(LabelledInput):
    """Hidden until it is opened. One key gives the title, another leaves it as it is."""

    DEFAULT_CSS = """
    TitleField { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
    TitleField:focus { border: none; }
    """

    class Given(Message):
        """It is closed; `session_id` is empty when the title is to stay."""

        def __init__(self, session_id: str, title: str) -> None:
            super().__init__()
            self.session_id, self.title = session_id, title

    def __init__(self) -> None:
        super().__init__(id="title", select_on_focus=False)
        self._of = ""

    def open(self, session_id: str, title: str) -> None:
        """Edit the title of a session."""
        self._of = session_id
        self.placeholder, self.value = t("sessions.rename"), title
        self.action_select_all()
        self.display = True
        self.focus()

    def _close(self, session_id: str) -> None:
        self._of = ""
        self.display = False
        self.post_message(self.Given(session_id, self.value.strip()))

    def on_blur(self) -> None:
        if self._of:
            self._close("")

    def on_key(self, event: events.Key) -> None:
        run = keymap.by_key("finder").get(event.key)
        if run is None:
            return
        event.stop()
        event.prevent_default()
        self._close(self._of if run == "keep" else "")
