"""Makes hel's table of prices and windows (hel_tui/core/models/prices.json) from the package genai-prices.

    pip install genai-prices==VERSION && python .ci/prices.py

The package itself is no dependency: to import it and make its two thousand models costs 0.3 s of processor in
a program that wants one of them. Not here: looking one up (hel_tui.core.models.prices).
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "hel_tui" / "core" / "models" / "prices.json"
LEFT_OUT = (
    "aws",
    "azure",
    "cursor",
    "databricks",
    "elevenlabs",
    "github-copilot",
    "openai-decisions",
    "voyageai",
)
"""Providers whose models are not reached by an address and a key, or do not talk."""
UNDERSTOOD = {"input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"}
NEVER_TAKEN = {"cache_write_1h_mtok", "web_searches_kcount", "storage_searches_kcount"}
"""What hel never asks for."""


def table() -> dict[str, Any]:
    """The whole table, plain JSON. A model with a price hel cannot count is left out: unknown, not wrong."""
    from genai_prices.data import providers

    kept = [one for one in providers if one.id not in LEFT_OUT and not one.id.startswith("huggingface")]
    return {
        "made_from": f"genai-prices {version('genai-prices')}",
        "providers": {
            one.id: {
                "address": one.api_pattern,
                "also": list(one.fallback_model_providers or ()),
                "models": [row for model in one.models if (row := _model(model)) is not None],
            }
            for one in kept
        },
    }


def _model(model: Any) -> list[Any] | None:
    """[match, window, [[condition, prices], …]]; the last condition that holds counts, as in the package."""
    conditional = model.prices if isinstance(model.prices, list) else [None]
    rows = []
    for one in conditional:
        prices = _prices(model.prices if one is None else one.prices)
        if prices is None:
            return None
        rows.append([None if one is None else _condition(one.constraint), prices])
    if not rows:
        return None
    if rows[0][0] is not None:  # where none holds the package takes the first
        rows.insert(0, [None, rows[0][1]])
    return [_match(model.match), model.context_window or 0, rows]


def _prices(prices: Any) -> list[Any] | None:
    """[input, cached, output, written], or one such list and [from tokens, list] for each tier after it."""
    given = {name: value for name, value in vars(prices).items() if value is not None and value != 0}
    modal = {
        name for name in given if "audio" in name or "image" in name or "video" in name or "document" in name
    }
    if set(given) - UNDERSTOOD - NEVER_TAKEN - modal or not {"input_mtok", "output_mtok"} <= set(
        vars(prices)
    ):
        return None
    tiers = sorted({tier.start for value in given.values() for tier in getattr(value, "tiers", ())})
    at = [0, *tiers]
    lists = [[_at(vars(prices).get(name), start) for name in _ORDER] for start in at]
    return [lists[0], *([start, one] for start, one in zip(tiers, lists[1:], strict=True))]


_ORDER = ("input_mtok", "cache_read_mtok", "output_mtok", "cache_write_mtok")


def _at(value: Any, start: int) -> float | None:
    """A price for requests with more than `start` tokens."""
    if value is None:
        return None
    tiers = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start] if start else []
    return float(tiers[-1] if tiers else getattr(value, "base", value))


def _condition(constraint: Any) -> Any:
    """None, a date from which on, or [from, to] in minutes of a day in UTC."""
    if constraint is None:
        return None
    if hasattr(constraint, "start_date"):
        return constraint.start_date.isoformat()
    start, end = constraint.start_time, constraint.end_time
    if start.utcoffset() or end.utcoffset():
        raise ValueError(f"a time that is not UTC: {constraint}")
    return [start.hour * 60 + start.minute, end.hour * 60 + end.minute]


def _match(clause: Any) -> list[Any]:
    """[how, text or clauses]."""
    for how, field in _CLAUSES.items():
        if hasattr(clause, field):
            value = getattr(clause, field)
            if isinstance(value, list):
                return [how, [_match(one) for one in value]]
            return [how, value if how == "fits" else value.lower()]
    raise ValueError(f"a clause that is not known: {clause}")


_CLAUSES = {
    "is": "equals",
    "begins": "starts_with",
    "ends": "ends_with",
    "has": "contains",
    "fits": "regex",
    "any": "or_",
    "all": "and_",
}


def written(made: dict[str, Any]) -> str:
    """The table as text: one model a line, so that a change of one can be read."""
    lines = ["{", f'"made_from": {json.dumps(made["made_from"])},', '"providers": {']
    for at, (name, one) in enumerate(made["providers"].items()):
        lines.append(f'{json.dumps(name)}: {{"address": {json.dumps(one["address"])},')
        lines.append(f'"also": {json.dumps(one["also"])},')
        rows = [json.dumps(row, separators=(",", ":")) for row in one["models"]]
        lines.append(
            '"models": [' + ",\n".join(rows) + "]}" + ("," if at < len(made["providers"]) - 1 else "")
        )
    return "\n".join([*lines, "}}", ""])


if __name__ == "__main__":
    TABLE.write_text(written(table()), encoding="utf-8")
