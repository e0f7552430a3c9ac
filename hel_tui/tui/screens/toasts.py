"""Where short messages stand on a screen: between two edges of what lies below them.

The compositor cuts what is drawn over an edge, and a wide character that stands across one is lost. Not here:
the main screen, which knows its columns (layout), what is said (app).
"""

from __future__ import annotations

from itertools import pairwise

from textual.screen import Screen
from textual.widget import Widget

BAND = 14
"""Rows above the foot that are looked at: as high as messages pile up."""
FOOT = 4
"""Rows at the bottom that messages leave free (main.tcss)."""
WIDTHS = (60, 40, 30, 20)
"""Cells of a message, the widest that fits; each has a class in main.tcss."""
RACK = "#textual-toastrack"


def place_toasts(screen: Screen[object]) -> None:
    """Let messages stand as far right as one has room between two edges, as wide as there is room for."""
    racks = list(screen.query(RACK))
    if not racks:
        return
    begin, end = _gap(_edges(screen, racks[0]))
    wide = next((one for one in WIDTHS if one + 1 <= end - begin), WIDTHS[-1])
    for rack in racks:
        rack.styles.width = end
        for one in WIDTHS:
            rack.set_class(one == wide, f"-w{one}")


def _gap(edges: list[int]) -> tuple[int, int]:
    """The space between two edges that is best: the last one for the widest message that any has room for."""
    gaps = list(pairwise(edges))
    for width in WIDTHS:
        for begin, end in reversed(gaps):
            if end - begin > width:
                return begin, end
    return max(gaps, key=lambda gap: gap[1] - gap[0])


def _edges(screen: Screen[object], rack: Widget) -> list[int]:
    """Columns at which something begins or ends in the rows where messages stand, in order."""
    width, height = screen.size
    bottom = height - FOOT
    found = {0, width}
    for widget in screen.query("*"):
        region = widget.region
        if rack in widget.ancestors_with_self or not region.area:
            continue
        if region.y < bottom and region.bottom > bottom - BAND:
            found |= {x for x in (region.x, region.right) if 0 < x < width}
    return sorted(found)
