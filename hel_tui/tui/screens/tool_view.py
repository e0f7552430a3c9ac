"""The texts of a tool's view and of the search over tools. Pure functions from what was read to lines.

Not here: what the keys of these sheets do (commands).
"""

from __future__ import annotations

from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.pane import FRAME, LABEL, diff_lines, foreign, framed, one_line
from hel_tui.tui.safe import ForeignText
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, pad
from hel_tui.tui.widgets.log import stamp
from hel_tui.tui.widgets.tools import cost, tool_mark


def tool_lines(detail: p.ToolDetail) -> list[Line]:
    """Everything about a tool: its state and cost, its words, both schemas, what changed."""
    row = detail.row
    glyph, style, word = tool_mark(row)
    state = word or t("tool.loaded" if row.loaded else "tool.not_loaded")
    lines: list[Line] = [[(f"{glyph} {state}", style), (f" · {cost(row.tokens)}", "muted")]]
    if row.reason:
        lines += framed(ForeignText(row.reason), "warn")
    facts = [
        ("tool.public", row.public),
        ("tool.claims", ", ".join(detail.claims)),
        ("tool.profile", detail.profile),
        ("tool.hash", detail.history[-1].sha256[:16] if detail.history else ""),
    ]
    lines += [[(pad(t(key), 16), LABEL), (foreign(ForeignText(value)), "")] for key, value in facts if value]
    lines += [[("⚠ ", "warn"), (one_line(ForeignText(warning)), "warn")] for warning in detail.warnings]
    lines += [*_part("tool.description"), *framed(ForeignText(detail.description or t("tool.says_nothing")))]
    lines += _schema_lines(detail)
    lines += _history_lines(detail.history)
    return lines


def _part(key: str) -> list[Line]:
    return [[], [(t(key), "strong")]]


def _schema_lines(detail: p.ToolDetail) -> list[Line]:
    """What the model gets where it differs, then the schema as the server sent it."""
    lines: list[Line] = []
    if detail.adaptations:
        lines += _part("tool.adapted")
        lines += [[(FRAME, "frame"), (one_line(ForeignText(each)), "")] for each in detail.adaptations]
    if detail.diff:
        lines += [*_part("tool.diff"), *diff_lines(ForeignText(detail.diff))]
    elif detail.given:
        lines += [[], [(t("tool.same"), "muted")]]
    lines += [*_part("tool.sent"), *framed(ForeignText(detail.sent))]
    return lines + ([*_part("tool.output"), *framed(ForeignText(detail.output))] if detail.output else [])


def _history_lines(history: Sequence[p.DefinitionChange]) -> list[Line]:
    if len(history) < 2:
        return []
    lines = _part("tool.history")
    for change in history:
        lines.append([(f"{stamp(change.time)}  ", "muted"), (change.sha256[:16], "strong")])
        lines += diff_lines(ForeignText(change.diff))
    return lines


def search_lines(trace: p.SearchTrace) -> list[Line]:
    """How one search went: hits with their scores and words, and why servers are not among them."""
    by = t("search.by_model") if trace.by == "model" else t("search.by_you")
    found = t("search.found", n=trace.matched, of=trace.searched)
    lines: list[Line] = [
        [(f"{trace.number}  ", "muted"), (one_line(ForeignText(trace.query)), "strong")],
        [(f"{stamp(trace.time)} · {by} · {found}", "muted")],
    ]
    for place, hit in enumerate(trace.hits, 1):
        name = one_line(ForeignText(f"{hit.server}.{hit.raw}"))
        words = one_line(ForeignText(", ".join(hit.words)))
        lines.append([(f"{place:>3}  {hit.score:6.2f}  ", "muted"), (name, "key"), (f"  {words}", "muted")])
    for server, why in trace.absent:
        lines.append(
            [
                ("   –  ", "warn"),
                (one_line(ForeignText(server)), ""),
                (f"  {one_line(ForeignText(why))}", "muted"),
            ]
        )
    return lines


def searches_lines(traces: Sequence[p.SearchTrace]) -> list[Line]:
    """All searches of the session, the newest first."""
    if not traces:
        return [[(t("search.none"), "muted")]]
    lines: list[Line] = []
    for trace in reversed(traces):
        lines += [*search_lines(trace), []]
    return lines[:-1]
