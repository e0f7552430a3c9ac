"""What the transcript shows of calls, as rows: their cards.

State is a glyph and a word, never colour alone.
Not here: what people, models and hel say (messages), Markdown (markdown), which card is open (transcript).
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, is_clean, one_line
from hel_tui.tui.state import CallItem
from hel_tui.tui.strings import t
from hel_tui.tui.text.blocks import code_rows
from hel_tui.tui.text.highlight import highlighted
from hel_tui.tui.text.json_text import indented
from hel_tui.tui.text.lines import (
    BOLD,
    MUTED,
    REVERSE,
    TEXT,
    Ink,
    Line,
    Span,
    cells_of,
    fitted,
    prefixed,
    wrap,
)
from hel_tui.tui.text.markdown import render_markdown

GLYPHS: dict[p.CallState, tuple[str, Ink]] = {
    "queued": ("◷", MUTED),
    "waiting": ("◷", Ink("warning", BOLD)),
    "running": ("⠿", Ink("accent")),
    "ok": ("✓", Ink("success")),
    "failed": ("✗", Ink("error", BOLD)),
    "refused": ("⊘", Ink("error")),
    "cancelled": ("⊗", Ink("warning")),
}
PREVIEW_LINES = 3
ERROR_ROWS = 4
"""Rows that the result of a failed call may take: it says what to mend, so it is not cut at the first."""
EXPANDED_LINES = 2_000
"""Source lines of one result that an open card shows."""
_INDENT: Span = ("  ", TEXT)
_BAR_CELLS = 20


def duration(seconds: float) -> str:
    """A time span in at most two units: `11 ms`, `3.4 s`, `2 min 05 s`, `1 h 02 min`."""
    if seconds < 0.9995:
        return t("duration.ms", ms=max(round(seconds * 1000), 0))
    if seconds < 9.95:
        return t("duration.s", s=f"{seconds:.1f}")
    if seconds < 59.5:
        return t("duration.s", s=round(seconds))
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return t("duration.min", min=minutes, s=f"{rest:02}")
    hours, minutes = divmod(minutes, 60)
    return t("duration.h", h=hours, min=f"{minutes:02}")


def title(server: str, tool: str) -> str:
    """`server · tool`, or the name of a built-in; cleaned, on one line."""
    name = one_line(tool, 200)
    return f"{one_line(server, 60)} · {name}" if server else name


def state_word(item: CallItem, now: float) -> str:
    """How a call stands, in words, with its time."""
    seconds = max(now - item.began, 0.0) if item.state == "running" and item.began else item.seconds
    if item.state == "running":
        # Whole seconds: the card is drawn again once a second.
        time = duration(seconds) if seconds >= 59.5 else t("duration.s", s=int(seconds))
        if item.limit and seconds >= 1:
            time = t("card.limit", time=time, limit=duration(item.limit))
        return t("card.running", time=time if seconds >= 1 else "").rstrip()
    time = duration(seconds) if seconds > 0 or item.state == "ok" else ""
    return t(f"card.{item.state}", **({} if item.state in _TIMELESS else {"time": time})).strip()


_TIMELESS = frozenset({"queued", "waiting", "refused"})


def card_header(item: CallItem, width: int, now: float, marked: bool = False) -> Line:
    """The first row of a call: glyph, server and tool, the arguments that matter, and how it stands."""
    glyph, ink = GLYPHS[item.state]
    right: list[Span] = [(state_word(item, now), MUTED if item.state in ("ok", "queued") else ink)]
    left: list[Span] = [(f"{glyph} ", ink), (title(item.server, item.tool), Ink("text", BOLD))]
    if item.by_hand:
        left.append((f" ({t('card.by_hand')})", MUTED))
    if item.summary:
        left.append(("  " + one_line(item.summary, max(width, 20)), MUTED))
    room = max(width - cells_of(right) - 2, 8)
    row = fitted(left, room)
    space = max(width - cells_of(row.spans) - cells_of(right), 1)
    spans = [*row.spans, (" " * space, TEXT), *right]
    if marked:
        spans = [(text, Ink("cursor", ink.flags | REVERSE)) for text, ink in spans]
    return fitted(spans, width)


def _progress(item: CallItem, width: int) -> list[Line]:
    """A bar (with a total) or the bare count, and the server's message."""
    if item.progress is None and not item.message:
        return []
    spans: list[Span] = [_INDENT]
    value, total = item.progress, item.total
    if value is not None and total and math.isfinite(value) and math.isfinite(total) and total > 0:
        share = min(max(value / total, 0.0), 1.0)
        cells = min(_BAR_CELLS, max(width // 3, 4))
        full = int(share * cells)
        spans += [("▰" * full, Ink("accent")), ("▱" * (cells - full), MUTED), (f" {share:.0%}", TEXT)]
    elif value is not None and math.isfinite(value) and not item.is_task:  # its message says the step
        spans.append((f"{value:,.10g}", TEXT))
    if item.message:
        spans.append((("  " if len(spans) > 1 else "") + one_line(item.message, width), MUTED))
    return [fitted(spans, width)]


def more_lines(count: int) -> str:
    """Says that so many lines are not shown."""
    return t("card.more_lines", n=f"{count:,}")


def _preview(item: CallItem, width: int) -> list[Line]:
    rows = [row for row in clean(item.preview).split("\n") if row.strip()]
    if item.state == "failed":
        return _error(rows, item.lines, width)
    out = [fitted([_INDENT, (row, MUTED)], width) for row in rows[:PREVIEW_LINES]]
    hidden = max(item.lines, len(rows)) - len(out)
    if hidden > 0 and out:
        out.append(fitted([_INDENT, (more_lines(hidden), MUTED)], width))
    for row in out:
        row.gutter = 2
    return out


def _error(rows: list[str], lines: int, width: int) -> list[Line]:
    """Why a call failed: wrapped, so that its sentence can be read without opening the card."""
    if not rows:
        return []
    wrapped = wrap([("\n".join(rows), Ink("error"))], width - 2)
    shown = wrapped[:ERROR_ROWS]
    hidden = len(wrapped) - len(shown) + max(lines - len(rows), 0)
    if hidden > 0:
        shown[-1].join = "\n"
        shown.append(Line([(more_lines(hidden), MUTED)]))
    return prefixed(shown, _INDENT, _INDENT)


def card(
    item: CallItem, width: int, now: float, *, marked: bool = False, detail: p.CallDetail | None = None
) -> list[Line]:
    """A call as rows: header, progress while it runs, and preview, or with `detail` everything."""
    rows = [card_header(item, width, now, marked)]
    if item.state == "running":
        rows += _progress(item, width)
    if detail is None:
        return rows + _preview(item, width)
    return rows + prefixed(_detail(detail, max(width - 2, 8)), _INDENT, _INDENT)


def gone(width: int) -> list[Line]:
    """What stands in an open card whose details the core no longer has."""
    return prefixed(wrap([(t("card.gone"), MUTED)], width - 2), _INDENT, _INDENT)


def _label(key: str) -> Line:
    return Line([(t(key), MUTED)])


def _detail(detail: p.CallDetail, width: int) -> list[Line]:
    out: list[Line] = []
    arguments = detail.arguments.strip()
    if arguments in ("", "{}"):
        out.append(_label("card.no_arguments"))
    else:
        out.append(_label("card.arguments"))
        out += source_rows("json", clean(arguments), width)
    if detail.diff:
        out.append(_label("card.change"))
        out += source_rows("diff", clean(detail.diff), width)
    if detail.result:
        out.append(_label("card.result"))
        out += result_rows(clean(detail.result), width)
    elif detail.state in ("queued", "waiting", "running"):
        out.append(_label("card.no_result"))
    for warning in detail.warnings:
        out += wrap([("▲ ", Ink("warning")), (clean(warning, newlines=False), TEXT)], width)
    for path in detail.saved:
        shown = clean(path, newlines=False)
        kind = shown.rpartition(".")[2][:8]
        text = (
            t("card.image", kind=kind, path=shown) if path in detail.images else t("card.saved", path=shown)
        )
        out += wrap([(text, MUTED)], width)
    return out


def _head(text: str) -> tuple[str, int]:
    """The lines of a long text that are shown, and how many are not."""
    hidden = text.count("\n") + 1 - EXPANDED_LINES
    if hidden <= 0:
        return text, 0
    return "\n".join(text.split("\n", EXPANDED_LINES)[:EXPANDED_LINES]), hidden


def source_rows(language: str, text: str, width: int) -> list[Line]:
    """Code as rows, its language's colours; the lines of it that are not shown are counted."""
    shown, hidden = _head(text.rstrip("\n"))
    rows = code_rows(highlighted(language, shown), width)
    return rows + _hidden(hidden, width)


def cut_rows(text: str, width: int, lay_out: Callable[[str, int], list[Line]]) -> list[Line]:
    """Text as rows by `lay_out`; the lines of it that are not shown are counted."""
    shown, hidden = _head(text)
    return lay_out(shown, width) + _hidden(hidden, width)


def _hidden(count: int, width: int) -> list[Line]:
    return wrap([(t("card.cut", n=f"{count:,}"), MUTED)], width) if count else []


def plain_rows(text: str, width: int) -> list[Line]:
    """Text as it is, wrapped."""
    return wrap([(text, TEXT)], width)


def result_rows(text: str, width: int) -> list[Line]:
    """A result by what it looks like: JSON, a diff, Markdown, or plain text."""
    match looks_like(text):
        case "json":
            return source_rows("json", indented(text), width)
        case "diff":
            return source_rows("diff", text, width)
        case "markdown":
            return cut_rows(text, width, render_markdown)
        case _:
            return cut_rows(text.rstrip("\n"), width, plain_rows)


_JSON_MOST = 200_000


def looks_like(text: str) -> str:
    """`json`, `diff`, `markdown` or `text`: what `text` most likely is, judged by its first lines."""
    head = text[:4_000].lstrip()
    if head[:1] in ("{", "[") and text.rstrip()[-1:] in ("}", "]") and len(text) <= _JSON_MOST:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return "text"
        return "json"
    if head.startswith(("diff --git ", "--- ")) and "\n+++ " in head:
        return "diff"
    rows = head.split("\n")
    marks = sum(row.startswith(("# ", "## ", "### ", "```", "|--", "| -", "|:-")) for row in rows)
    return "markdown" if marks >= 2 or (marks and rows[0].startswith("# ")) else "text"


def as_text(item: CallItem, detail: p.CallDetail | None) -> str:
    """A card as text to copy: name, arguments and result, cleaned."""
    if detail is None:
        return clean(f"{title(item.server, item.tool)}  {item.summary}\n{item.preview}".rstrip())
    parts = [title(detail.server, detail.tool), detail.arguments, detail.diff, detail.result]
    return clean("\n\n".join(part.strip("\n") for part in parts if part.strip()))


def as_command(item: CallItem, detail: p.CallDetail | None) -> str:
    """The `hel mcp call` command that repeats the call; empty for a built-in and where none can be told."""
    if not item.server or detail is None:
        return ""
    return call_command(item.server, item.tool, detail.arguments)


def call_command(server: str, tool: str, arguments: str) -> str:
    """The `hel mcp call` command for a call with these arguments (JSON text); empty where none can be told.

    What a terminal would not take as it is stands in the arguments as JSON escapes.
    """
    words = [server, tool]
    if arguments.strip() not in ("", "{}"):
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            return ""
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        words.append(compact if is_clean(compact) else json.dumps(value, separators=(",", ":")))
    dashes = ["--"] if any(word.startswith("-") for word in words) else []
    command = shlex.join(["hel", "mcp", "call", *dashes, *words])
    return command if is_clean(command) else ""
