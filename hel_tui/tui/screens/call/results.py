"""The right side of a call: one of the tool's calls, how it went and what came back, in several looks.

Not here: what the looks say (result), the keys (screen).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.forms.node import read_json
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.call.compare import text_diff
from hel_tui.tui.screens.call.result import (
    Look,
    ResultView,
    StateBar,
    compared_text,
    lay_out,
    looks_of,
    structured,
)
from hel_tui.tui.state import CallItem, Changes
from hel_tui.tui.strings import t
from hel_tui.tui.text import cards
from hel_tui.tui.widgets.json_view_pane import JsonPane
from hel_tui.tui.widgets.pane_title import PaneTitle

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

ON_ITS_WAY = frozenset({"queued", "waiting", "running"})
HAS_RESULT = frozenset({"ok", "failed"})
_AS_JSON: frozenset[Look] = frozenset({"raw", "structured"})


class Results(Vertical):
    """The calls of one tool in this session, one of them shown."""

    DEFAULT_CSS = """
    Results { width: 1fr; height: 1fr; }
    Results JsonPane { display: none; padding: 0 1; }
    """

    def __init__(self, hel: HelApp, server: str, tool: str, about: str, before: str) -> None:
        """`about` is shown while there is no result; `before` is the call to compare with."""
        super().__init__(id="call-results")
        self.hel, self.server, self.tool, self.about = hel, server, tool, about
        self.title = PaneTitle(t("call.result"), id="call-results-title")
        self.state = StateBar()
        self.text = ResultView()
        self.json = JsonPane()
        self.look: Look = "model"
        self.shown = ""
        """Id of the call whose result is shown."""
        self.marked = before
        """Id of the call that others are compared with."""

    def compose(self) -> ComposeResult:
        yield self.title
        yield self.state
        yield self.text
        yield self.json

    # ------------------------------------------------------------ what there is

    @property
    def item(self) -> CallItem | None:
        """The call that is shown."""
        found = self.hel.bridge.state.by_key.get(self.shown)
        return found if isinstance(found, CallItem) else None

    @property
    def is_under_way(self) -> bool:
        """Whether the call that is shown has not ended."""
        item = self.item
        return item is not None and item.state in ON_ITS_WAY

    @property
    def detail(self) -> p.CallDetail | None:
        return self.hel.core.call(self.shown) if self.item is not None else None

    @property
    def ended(self) -> p.CallDetail | None:
        """The call that is shown, when it has a result."""
        detail = self.detail
        return detail if detail is not None and detail.state in HAS_RESULT else None

    def history(self) -> list[str]:
        """Ids of all calls of this tool in this session, oldest first."""
        wanted = (self.server, self.tool)
        items = self.hel.bridge.state.items
        return [i.key for i in items if isinstance(i, CallItem) and (i.server, i.tool) == wanted]

    @property
    def other(self) -> p.CallDetail | None:
        """What the shown one is compared with: the marked call, else the one before it."""
        ids = self.history()
        at = ids.index(self.shown) if self.shown in ids else 0
        one = self.marked if self.marked and self.marked != self.shown else ids[at - 1] if at > 0 else ""
        found = self.hel.core.call(one) if one else None
        return found if found is not None and found.state in HAS_RESULT else None

    # ------------------------------------------------------------------ drawing

    def sync(self, changes: Changes) -> None:
        """Draw anew what changed."""
        if changes.cleared:
            self.shown = self.marked = ""
            self.show()
        elif self.shown in changes.items:
            self.show()
        elif changes.items and (detail := self.detail) is not self.state.detail:
            self.state.detail = detail  # the model was given it
            self.state.refresh()

    def second(self) -> None:
        if self.is_under_way:
            self.state.refresh()

    def frame(self) -> None:
        if self.json.display:
            self.json.poll()

    def show(self, call_id: str = "") -> None:
        """Show a call, or draw the one that is shown anew."""
        self.shown = call_id or self.shown
        detail, other, ids = self.detail, self.other, self.history()
        if self.look not in looks_of(detail, other):
            self.look = "model"
        self.state.item, self.state.detail, self.state.look = self.item, detail, self.look
        self.state.sent = bool(self.shown)
        self.state.place = ""
        if self.shown in ids:
            self.state.place = t("call.place", n=ids.index(self.shown) + 1, of=len(ids))
        self.state.refresh()
        as_json = self.look in _AS_JSON and detail is not None
        had_focus = self.has_keys
        self.json.display, self.text.display = as_json, not as_json
        if as_json and detail is not None:
            self.json.show(detail.raw if self.look == "raw" else structured(detail.raw), [])
        elif self.shown:
            self.text.show(lay_out(self.look, detail, other, self.item is None or self.is_under_way))
        else:
            about = clean(self.about) or t("call.empty")
            self.text.show(lambda width: cards.plain_rows(about, width))
        if had_focus:
            self.take_focus()

    @property
    def has_keys(self) -> bool:
        """Whether the keys come here."""
        return self.text.has_focus or self.json.view.has_focus

    def take_focus(self) -> None:
        (self.json.view if self.json.display else self.text).focus()

    # --------------------------------------------------------------------- keys

    def next_look(self) -> None:
        looks = looks_of(self.detail, self.other)
        self.look = looks[(looks.index(self.look) + 1) % len(looks)] if self.look in looks else "model"
        self.show()

    def compare(self) -> bool:
        """Show what differs, or the result again; False when there is nothing to compare with."""
        if "compare" not in looks_of(self.detail, self.other):
            return False
        self.look = "model" if self.look == "compare" else "compare"
        self.show()
        return True

    def mark(self) -> bool:
        """Compare others with this call, or no longer; says whether it is marked now."""
        self.marked = "" if self.marked == self.shown else self.shown
        self.show()
        return bool(self.marked)

    def step(self, step: int) -> None:
        """To another call of this tool."""
        ids = self.history()
        if ids:
            at = ids.index(self.shown) if self.shown in ids else len(ids)
            self.show(ids[min(max(at + step, 0), len(ids) - 1)])

    def arguments(self) -> dict[str, object] | None:
        """Those of the call that is shown."""
        detail = self.detail
        value = read_json(detail.arguments) if detail is not None else None
        return value if isinstance(value, dict) else None

    def copied(self) -> str:
        """What is looked at, as text."""
        detail, other = self.detail, self.other
        if detail is None:
            return ""
        if self.look in ("compare", "beside") and other is not None:
            return text_diff(compared_text(other), compared_text(detail))
        return {"raw": detail.raw, "structured": structured(detail.raw)}.get(self.look, detail.result)
