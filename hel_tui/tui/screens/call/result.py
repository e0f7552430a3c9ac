"""The result of a call on its screen: how it went, and one of several looks at what came back.

Not here: which call is shown, and the keys (screen), comparing (compare).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Literal

from textual import events

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.screens.call.compare import Change, beside, json_changes, text_diff
from hel_tui.tui.sizes import size_text
from hel_tui.tui.state import CallItem
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import GLYPHS, duration, result_rows, source_rows
from hel_tui.tui.text.lines import MUTED, TEXT, Ink, Span, cells_of, fitted, wrap
from hel_tui.tui.text.lines import Line as Row
from hel_tui.tui.widgets.lines import Bar, Line, Part, spread
from hel_tui.tui.widgets.rows_view import RowsView

Look = Literal["model", "raw", "structured", "compare", "beside"]
LayOut = Callable[[int], list[Row]]
BAR = 20
_STYLES = {"ok": "ok", "failed": "bad", "refused": "warn", "cancelled": "warn", "running": "accent"}


class ResultView(RowsView, can_focus=True):
    """A result; scrolls by keys."""

    DEFAULT_CSS = """
    ResultView { height: 1fr; padding: 0 1; }
    """

    async def on_key(self, event: events.Key) -> None:
        if self.scroll_key(event.key):
            event.stop()
            event.prevent_default()


class StateBar(Bar):
    """How the call stands: state, time, progress while it runs; size and whose it is after."""

    DEFAULT_CSS = """
    StateBar { height: 2; }
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self.item: CallItem | None = None
        self.detail: p.CallDetail | None = None
        self.look: Look = "model"
        self.place = ""
        """Such as `2 of 5`."""
        self.sent = False
        """It was sent and has no card yet."""

    def lines(self) -> list[Line]:
        if self.item is None:
            return [[(f" {t('call.sent' if self.sent else 'call.not_yet')}", "muted")]]
        return [state_line(self.item, self._clock(), self.columns, self.place), self._second()]

    def _second(self) -> Line:
        item, detail = self.item, self.detail
        if item is not None and item.state in ("queued", "waiting", "running"):
            return progress_line(item, self.columns)
        if detail is None:
            return []
        facts = [t(f"call.look_{self.look}")]
        if detail.result:
            facts.append(size_text(len(detail.result.encode("utf-8", "replace"))))
        facts.append(t("call.is_shared" if detail.shared else "call.only_you"))
        return [(" " + " · ".join(facts), "muted")]


def state_line(item: CallItem, now: float, width: int, place: str) -> list[Part]:
    """Glyph, word and seconds; at the right which of the calls it is."""
    glyph, _ = GLYPHS[item.state]
    seconds = max(now - item.began, 0.0) if item.state == "running" and item.began else item.seconds
    told = duration(seconds) if seconds else ""
    if item.state == "running" and item.limit:
        told = t("card.limit", time=t("duration.s", s=int(seconds)), limit=duration(item.limit))
    left: list[Part] = [
        (f" {glyph} {t(f'call.state_{item.state}')}", _STYLES.get(item.state, "muted")),
        (f" {told}", "muted"),
    ]
    return spread(left, [(f"{place} ", "muted")], width)


def progress_line(item: CallItem, width: int) -> list[Part]:
    """A bar with a total, else the count, and the server's message."""
    parts: list[Part] = [(" ", "")]
    value, total = item.progress, item.total
    if value is not None and total and math.isfinite(value) and math.isfinite(total) and total > 0:
        share = min(max(value / total, 0.0), 1.0)
        full = int(share * BAR)
        parts += [("▰" * full, "accent"), ("▱" * (BAR - full), "muted"), (f" {share:.0%} ", "")]
    elif value is not None and math.isfinite(value):
        parts.append((f"{value:,.10g} ", ""))
    parts.append((one_line(item.message, width), "muted"))
    return parts


# ------------------------------------------------------------------------ looks


def looks_of(detail: p.CallDetail | None, other: p.CallDetail | None) -> list[Look]:
    """What can be looked at."""
    if detail is None:
        return ["model"]
    looks: list[Look] = ["model"]
    if detail.raw:
        looks.append("raw")
        if structured(detail.raw):
            looks.append("structured")
    return looks + (["compare", "beside"] if other is not None else [])


