"""The first line of a call by hand: which tool, what goes along, and who gets the result.

Not here: the keys that change it (screen).
"""

from __future__ import annotations

from hel_tui.tui import keymap
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Bar, Line, spread


class Head(Bar):
    """Which tool, and who gets the result."""

    def __init__(self, tool: str) -> None:
        super().__init__()
        self.tool = tool
        self.share = False
        self.meta = ""
        """JSON of what goes along as `_meta`."""

    def lines(self) -> list[Line]:
        to = t("call.to_model" if self.share else "call.to_me")
        right: Line = [
            (f" {keymap.label('call.destination')} ", "key"),
            (f"{to} ", "accent" if self.share else "muted"),
        ]
        left: Line = [(f" {t('call.title')} ", "strong"), (self.tool, "accent")]
        if self.meta:
            left = [*left, (f"  {t('call.with_meta')}", "muted")]
        return [spread(left, right, self.columns)]
