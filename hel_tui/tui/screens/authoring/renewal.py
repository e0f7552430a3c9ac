"""What came of one save of a watched server: its tools, and the calls made again, old beside new.

Not here: what the lines say (texts), renewing (core), the card in the conversation (text.incidents).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.screens.authoring import texts
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.picker import SheetKeys
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Caption
from hel_tui.tui.widgets.sheet import SheetView

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

FOOT = (
    "renewal.look",
    "renewal.older",
    "renewal.newer",
    "renewal.copy",
    "renewal.log",
    "renewal.keys",
    "renewal.close",
)


class RenewalScreen(LiveScreen):
    """The calls at the top, the old and the new result of the one under the cursor below."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("renewal")
    AUTO_FOCUS = "#renewal-list"

    def __init__(self, hel: HelApp, number: int) -> None:
        super().__init__(id="renewal")
        self.hel, self.number = hel, number
        self.as_diff = False
        self.head = Caption()
        self.list = SheetView(id="renewal-list")
        self.detail = SheetView(id="renewal-detail")
        self._drawn: tuple[object, ...] = ()
        self._shown: p.Renewal | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="authoring"):
            yield self.head
            yield self.list
            yield self.detail
            yield SheetKeys([(action, f"short.{action}") for action in FOOT])

    def on_mount(self) -> None:
        self.draw()

    @property
    def renewal(self) -> p.Renewal | None:
        """The one that is shown."""
        return self.hel.core.renewal(self.number)

    @property
    def current(self) -> p.Rerun | None:
        """The call under the cursor."""
        renewal, key = self.renewal, self.list.current
        if renewal is None or not key.isdigit() or int(key) >= len(renewal.reruns):
            return None
        return renewal.reruns[int(key)]

    def draw(self) -> None:
        renewal = self._shown = self.renewal
        if renewal is None:
            self.head.say([(f" {t('renewal.gone')}", "muted")])
            self.list.show([])
        else:
            self.head.say(texts.head_line(renewal))
            core = self.hel.core
            change = core.list_change(renewal.change) if renewal.change else None
            failure = core.failed(renewal.failure) if renewal.failure else None
            self.list.show(texts.calls_lines(renewal, change, failure))
        self._draw_detail()

    def _draw_detail(self) -> None:
        self._drawn = self._wanted
        width = self.detail.size.width - 1
        self.detail.show(texts.rerun_lines(self.current, width, as_diff=self.as_diff))
        self.detail.display = self.current is not None

    @property
    def _wanted(self) -> tuple[object, ...]:
        return (self.number, self.list.current, self.as_diff, self.detail.size.width)

    def frame(self) -> None:
        if self._shown is not self.renewal:  # more was called again
            self.draw()
        elif self._drawn != self._wanted:
            self._draw_detail()

    # -------------------------------------------------------------------- keys

    def action_look(self) -> None:
        """Beside each other, or as a difference."""
        self.as_diff = not self.as_diff
        self._draw_detail()

    def action_step(self, by: int) -> None:
        """To the renewal before or after."""
        if self.hel.core.renewal(self.number + by) is None:
            self.hel.say(t("renewal.no_more"))
            return
        self.number += by
        self.draw()

    def action_copy(self) -> None:
        """Copy the new result of the call under the cursor."""
        if (one := self.current) is not None:
            self.hel.copy(one.after)

    def action_log(self) -> None:
        """Go to the server's log."""
        if (renewal := self.renewal) is not None:
            self.dismiss(None)
            self.hel.open_server(renewal.server, "log")

    def on_sheet_view_chosen(self, event: SheetView.Chosen) -> None:
        """Enter goes to the result."""
        event.stop()
        self.set_focus(self.detail)

    def action_other(self) -> None:
        """Between the calls and the results."""
        self.set_focus(self.detail if self.focused is self.list else self.list)

    def action_keys(self) -> None:
        """The keys of this screen."""
        self.hel.push_screen(KeysScreen(keys_lines(("renewal", "list"))))

    def action_close(self) -> None:
        self.dismiss(None)
