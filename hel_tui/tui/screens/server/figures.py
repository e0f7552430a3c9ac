"""Numbers as a person reads them: sizes, times, shares, a sparkline. Pure functions."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import duration

BARS = "▁▂▃▄▅▆▇█"
_UNITS = ("B", "kB", "MB", "GB")


def size(count: int) -> str:
    """`812 B`, `1.2 kB`, `340 MB`."""
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 99.5 else f"{value:.1f} {_UNITS[unit]}"


def span(seconds: float) -> str:
    """A time span; `0 ms` and less say `–`."""
    if seconds <= 0:
        return "–"
    return t("inside.under_ms") if seconds < 0.0005 else duration(seconds)


def ago(since: float, now: float | None = None) -> str:
    """How long something has been so; empty when that is not known."""
    return duration(max((time.time() if now is None else now) - since, 0.0)) if since else ""


def sparkline(values: Sequence[float]) -> str:
    """One bar for each value, from the lowest to the highest of them."""
    if not values:
        return ""
    low, high = min(values), max(values)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((value - low) / step)] for value in values)