def structured(raw: str) -> str:
    """The structured content of a raw result as JSON; empty when it has none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    content = value.get("structuredContent") if isinstance(value, dict) else None
    return "" if content is None else json.dumps(content, ensure_ascii=False, indent=2)


def lay_out(look: Look, detail: p.CallDetail | None, other: p.CallDetail | None, running: bool) -> LayOut:
    """The rows of a look, as a function of the width."""
    if detail is None:
        gone = t("call.empty" if not running else "call.no_result")
        return lambda width: wrap([(gone, MUTED)], width)
    match look:
        case "raw":
            return lambda width: source_rows("json", clean(_pretty(detail.raw)), width)
        case "structured":
            return lambda width: source_rows("json", clean(structured(detail.raw)), width)
        case "compare" if other is not None:
            before = other
            return lambda width: _compared(before, detail, width)
        case "beside" if other is not None:
            before = other
            return lambda width: _beside(before, detail, width)
    return lambda width: _model_rows(detail, width, running)


def _pretty(raw: str) -> str:
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return raw


def _model_rows(detail: p.CallDetail, width: int, running: bool) -> list[Row]:
    rows: list[Row] = []
    for warning in detail.warnings:
        rows += wrap([("▲ ", Ink("warning")), (clean(warning, newlines=False), TEXT)], width)
    if detail.result:
        rows += result_rows(clean(detail.result), width)
    else:
        rows += wrap([(t("call.no_result" if running else "call.nothing"), MUTED)], width)
    for path in detail.saved:
        key = "card.image" if path in detail.images else "card.saved"
        kind = clean(path.rpartition(".")[2][:8], newlines=False)
        rows += wrap([(t(key, kind=kind, path=clean(path, newlines=False)), MUTED)], width)
    return rows


def compared_text(detail: p.CallDetail) -> str:
    """What of a result is compared: its structured content where there is some, else its text."""
    return structured(detail.raw) or detail.result


def _compared(before: p.CallDetail, after: p.CallDetail, width: int) -> list[Row]:
    one, other = compared_text(before), compared_text(after)
    if one == other:
        return wrap([(t("call.same"), Ink("success"))], width)
    rows: list[Row] = []
    changes = json_changes(one, other)
    if changes is not None:
        rows += wrap([(t("call.changes", n=len(changes)), Ink("text", 1))], width)
        for change in changes:
            rows += _change_rows(change, width)
        rows.append(Row())
    diff = text_diff(one, other, (t("call.before"), t("call.after")))
    return rows + source_rows("diff", clean(diff), width)


def _change_rows(change: Change, width: int) -> list[Row]:
    sign, role = {"added": ("+", "success"), "removed": ("-", "error"), "changed": ("~", "warning")}[
        change.kind
    ]
    told = " → ".join(clean(one, newlines=False) for one in (change.before, change.after) if one)
    path = clean(change.path, newlines=False)
    return wrap([(f"{sign} ", Ink(role)), (path, TEXT), (f"  {told}", MUTED)], width)


def _beside(before: p.CallDetail, after: p.CallDetail, width: int) -> list[Row]:
    half = max((width - 3) // 2, 4)
    inks = {" ": MUTED, "~": Ink("warning"), "-": Ink("error"), "+": Ink("success")}
    head: list[Span] = [("  ", TEXT), *_column([(t("call.before"), Ink("text", 1))], half), (" ", TEXT)]
    rows = [fitted([*head, (t("call.after"), Ink("text", 1))], width)]
    for sign, left, right in beside(compared_text(before), compared_text(after)):
        ink = inks[sign]
        cells = _column([(one_line(left, half), ink if sign != "+" else MUTED)], half)
        rows.append(fitted([(f"{sign} ", ink), *cells, (" ", TEXT), (one_line(right, half), ink)], width))
    return rows


def _column(spans: list[Span], width: int) -> list[Span]:
    row = fitted(spans, width)
    return [*row.spans, (" " * max(width - cells_of(row.spans), 0), TEXT)]
