"""What the transcript shows where the conversation was shortened: how much, by what, and what the model has
now.

Pure functions. Not here: which card is open (transcript).
"""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.state import CompactionItem
from hel_tui.tui.strings import t
from hel_tui.tui.text.lines import BOLD, MUTED, REVERSE, TEXT, Ink, Line, Span, fitted, prefixed, wrap

_INDENT: Span = ("  ", TEXT)
_BAR: Span = ("│ ", MUTED)


def rows(
    item: CompactionItem, width: int, detail: p.CompactionDetail | None, *, expanded: bool, marked: bool
) -> list[Line]:
    """The card: from how many tokens to how many, and by what; open, the summary and the cut results."""
    body = _problem(item, width - 2)
    if expanded:
        body += _opened(detail, width - 2)
    return [_head(item, width, marked), *prefixed(body, _INDENT, _INDENT)]


def _head(item: CompactionItem, width: int, marked: bool) -> Line:
    done = item.did_something
    glyph: Span = ("≡ ", Ink("accent")) if done else ("▲ ", Ink("warning"))
    word = t("compaction.done" if done else "compaction.failed")
    spans: list[Span] = [glyph, (word, Ink("text", BOLD))]
    if done:
        spans.append((f"  {tokens_line(item)}", TEXT))
    spans += [(f" · {part}", MUTED) for part in parts(item)]
    if marked:
        spans = [(text, Ink("cursor", ink.flags | REVERSE)) for text, ink in spans]
    return fitted(spans, width)


def tokens_line(item: CompactionItem) -> str:
    """From how many tokens to how many."""
    return t("compaction.tokens", before=f"{item.before:,}", after=f"{item.after:,}")


def parts(item: CompactionItem) -> list[str]:
    """What was done, a phrase each."""
    counts = (("summarised", item.summarised), ("shortened", item.shortened), ("dropped", item.dropped))
    return [t(f"compaction.{name}", n=count) for name, count in counts if count]


def _problem(item: CompactionItem, width: int) -> list[Line]:
    if not item.problem:
        return []
    return wrap([("▲ ", Ink("warning")), (clean(item.problem), TEXT)], width)


def _opened(detail: p.CompactionDetail | None, width: int) -> list[Line]:
    if detail is None:
        return wrap([(t("compaction.gone"), MUTED)], width)
    out: list[Line] = []
    if detail.focus:
        out += wrap([(t("compaction.focus", focus=clean(detail.focus)), MUTED)], width)
    for one in detail.results:
        text = t(
            "compaction.result",
            tool=one_line(one.tool, 80),
            before=f"{one.before:,}",
            after=f"{one.after:,}",
        )
        out += wrap([(text, MUTED)], width)
    if detail.summary:
        out += wrap([(t("compaction.stays"), MUTED)], width)
        out += prefixed(wrap([(clean(detail.summary), TEXT)], width - 2), _BAR, _BAR)
    return out


def as_text(item: CompactionItem, detail: p.CompactionDetail | None) -> str:
    """The card as text to copy, cleaned: the summary, where there is one."""
    if detail is not None and detail.summary:
        return clean(detail.summary)
    return clean(" · ".join([tokens_line(item), *parts(item), *([item.problem] if item.problem else [])]))
