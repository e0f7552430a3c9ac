"""The texts of the checks and of a renewal. Pure functions from what was read to lines.

Not here: keys and where it is drawn (checks, renewal).
"""

from __future__ import annotations

from collections.abc import Sequence

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.pane import FRAME, LABEL, diff_lines, foreign, framed, one_line
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.screens.call.compare import beside, text_diff
from hel_tui.tui.screens.server.texts import change_lines
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad
from hel_tui.tui.widgets.log import stamp
from hel_tui.tui.widgets.sheet import Choice, SheetLine

STATES: dict[str, tuple[str, str]] = {
    "passed": ("✓", "ok"),
    "failed": ("✗", "bad"),
    "error": ("!", "bad"),
    "skipped": ("-", "muted"),
    "": ("·", "muted"),
}
"""Sign and style of how a check went; a word stands beside it, so that neither alone says it."""
_NAME = 40
_SIGNS = {"~": "warn", "-": "bad", "+": "ok"}


# ----------------------------------------------------------------------- checks


def checks_lines(rows: Sequence[p.CheckRow], results: Sequence[p.CheckResult]) -> list[SheetLine]:
    """Every check with its state, by server: lines to choose from."""
    if not rows:
        return [[(t("checks.none"), "muted")], [(t("checks.how"), "muted")]]
    went = {result.check.name: result for result in results}
    lines: list[SheetLine] = []
    server = None
    for row in sorted(rows, key=lambda one: (one.server, one.name)):
        if row.server != server:
            server = row.server
            lines.append([(one_line(ForeignText(server)) or t("checks.no_server"), "strong")])
        state = "error" if row.problem else went[row.name].state if row.name in went else ""
        sign, style = STATES[state]
        line: list[Part] = [
            (f"  {sign} ", style),
            (pad(t(f"checks.state.{state or 'none'}"), 11), style),
            (pad(one_line(ForeignText(row.name)), _NAME), ""),
            (f" {one_line(ForeignText(row.tool))} · {t(f'checks.kind.{row.kind}')}", "muted"),
        ]
        lines.append(Choice(row.name, line))
    return lines


def summary(rows: Sequence[p.CheckRow], results: Sequence[p.CheckResult]) -> str:
    """How many there are, and how those went that were run last."""
    told = t("checks.count", n=len(rows))
    if not results:
        return told
    passed = sum(result.state == "passed" for result in results)
    failed = sum(result.state in ("failed", "error") for result in results)
    return f"{told} · {t('checks.went', passed=passed, failed=failed)}"


def check_lines(row: p.CheckRow | None, result: p.CheckResult | None) -> list[SheetLine]:
    """One check: where it is saved, and how it went when it was run last."""
    if row is None:
        return []
    facts = [
        ("checks.file", row.file),
        ("checks.calls", f"{row.server}.{row.tool}"),
        ("checks.took", f"{result.seconds:.2f} s" if result is not None and result.seconds else ""),
    ]
    lines: list[SheetLine] = [
        [(pad(t(key), 10), LABEL), (foreign(ForeignText(value)), "")] for key, value in facts if value
    ]
    message = row.problem or (result.message if result is not None else "")
    if message:
        lines += [[], *framed(ForeignText(message), "bad" if row.problem or _is_bad(result) else "muted")]
    if result is None and not row.problem:
        lines += [[], [(t("checks.not_run"), "muted")]]
    elif result is not None and result.state == "passed":
        lines += [[], [(t("checks.as_expected"), "ok")]]
    elif result is not None and result.diff:
        lines += [[], [(t("checks.diff"), "strong")], *diff_lines(ForeignText(result.diff))]
    return lines


def _is_bad(result: p.CheckResult | None) -> bool:
    return result is not None and result.state in ("failed", "error")


# ---------------------------------------------------------------------- renewals


def head_line(renewal: p.Renewal) -> Line:
    """Which server, when, and whether the new generation answers."""
    is_new = renewal.state == "renewed"
    return [
        (f" {'✓' if is_new else '▲'} ", "ok" if is_new else "warn"),
        (one_line(ForeignText(renewal.server)), "strong"),
        (f" · {t(f'renewal.{renewal.state}')} · {stamp(renewal.time)}", "muted"),
    ]


def calls_lines(
    renewal: p.Renewal, change: p.ListChangeDetail | None, failure: p.ServerFailure | None
) -> list[SheetLine]:
    """What was saved, the calls that were made again, and what is different about the tools."""
    lines: list[SheetLine] = []
    saved = one_line(ForeignText(", ".join(renewal.files)))
    lines.append([(pad(t("renewal.saved"), 10), LABEL), (saved, "")])
    if renewal.state == "broken":
        lines += [[], *framed(ForeignText(renewal.reason), "bad")]
        if failure is not None:
            lines += [[(FRAME, "frame"), (foreign(ForeignText(line)), "muted")] for line in failure.stderr]
        return lines
    is_any = bool(renewal.reruns) or renewal.running
    lines += [[], [(t("renewal.calls"), "strong") if is_any else (t("renewal.no_calls"), "muted")]]
    for at, one in enumerate(renewal.reruns):
        sign, style, word = _rerun(one)
        name = one.check.check.name if one.check is not None else ""
        told: list[Part] = [(f"  {sign} ", style), (pad(word, 14), style)]
        told.append((one_line(ForeignText(f"{one.tool} {' '.join(one.arguments.split())}"))[:200], ""))
        told += [(f"  {t('renewal.check', name=one_line(ForeignText(name)))}", "muted")] if name else []
        lines.append(Choice(str(at), told))
    if renewal.running:
        lines.append([(f"  {t('renewal.running')}", "muted")])
    if change is not None:
        lines += [[], [(t("renewal.tools"), "strong")], *change_lines(change)]
    return lines


def _rerun(one: p.Rerun) -> tuple[str, str, str]:
    """Sign, style and word for how a call went that was made again."""
    if one.check is not None and one.check.state != "passed":
        sign, style = STATES[one.check.state]
        return sign, style, t(f"checks.state.{one.check.state}")
    if one.failed:
        return "✗", "bad", t("renewal.failed")
    return ("=", "ok", t("renewal.same")) if one.same else ("≠", "warn", t("renewal.other"))


def rerun_lines(one: p.Rerun | None, width: int, *, as_diff: bool) -> list[SheetLine]:
    """Old and new result: beside each other where there is room, else as a difference."""
    if one is None:
        return []
    lines: list[SheetLine] = []
    if one.check is not None and one.check.state != "passed":
        lines += framed(ForeignText(one.check.message), "bad")
        lines += [*diff_lines(ForeignText(one.check.diff)), []]
    if one.same:
        return [*lines, [(t("renewal.both"), "muted")], *framed(ForeignText(one.after))]
    names = (t("renewal.old"), t("renewal.new"))
    if as_diff or width < 60:
        return [*lines, *diff_lines(ForeignText(text_diff(one.before, one.after, names)))]
    half = (width - 5) // 2
    lines.append([(f"  {pad(names[0], half)} │ ", "muted"), (names[1], "muted")])
    for sign, left, right in beside(one.before, one.after):
        style = _SIGNS.get(sign, "")
        lines.append(
            [
                (f"{sign} ", style or "muted"),
                (pad(one_line(ForeignText(left)), half), style if sign != "+" else ""),
                (" │ ", "frame"),
                (cut(one_line(ForeignText(right)), half), style if sign != "-" else ""),
            ]
        )
    return lines
