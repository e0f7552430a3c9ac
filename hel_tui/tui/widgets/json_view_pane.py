"""A JSON text with a head above it and a line of its own to search it. Not here: the tree (json_view)."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from hel_tui.tui.strings import t
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.lines import Part
from hel_tui.tui.widgets.window_line import AskLine, FactLine


class JsonPane(Vertical):
    """`show(text, head)`; call `poll` once a frame."""

    DEFAULT_CSS = """
    JsonPane { height: 1fr; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.head, self.view, self.ask = FactLine(), JsonView(), AskLine()
        self._head: list[Part] = []

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.view
        yield self.ask

    def show(self, text: str, head: list[Part], empty: str = "") -> None:
        """Show another text; `empty` is said when there is none."""
        self._head = head
        self.view.empty = empty
        if text != self.view.text or not text:
            self.view.show(text)
        self._say()

    def poll(self) -> None:
        """Once a frame."""
        self.view.poll()
        self._say()

    def _say(self) -> None:
        self.head.say([*self._head, *self.view.facts()])

    @on(JsonView.SearchRequested)
    def _search(self, event: JsonView.SearchRequested) -> None:
        event.stop()
        self.ask.open(t("json.ask_search"), self.view, typed=self.view.search)
