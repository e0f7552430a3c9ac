"""The lines of the sheet of sessions: a session, a turn that was found, what a session ends with.

Pure functions. Not here: which of them are shown (screen).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.sizes import size_text
from hel_tui.tui.strings import t
from hel_tui.tui.text.figures import dollars
from hel_tui.tui.widgets.lines import Line, Part, pad, spread

WIDE = 90
"""Cells from which size and cost are shown in the list."""
MONTH = 30 * 86_400
AGE_WIDTH = 10
TURNS_WIDTH = 9
MOST_TITLE = 300


def age(written: float, now: float) -> str:
    """How long ago, in the largest unit; a date from a month on."""
    seconds = max(0.0, now - written)
    if seconds >= MONTH:
        return time.strftime("%Y-%m-%d", time.localtime(written))
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= size:
            return t(f"sessions.{word}", n=int(seconds // size))
    return t("sessions.now")


def title_of(row: p.SessionRow) -> str:
    """The title, safe, or a word for none."""
    return clean(row.title[:MOST_TITLE], newlines=False).strip() or t("sessions.untitled")


def marks_of(row: p.SessionRow, open_id: str) -> list[Part]:
    """Words for what is not as usual with a session."""
    parts: list[Part] = []
    if row.session_id == open_id:
        parts.append((f" {t('sessions.here')}", "accent"))
    elif row.is_open:
        parts.append((f" {t('sessions.open')}", "warn"))
    if row.damaged:
        parts.append((f" ▲ {t('sessions.damaged', n=row.damaged)}", "bad"))
    if row.parent:
        parts.append((f" {t('sessions.fork')}", "muted"))
    return parts


def session_line(row: p.SessionRow, width: int, *, now: float, open_id: str, everywhere: bool) -> list[Part]:
    """One session of the list."""
    right: list[Part] = marks_of(row, open_id)
    if everywhere and width >= WIDE // 2:
        folder = row.project.rstrip("/").rpartition("/")[2] or row.project
        right.append((f" {one_line(folder, 20)}", "accent"))
    right.append((f" {t('sessions.turns', n=row.turns):>{TURNS_WIDTH}}", "muted"))
    if width >= WIDE:
        cost = f"${dollars(row.cost)}" if row.cost is not None else ""
        right.append((f" {size_text(row.size):>8} {cost:>8}", "muted"))
    word = age(row.updated, now)
    right += [(" " + pad("", AGE_WIDTH - _cells(word)), ""), (f"{word} ", "muted")]
    is_here = row.session_id == open_id
    left: list[Part] = [(" ● " if is_here else "   ", "accent"), (title_of(row), "strong" if is_here else "")]
    return spread(left, right, width)


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def hit_line(hit: p.SessionHit, width: int) -> list[Part]:
    """A turn that was found, below its session: what was searched for stands out."""
    return spread([(f"     {t('sessions.turn', turn=hit.turn)}  ", "muted"), *marked(hit)], [], width)


def marked(hit: p.SessionHit) -> list[Part]:
    """The excerpt of a hit with its marks; each part is made safe by itself, so that places stay right."""
    parts: list[Part] = []
    end = 0
    for begin, stop in hit.marks:
        parts += [(clean(hit.excerpt[end:begin], newlines=False), "")]
        parts += [(clean(hit.excerpt[begin:stop], newlines=False), "key")]
        end = stop
    return [*parts, (clean(hit.excerpt[end:], newlines=False), "")]


# ------------------------------------------------------------------- in full


def fact_lines(row: p.SessionRow, *, open_id: str, elsewhere: str) -> list[Line]:
    """What is known of a session; `elsewhere` is the command that opens it, where this hel cannot."""
    begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created)) if row.created else ""
    cost = f"${dollars(row.cost)}" if row.cost is not None else ""
    facts = [row.session_id, begun, t("sessions.turns", n=row.turns), size_text(row.size), cost, row.model]
    lines: list[Line] = [[(title_of(row), "accent")]]
    told = " · ".join(clean(fact, newlines=False) for fact in facts if fact)
    marks = [(f" ·{mark}", style) for mark, style in marks_of(row, open_id)]
    lines.append([(told, "muted"), *marks])
    if row.parent:
        lines.append([(t("sessions.fork_of", id=clean(row.parent, newlines=False)), "muted")])
    if elsewhere:
        lines.append([(t("sessions.elsewhere", command=clean(elsewhere, newlines=False)), "warn")])
    elif row.is_open and row.session_id != open_id:
        lines.append([(t("sessions.opens_fork"), "warn")])
    return lines


_SIGNS = {"person": ("▌ ", "accent"), "model": ("  ", ""), "call": ("· ", "muted"), "note": ("! ", "warn")}


def said_line(said: p.Said) -> list[Part]:
    """A piece of a turn behind the sign of who said it."""
    sign, style = _SIGNS[said.who]
    text = clean(said.text, newlines=False)
    return [(sign, style), (text, "strong" if said.who == "person" else "muted" if style else "")]


def glance_lines(said: Sequence[p.Said]) -> list[Line]:
    """All pieces, with a head for each turn."""
    lines: list[Line] = []
    turn = 0
    for one in said:
        if one.turn != turn:
            turn = one.turn
            lines += [[]] if lines else []
            lines.append([(t("sessions.turn", turn=turn), "muted")])
        lines.append(said_line(one))
    return lines


def fitting(said: Sequence[p.Said], width: int, rows: int, *, newest: bool) -> list[Line]:
    """As many pieces as fit in `rows` rows of `width` cells, from the end or from the beginning; the one that
    does not fit whole is cut.
    """
    lines: list[Line] = []
    for one in reversed(said) if newest else said:
        wrapped = TextPane.wrapped(said_line(one), max(width, 4))
        if len(wrapped) > rows and lines:
            break
        shown = wrapped[: max(rows, 1)]
        rows -= len(shown)
        if newest:
            lines[:0] = shown
        else:
            lines += shown
        if rows <= 0:
            break
    return lines
