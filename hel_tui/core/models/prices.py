"""List prices and windows of models, from a table made of the data package genai-prices.

Prices belong to an address: what a person calls it says nothing. `.ci/prices.py` makes the table
(prices.json), which is read when it is first needed (4 ms). Not here: what a request cost (types.Prices),
sums (agent).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from hel_tui.core.models.types import Prices, Rate, When


@dataclass(frozen=True, slots=True)
class Listed:
    """What the table has of a model. `window` in tokens, 0 when it does not say."""

    window: int = 0
    prices: Prices | None = None


def listed(base_url: str, model: str) -> Listed:
    """What is known of a model at an address; nothing where the address or the model is not in the table."""
    providers = _table()["providers"]
    address = base_url if base_url.endswith("/") else f"{base_url}/"
    for provider in providers.values():
        if _is_at(provider["address"], address):
            name = model.lower()
            for one in (provider, *(providers[other] for other in provider["also"] if other in providers)):
                for match, window, rows in one["models"]:
                    if _fits(match, name):
                        return Listed(window, _prices(rows))
            break
    return Listed()


@cache
def made_from() -> str:
    """The data package and its version, such as `genai-prices 0.2.3`."""
    return str(_table()["made_from"])


@cache
def _table() -> Any:
    return json.loads(files("hel_tui.core.models").joinpath("prices.json").read_text("utf-8"))


def _is_at(pattern: str, address: str) -> bool:
    """Whether the pattern fits the address up to the end of a name in it."""
    found = re.match(pattern, address)
    return found is not None and (found[0][-1:] in ("/", ".") or address[found.end()] in "/:")


def _fits(match: list[Any], name: str) -> bool:
    how, what = match
    match how:
        case "is":
            return bool(name == what)
        case "begins":
            return name.startswith(what)
        case "ends":
            return name.endswith(what)
        case "has":
            return what in name
        case "fits":
            return re.search(what, name) is not None
        case "any":
            return any(_fits(one, name) for one in what)
        case _:
            return all(_fits(one, name) for one in what)


def _prices(rows: list[Any]) -> Prices:
    """The first row holds where no later one does; of those that hold, the last counts."""
    first, *later = [(condition, _rates(lists)) for condition, lists in rows]
    return Prices(first[1], tuple((_when(condition), rates) for condition, rates in later))


def _when(condition: Any) -> When:
    if isinstance(condition, list):
        return When(minutes=(condition[0], condition[1]))
    return When(since=condition or "")


def _rates(lists: list[Any]) -> tuple[Rate, ...]:
    base, *tiers = lists
    return (_rate(0, base), *(_rate(start, one) for start, one in tiers))


def _rate(start: int, one: list[float | None]) -> Rate:
    """Cached input costs what other input does where nothing else is listed, and so does what is written."""
    given, cached, output, written = one
    assert given is not None and output is not None
    return Rate(given, given if cached is None else cached, output, written, start)
