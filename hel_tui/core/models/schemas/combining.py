"""Combinations of schemas settled: allOf merged, the top made one object, oneOf said as anyOf.

Not here: merging two schemas (merging), the choices that stay (walk).
"""

from __future__ import annotations

from hel_tui.core.models.schemas.hints import alternatives
from hel_tui.core.models.schemas.merging import any_object, both
from hel_tui.core.models.schemas.opening import opened
from hel_tui.core.models.schemas.work import Spot
from hel_tui.core.vocabulary import Json

COMBINING = ("allOf", "oneOf", "anyOf")
MOST_ROUNDS = 40
"""How often merging may bring new combinations."""
_CONDITIONS = ("if", "then", "else", "not")


def combined(node: Json, spot: Spot) -> tuple[Json, Spot]:
    """The schema without those combinations that may not stay in it, and the spot with all references that
    led to its parts.
    """
    is_top = not spot.path
    for _ in range(MOST_ROUNDS):
        if "allOf" in node and (is_top or "allOf" not in spot.profile.combinators or len(node) > 1):
            node, spot = _all(node, spot)
        elif is_top and ("oneOf" in node or "anyOf" in node):
            node, spot = _any_at_top(node, spot)
        else:
            break
    else:
        spot.say("depth", "combinations inside combinations are cut")
        node = {key: value for key, value in node.items() if key not in COMBINING}
    if is_top:
        return _object_at_top(node, spot), spot
    if "oneOf" in node and "oneOf" not in spot.profile.combinators:
        return _any_for_one(node, spot), spot
    return node, spot


def _object_at_top(node: Json, spot: Spot) -> Json:
    for key in (*COMBINING, "enum", "const", "nullable"):
        if key in node:
            node = {name: value for name, value in node.items() if name != key}
            spot.say("top", f"{key} may not stand at the top and is left out")
    if node.get("type") != "object":
        spot.say("top", "type is object: arguments are one")
    return {**node, "type": "object"}


def _any_for_one(node: Json, spot: Spot) -> Json:
    out = {key: value for key, value in node.items() if key != "oneOf"}
    if "anyOf" in node:
        spot.hints.append("Of several forms described here exactly one must fit.")
    out["anyOf"] = [*node.get("anyOf", ()), *node["oneOf"]]
    spot.say("one-of", "oneOf is anyOf: no provider holds a model to exactly one")
    return out


def _all(node: Json, spot: Spot) -> tuple[Json, Spot]:
    """`allOf` merged into the schema it stands in."""
    out = {key: value for key, value in node.items() if key != "allOf"}
    joined = spot
    for number, member in enumerate(node["allOf"]):
        part, here = opened(member, spot.part("allOf", str(number)))
        joined = joined.reached(here)
        for key in _CONDITIONS:
            if key in part:
                spot.lose(key, part[key])
        out = both(out, {key: one for key, one in part.items() if key not in _CONDITIONS}, spot.hints)
    spot.say("all-of", "allOf is merged: all its properties and all its requirements")
    return out, joined


def _any_at_top(node: Json, spot: Spot) -> tuple[Json, Spot]:
    """`oneOf` or `anyOf` at the top as one object: the properties of all, required what all require."""
    key = "oneOf" if "oneOf" in node else "anyOf"
    out = {name: value for name, value in node.items() if name != key}
    variants: list[Json] = []
    joined = spot
    for number, member in enumerate(node[key]):
        part, here = opened(member, spot.part(key, str(number)))
        for _ in range(MOST_ROUNDS):
            if "allOf" in part:
                part, here = _all(part, here)
            elif "oneOf" in part or "anyOf" in part:
                part, here = _any_at_top(part, here)
            else:
                break
        joined = joined.reached(here)
        if "object" in part.get("type", "object"):
            variants.append(part)
        else:
            here.say("top", f"left out: arguments are an object, never {part['type']}")
    if variants:
        spot.hints.append(alternatives(variants, exclusive=key == "oneOf" and len(variants) > 1))
        out = any_object(out, variants)
    rule = "one-of" if key == "oneOf" else "any-of"
    spot.say(rule, f"{key} is merged into one object: no provider takes it at the top")
    return out, joined
