"""What came of a lab, condition beside condition: one value for programs, Markdown for people.

Pure functions of the rows. A run that hel or the endpoint failed in says nothing of its condition: it is told
apart and in no figure but the cost. Not here: the rows (running, keeping).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hel_tui.foreign import plain_line
from hel_tui.labs.lab import Condition, Lab

Row = dict[str, Any]
AVERAGES = (
    "model_calls",
    "tool_calls",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "seconds",
)
_LABELS = {
    "model_calls": "model calls a run",
    "tool_calls": "tool calls a run",
    "input_tokens": "input tokens a run",
    "cached_tokens": "of them cached",
    "output_tokens": "output tokens a run",
    "reasoning_tokens": "of them thought",
    "seconds": "seconds a run",
}


def report(lab: Lab, conditions: Sequence[Condition], rows: Sequence[Row], wanted: int) -> dict[str, Any]:
    """The comparison. `wanted` is how many runs each condition is to have."""
    told = [_condition(lab, one, [row for row in rows if row["condition"] == one.name]) for one in conditions]
    held = [one["as_expected"] for one in told if one["as_expected"] is not None]
    return {
        "lab": lab.name,
        "about": lab.about,
        "revision": lab.revision,
        "digest": lab.digest,
        "hel": sorted({str(row.get("hel", "")) for row in rows}),
        "complete": all(one["runs"] >= wanted for one in told),
        "as_expected": all(held) if held else None,
        "conditions": told,
    }


def _condition(lab: Lab, condition: Condition, rows: Sequence[Row]) -> dict[str, Any]:
    over = [row for row in rows if not row.get("error")]
    passed = sum(row["passed"] for row in over)
    costs = [row["cost"] for row in rows if row.get("cost") is not None]
    return {
        "condition": condition.name,
        "about": condition.about,
        "model": sorted({row["model"] for row in rows}),
        "effort": sorted({row["effort"] for row in rows if row.get("effort")}),
        "runs": len(over),
        "passed": passed,
        "expected": condition.expect or None,
        "as_expected": _is_expected(condition, passed, len(over)),
        "checks": {one.name: sum(_holds(row, one.name) for row in over) for one in lab.passes},
        "notes": {one.name: sum(row["notes"].get(one.name, False) for row in over) for one in lab.notes},
        "called_before_loading": sum(row["called_before_loading"] > 0 for row in over),
        "average": {key: _average([row[key] for row in over]) for key in AVERAGES},
        "cost": round(sum(costs), 6) if costs else None,
        "unpriced": sum(row.get("unpriced", 0) for row in rows),
        "ended": dict(Counter(row["ended"] for row in over)),
        "server_calls": [
            {"calls": list(calls), "runs": number}
            for calls, number in Counter(tuple(row["server_calls"]) for row in over).most_common()
        ],
        "errors": [{"run": row["run"], "error": row["error"]} for row in rows if row.get("error")],
        "missed": [
            {"why": why, "runs": number} for why, number in Counter(map(_why, over)).most_common() if why
        ],
    }


def _is_expected(condition: Condition, passed: int, runs: int) -> bool | None:
    """None where nothing is expected, or nothing was run."""
    if not condition.expect or not runs:
        return None
    return passed == (runs if condition.expect == "all" else 0)


def _holds(row: Row, name: str) -> bool:
    return any(check["passed"] for check in row["checks"] if check["name"] == name)


def _why(row: Row) -> str:
    """Why a run did not pass; empty when it did."""
    return "; ".join(f"{one['name']}: {one['why']}" for one in row["checks"] if not one["passed"])


def _average(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 2) if values else None


# ----------------------------------------------------------------- Markdown


def markdown(told: dict[str, Any]) -> str:
    """The comparison as a document with one table."""
    conditions: list[dict[str, Any]] = told["conditions"]
    lines = [f"# {told['lab']}", ""]
    if told["about"]:
        lines += [_plain(told["about"]), ""]
    lines += _table(conditions)
    for one in conditions:
        lines += _reasons(one)
    models = ", ".join(sorted({model for one in conditions for model in one["model"]}))
    made_with = f"model {_plain(models or 'none yet')}; hel {_plain(', '.join(told['hel']) or 'none yet')}"
    lines += ["", f"Revision {told['revision']}, {told['digest'][:12]}; {made_with}."]
    if not told["complete"]:
        lines += ["", "Not all runs were made: the same command goes on with the rest."]
    return "\n".join(lines) + "\n"


def _table(conditions: Sequence[dict[str, Any]]) -> list[str]:
    """A line a figure, a column a condition; columns are padded so that it reads in a terminal, too."""
    head = [one["condition"] + (f" ({one['about']})" if one["about"] else "") for one in conditions]
    rows = [("", head)]
    voices = [" ".join((*one["model"], *one["effort"])) for one in conditions]
    if len(set(voices)) > 1:
        rows.append(("model", voices))
    rows.append(("passed", [f"{one['passed']}/{one['runs']}" for one in conditions]))
    if any(one["expected"] for one in conditions):
        rows.append(("expected", [_expected(one) for one in conditions]))
    for kind in ("checks", "notes"):
        for name in conditions[0][kind]:
            rows.append((name, [f"{one[kind][name]}/{one['runs']}" for one in conditions]))
    rows.append(
        ("called before loading", [f"{one['called_before_loading']}/{one['runs']}" for one in conditions])
    )
    rows += [(_LABELS[key], [_figure(one["average"][key]) for one in conditions]) for key in AVERAGES]
    rows.append(("cost of all runs, dollars", [_cost(one) for one in conditions]))
    rows.append(("ended", [", ".join(f"{k} {n}" for k, n in one["ended"].items()) for one in conditions]))
    rows.append(("calls servers saw", [_orders(one) for one in conditions]))
    cells = [[_cell(name), *map(_cell, texts)] for name, texts in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def _expected(one: dict[str, Any]) -> str:
    if not one["expected"]:
        return ""
    held = {True: ", held", False: ", NOT HELD", None: ""}[one["as_expected"]]
    return f"{one['expected']}{held}"


def _cost(one: dict[str, Any]) -> str:
    if one["cost"] is None:
        return "unknown" if one["unpriced"] else ""
    return f"{one['cost']:.4f}" + (" and more" if one["unpriced"] else "")


def _orders(one: dict[str, Any]) -> str:
    return "; ".join(f"{' → '.join(each['calls']) or 'none'} ×{each['runs']}" for each in one["server_calls"])


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}".removesuffix(".00")


def _reasons(one: dict[str, Any]) -> list[str]:
    """Why runs of a condition did not pass, or came to nothing."""
    found = [f"- {_plain(each['why'])} (×{each['runs']})" for each in one["missed"]]
    found += [f"- run {each['run']} came to nothing: {_plain(each['error'])}" for each in one["errors"]]
    return ["", f"{one['condition']}, runs that did not pass:", "", *found] if found else []


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Words of a model or a server as one harmless line, that no Markdown makes into a tag."""
    return plain_line(text).replace("<", "&lt;")
