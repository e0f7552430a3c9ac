"""What the transcript shows of what people, models and hel itself say, as rows.

Not here: calls (cards), Markdown (markdown), what is open (transcript).
"""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.state import AnswerItem, NoticeItem, UserItem
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import more_lines
from hel_tui.tui.text.lines import BOLD, MUTED, REVERSE, TEXT, Ink, Line, Span, fitted, prefixed, wrap

_NOTICES: dict[p.Severity, tuple[str, Ink]] = {
    "info": ("·", MUTED),
    "warning": ("▲", Ink("warning")),
    "error": ("✗", Ink("error")),
}
FOLDED_LINES = 2
"""Rows of reasoning that is folded."""
PROMPT_ROWS = 4
"""Rows of what a prompt became that are shown while it is folded."""
_INDENT: Span = ("  ", TEXT)


def user_message(item: UserItem, width: int, *, expanded: bool = False, marked: bool = False) -> list[Line]:
    """What the person wrote, with a bar at its left, what went with it, and below it what a prompt became."""
    bar: Span = ("▌ ", Ink("user"))
    rows = wrap([(clean(item.text), Ink("user-text"))], width - 2) if item.text else []
    for one in item.attachments:
        rows += wrap([("▤ ", MUTED), (one_line(one, 400), MUTED)], width - 2)
    if marked and rows:
        rows[0].spans = [(text, Ink("cursor", ink.flags | REVERSE)) for text, ink in rows[0].spans]
    if item.unsent:
        rows += wrap([("✗ ", Ink("error")), (t("message.unsent"), Ink("error"))], width - 2)
    return prefixed(rows, bar, bar) + _became(item, width, expanded)


def _became(item: UserItem, width: int, expanded: bool) -> list[Line]:
    """The messages of a prompt, each below the role it goes to the model with."""
    rows: list[Line] = []
    bar: Span = ("│ ", MUTED)
    for role, text in item.messages:
        rows.append(Line([(t(f"message.{role}"), Ink("text", BOLD))]))
        rows += prefixed(wrap([(clean(text).strip(), MUTED)], width - 4), bar, bar)
    hidden = len(rows) - PROMPT_ROWS
    if not expanded and hidden > 1:
        rows = rows[:PROMPT_ROWS]
        rows[-1].join = "\n"
        rows.append(Line([(more_lines(hidden), MUTED)]))
    return prefixed(rows, _INDENT, _INDENT)


def sent_text(item: UserItem) -> str:
    """A message and what a prompt became as text to copy, cleaned."""
    return clean("\n\n".join([item.text, *(text.strip("\n") for _role, text in item.messages)]))


def notice(item: NoticeItem, width: int) -> list[Line]:
    """One sentence with its severity as glyph and word, and whose it is."""
    glyph, ink = _NOTICES[item.severity]
    word = t(f"notice.{item.severity}")
    source = f"{one_line(item.source, 60)}: " if item.source else ""
    spans: list[Span] = [(f"{word}: ", ink), (source, Ink("text", BOLD)), (clean(item.text).strip(), TEXT)]
    return prefixed(wrap(spans, width - 2), (f"{glyph} ", ink), _INDENT)


def reasoning(item: AnswerItem, width: int, *, expanded: bool, marked: bool = False) -> list[Line]:
    """The model's reasoning, dim: folded to two rows and a count unless `expanded`."""
    ink = Ink("reasoning")
    word = t("thinking.done" if item.done else "thinking.now")
    text = item.text if expanded or item.done else item.text[-(FOLDED_LINES + 1) * width :]
    rows = wrap([(clean(text).strip(), ink)], width - 2)
    hidden = 0
    if not expanded and len(rows) > FOLDED_LINES:
        hidden = len(rows) - FOLDED_LINES if item.done else 0
        rows = rows[:FOLDED_LINES] if item.done else rows[-FOLDED_LINES:]
        rows[-1].join = "\n"
    header: list[Span] = [("∴ ", ink), (word, ink)]
    if hidden:
        header.append((f"  {more_lines(hidden)}", MUTED))
    if marked:
        header = [(text, Ink("cursor", part.flags | REVERSE)) for text, part in header]
    return [fitted(header, width), *prefixed(rows, _INDENT, _INDENT)]
