"""What the transcript shows of what happened to servers: a failure, other tools, a renewal after a save.

Pure functions. Not here: which card is open (transcript), what keys do (the conversation and its screen).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.state import ServerItem
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import source_rows
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
    fitted_words,
    prefixed,
    wrap,
)

LAST_WORDS = 3
"""Lines of stderr that a folded failure shows."""
_INDENT: Span = ("  ", TEXT)
_LABEL = 12
_BAD, _GOOD, _WARN = Ink("error", BOLD), Ink("success"), Ink("warning")
_MARKS: dict[tuple[str, bool], tuple[str, Ink]] = {
    ("failure", False): ("✗", _BAD),
    ("failure", True): ("▲", _WARN),
    ("change", True): ("~", Ink("accent")),
    ("change", False): ("▲", _WARN),
    ("renewal", True): ("✓", _GOOD),
    ("renewal", False): ("▲", _WARN),
}
FAILURE_KEYS = ("restart", "log", "edit", "off")


@dataclass(frozen=True, slots=True)
class Reads:
    """Where what a card says in full is read."""

    failed: Callable[[int], p.ServerFailure | None]
    list_change: Callable[[int], p.ListChangeDetail | None]
    renewal: Callable[[int], p.Renewal | None]
    compaction: Callable[[int], p.CompactionDetail | None] = lambda _number: None


NOTHING = Reads(lambda _number: None, lambda _number: None, lambda _number: None)


def rows(item: ServerItem, width: int, reads: Reads, *, expanded: bool, marked: bool) -> list[Line]:
    """The card: what happened in one line, what explains it, and when it is open all that is known."""
    body: list[Line] = []
    match item.kind:
        case "failure":
            failure = reads.failed(item.number)
            stage = t(f"stage.{failure.stage}") if failure is not None else ""
            word = t("incident.lost" if item.good else "incident.failed")
            head = _head(item, word, stage, width, marked)
            if failure is not None:
                body = _failure(failure, width - 2) if expanded else _last_words(failure, item, width - 2)
        case "change":
            head = _head(item, t("incident.changed"), "", width, marked)
            change = reads.list_change(item.number)
            if change is not None:
                body = _change(change, width - 2, expanded)
        case "renewal":
            renewal = reads.renewal(item.number)
            head = _head(item, "", "", width, marked)
            if renewal is not None:
                body = _renewal(renewal, reads, width - 2, expanded)
    return [head, *prefixed(body, _INDENT, _INDENT)]


def _head(item: ServerItem, word: str, right: str, width: int, marked: bool) -> Line:
    glyph, ink = _MARKS[item.kind, item.good]
    left: list[Span] = [
        (f"{glyph} ", ink),
        (one_line(item.server, 60), Ink("text", BOLD)),
        (f" {word}: " if word else ": ", ink),
        (one_line(item.text, 400), TEXT),
    ]
    has_room = cells_of(left) + 2 + cells_of([(right, MUTED)]) <= width
    tail: list[Span] = [(right, MUTED)] if right and has_room else []
    row = fitted_words(left, max(width, 8))
    space = max(width - cells_of(row.spans) - cells_of(tail), 1)
    spans = [*row.spans, (" " * space, TEXT), *tail]
    if marked:
        spans = [(text, Ink("cursor", ink.flags | REVERSE)) for text, ink in spans]
    return fitted(spans, width)


def _last_words(failure: p.ServerFailure, item: ServerItem, width: int) -> list[Line]:
    """The end of stderr, and the keys that help."""
    found = [text for text in failure.stderr if text.strip()][-LAST_WORDS:]
    out = [fitted([("│ ", MUTED), (one_line(text, width), MUTED)], width) for text in found]
    if not found and one_line(failure.sentence, 400) != one_line(item.text, 400):
        out += wrap([(clean(failure.sentence), TEXT)], width)
    return [*out, _keys(width)]


def _keys(width: int) -> Line:
    spans: list[Span] = []
    for name in FAILURE_KEYS:
        gap: list[Span] = [(" · ", MUTED)] if spans else []
        key = keymap.label(f"conversation.{name}")
        spans += [*gap, (key, Ink("accent", BOLD)), (f" {t(f'incident.key.{name}')}", MUTED)]
    return fitted(spans, width)


def _failure(failure: p.ServerFailure, width: int) -> list[Line]:
    """Everything known about a failure."""
    out = wrap([(clean(failure.sentence), Ink("error"))], width)
    facts = [
        ("incident.tool", failure.tool),
        ("failure.command", failure.command_line),
        ("failure.resolved", failure.resolved),
        ("failure.cwd", failure.cwd),
        ("failure.env", ", ".join(failure.env_names)),
        ("failure.exit", failure.exit),
    ]
    for key, value in facts:
        if value:
            label: Span = (t(key).ljust(_LABEL) + " ", MUTED)
            indent: Span = (" " * cells_of([label]), TEXT)
            rest = wrap([(clean(value, newlines=False), TEXT)], max(width - cells_of([label]), 8))
            out += prefixed(rest, label, indent)
    for key, texts in (("failure.stderr", failure.stderr), ("failure.noise", failure.noise)):
        if texts:
            out.append(Line([(t(key), MUTED)]))
            for text in texts:
                out += prefixed(
                    wrap([(clean(text, newlines=False), TEXT)], width - 2), ("│ ", MUTED), ("│ ", MUTED)
                )
    return [*out, _keys(width)]


def _change(change: p.ListChangeDetail, width: int, expanded: bool) -> list[Line]:
    """Each tool with its sign, and whether the model is touched; open, with the difference."""
    signs = {"added": ("+", _GOOD), "removed": ("−", _BAD), "changed": ("~", _WARN)}
    out: list[Line] = []
    shown = change.tools if expanded else change.tools[:4]
    for one in shown:
        sign, ink = signs[one.kind]
        words = [t("change.loaded")] if one.loaded else []
        words += [t("change.pinned")] if one.pinned else []
        words += [t("change.approvals", n=one.approvals)] if one.approvals else []
        spans: list[Span] = [(f"{sign} ", ink), (one_line(one.tool, 200), TEXT)]
        if words:
            spans.append((f"  {' · '.join(words)}", _WARN))
        out.append(fitted(spans, width))
        if expanded and one.diff:
            out += source_rows("diff", clean(one.diff), width)
    if len(shown) < len(change.tools):
        out.append(fitted([(t("incident.more", n=len(change.tools) - len(shown)), MUTED)], width))
    return out


def _renewal(renewal: p.Renewal, reads: Reads, width: int, expanded: bool) -> list[Line]:
    """What was saved, and how the calls went that were made again: the old result beside the new."""
    saved = ", ".join(renewal.files)
    out = wrap([(t("incident.saved", files=clean(saved, newlines=False)), MUTED)], width) if saved else []
    if renewal.reason:
        out += wrap([(clean(renewal.reason), Ink("error" if renewal.state == "broken" else "text"))], width)
    if expanded and renewal.failure and (failure := reads.failed(renewal.failure)) is not None:
        out += _failure(failure, width)
    if expanded and renewal.change and (change := reads.list_change(renewal.change)) is not None:
        out += _change(change, width, expanded=True)
    for one in renewal.reruns:
        out += _rerun(one, width, expanded)
    if renewal.running:
        out.append(fitted([(t("renewal.running"), MUTED)], width))
    return out


def _rerun(one: p.Rerun, width: int, expanded: bool) -> list[Line]:
    check = one.check
    bad = one.failed or (check is not None and check.state != "passed")
    sign, ink = ("✗", _BAD) if bad else ("=", MUTED) if one.same else ("≠", _WARN)
    word = t("incident.same" if one.same else "incident.different")
    if check is not None:
        word = t(f"incident.check.{check.state}", name=one_line(check.check.name, 60))
    out = [fitted([(f"{sign} ", ink), (one_line(one.tool, 60), TEXT), (f"  {word}", MUTED)], width)]
    if not expanded:
        return out
    if check is not None and check.diff:
        out += source_rows("diff", clean(check.diff), width)
    if not one.same:
        for label, text in (("incident.before", one.before), ("incident.after", one.after)):
            out.append(Line([(t(label), MUTED)]))
            out += prefixed(wrap([(clean(text), TEXT)], width - 2), ("│ ", MUTED), ("│ ", MUTED))
    return out


def as_text(item: ServerItem) -> str:
    """The card as text to copy, cleaned."""
    return clean(f"{item.server}: {item.text}")
