"""What fills the context, as a picture of cells and a table; and what the session cost, as a table.

Pure functions from data to lines. A part is told by its mark, colour only repeats it. Not here: the screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad

_MARKS: dict[p.ContextKind, Part] = {
    "system": ("■", "accent"),
    "instructions": ("□", "accent"),
    "inventory": ("▤", "accent"),
    "builtins": ("◆", "ok"),
    "summary": ("◇", "warn"),
    "person": ("▲", "strong"),
    "answers": ("●", ""),
    "reasoning": ("∴", "muted"),
    "results": ("▼", "warn"),
    "images": ("▧", "warn"),
}
_SERVERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""Marks of servers, in their order; further ones share the last."""
FREE: Part = ("·", "muted")
RESERVE: Part = ("░", "muted")
WIDEST = 100
"""Cells of a line of the table: what belongs together stays near."""
NUMBER = 11
PERCENT = 8


def context_lines(picture: p.ContextPicture, width: int, rows: int) -> list[Line]:
    """The whole sheet; `rows` is how many the picture takes."""
    marks = marks_of(picture.parts)
    lines: list[Line] = [[(_headline(picture), "strong")], []]
    lines += cells(picture, marks, min(width, WIDEST) // 2, rows)
    lines.append([])
    whole = picture.window or picture.used
    for part, mark in zip(picture.parts, marks, strict=True):
        lines.append(_row(mark, _name(part), part.count, part.tokens, whole, width))
    if picture.window:
        lines.append(_row(FREE, t("context.free"), 0, picture.free, whole, width))
        reserve = min(picture.reserve, max(picture.window - picture.used, 0))
        lines.append(_row(RESERVE, t("context.reserve"), 0, reserve, whole, width))
    lines.append([])
    return lines + [[(text, "muted")] for text in _remarks(picture)]


def marks_of(parts: Sequence[p.ContextPart]) -> list[Part]:
    """The mark of each part: servers have digits and letters."""
    marks: list[Part] = []
    servers = 0
    for part in parts:
        if part.kind == "server":
            marks.append((_SERVERS[min(servers, len(_SERVERS) - 1)], "key"))
            servers += 1
        else:
            marks.append(_MARKS[part.kind])
    return marks


def cells(picture: p.ContextPicture, marks: Sequence[Part], columns: int, rows: int) -> list[Line]:
    """The window as `rows` of `columns` cells, spaced out: every part has its share, at least one cell."""
    count = columns * rows
    whole = max(picture.window, picture.used, 1)
    line: list[Part] = []
    seen = 0
    for left, (part, mark) in enumerate(zip(picture.parts, marks, strict=True), 1 - len(marks)):
        seen += part.tokens
        upto = min(max(round(seen * count / whole), len(line) + 1), max(count + left, len(line)))
        line += [mark] * (upto - len(line))
    line = line[:count]
    if picture.window:
        kept = min(round(picture.reserve * count / whole), count - len(line))
        line += [FREE] * (count - len(line) - kept) + [RESERVE] * kept
    out: list[Line] = []
    for at in range(0, len(line), columns):
        out.append([(f"{mark} ", style) for mark, style in _joined(line[at : at + columns])])
    return out


def _joined(line: Sequence[Part]) -> list[Part]:
    """Neighbours of one look as one part, a space between their marks."""
    out: list[Part] = []
    for mark, style in line:
        if out and out[-1][1] == style:
            out[-1] = (f"{out[-1][0]} {mark}", style)
        else:
            out.append((mark, style))
    return out


def percent(part: int, whole: int) -> str:
    """Such as 3.1 %; below a thousandth of the whole, that."""
    if not whole:
        return ""
    share = 100 * part / whole
    return "<0.1 %" if 0 < share < 0.1 else f"{share:.1f} %" if share < 10 else f"{share:.0f} %"


def _headline(picture: p.ContextPicture) -> str:
    model = clean(picture.model, newlines=False)
    if not model:
        return t("context.no_model")
    used = f"{picture.used:,}"
    if not picture.window:
        return t("context.used_unknown", used=used, model=model)
    share = percent(picture.used, picture.window)
    return t("context.used", used=used, window=f"{picture.window:,}", percent=share, model=model)


def _name(part: p.ContextPart) -> str:
    if part.kind == "server":
        return t("context.server", name=clean(part.name, newlines=False))
    return t(f"context.{part.kind}")


def _row(mark: Part, name: str, count: int, tokens: int, whole: int, width: int) -> Line:
    room = max(min(width, WIDEST) - 4 - 6 - NUMBER - PERCENT, 8)
    counted = f"{count:,}" if count else ""
    return [
        (f" {mark[0]} ", mark[1]),
        (pad(cut(name, room), room), ""),
        (counted.rjust(6), "muted"),
        (f"{tokens:,}".rjust(NUMBER), ""),
        (percent(tokens, whole).rjust(PERCENT), "muted"),
    ]


def _remarks(picture: p.ContextPicture) -> list[str]:
    out: list[str] = []
    if picture.learned:
        out.append(t("context.learned"))
    if picture.start:
        out.append(t("context.start", start=f"{picture.start:,}"))
    elif picture.model:
        out.append(t("context.unknown"))
    if picture.reported and picture.cached:
        share = percent(picture.cached, picture.reported)
        cached, reported = f"{picture.cached:,}", f"{picture.reported:,}"
        out.append(t("context.cached", reported=reported, cached=cached, percent=share))
    elif picture.reported:
        out.append(t("context.reported", reported=f"{picture.reported:,}"))
    out.append(t("context.scaled" if picture.reported else "context.estimated"))
    if picture.compactions:
        out.append(t("context.compactions", n=picture.compactions))
    return out


# ------------------------------------------------------------------------ cost

_COLUMNS = ("requests", "input", "cached", "written", "output", "reasoning", "dollars")
TABLE_WIDTH = 70
"""Cells of a sheet in a window of 80."""


def dollars(spent: p.Spent) -> str:
    """What it cost; a word where that is not known."""
    if spent.cost is None:
        return t("cost.unknown") if spent.unpriced or spent.uncounted else ""
    shown = f"${spent.cost:.2f}" if spent.cost >= 0.995 or not spent.cost else f"${spent.cost:.4f}"
    return f"{'~' * bool(spent.uncounted)}{shown}{'+' * bool(spent.unpriced)}"


def cost_lines(spending: p.Spending | None) -> list[Line]:
    """Tokens and dollars: of the session, of summaries, of each of its newest turns."""
    if spending is None or not spending.session.requests:
        return [[(t("cost.none"), "muted")]]
    rows = [(t("cost.session"), spending.session)]
    if spending.summaries.requests:
        rows.append((t("cost.summaries"), spending.summaries))
    turns = [
        (t("cost.compact") if one.compact else t("cost.turn", n=one.turn), one.spent)
        for one in reversed(spending.turns)
    ]
    table = [[name, *_figures(spent)] for name, spent in [*rows, *turns]]
    heads = ["", *(t(f"cost.{name}") for name in _COLUMNS)]
    widths = [max(cell_len(row[at]) for row in [heads, *table]) for at in range(len(heads))]
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= TABLE_WIDTH else 1
    lines: list[Line] = [[(_aligned(heads, widths, gap), "muted")]]
    for number, row in enumerate(table):
        if number == len(rows) and turns:
            lines.append([])
        lines.append([(_aligned(row, widths, gap), "strong" if number == 0 else "")])
    return [*lines, [], *([(text, "muted")] for text in _cost_remarks(spending))]


def _figures(spent: p.Spent) -> list[str]:
    share = short(spent.cached_tokens)
    if spent.cached_tokens and spent.input_tokens:
        share += f" {round(100 * spent.cached_tokens / spent.input_tokens)}%"
    figures = [f"{spent.requests:,}", short(spent.input_tokens), share, short(spent.written_tokens)]
    return [*figures, short(spent.output_tokens), short(spent.reasoning_tokens), dollars(spent)]


def short(tokens: int) -> str:
    """Such as 812, 20.3k, 1.20M."""
    if tokens >= 999_500:
        return f"{tokens / 1e6:.2f}M"
    return f"{tokens / 1000:.1f}k" if tokens >= 10_000 else f"{tokens:,}"


def _aligned(row: Sequence[str], widths: Sequence[int], gap: int) -> str:
    """The first column to the left, the others to the right, `gap` cells between two."""
    first, *others = row
    cells_of = [first + " " * (widths[0] - cell_len(first))]
    cells_of += [" " * (size - cell_len(text)) + text for text, size in zip(others, widths[1:], strict=True)]
    return (" " * gap).join(cells_of)


def _cost_remarks(spending: p.Spending) -> list[str]:
    session = spending.session
    out = [t("cost.explained")]
    if session.cost is not None and session.unpriced:
        out.append(t("cost.partly", n=session.unpriced))
    if session.cost is None and session.unpriced:
        out.append(t("cost.unpriced"))
    if session.uncounted:
        out.append(t("cost.uncounted", n=session.uncounted))
    if spending.dropped:
        out.append(t("cost.older", n=spending.dropped))
    return out
