"""A schema opened: its references written out, its keywords in shape, cut where it lies too deep.

A reference that leads back to itself is cut where it does, and the whole is bounded: references to references
grow without end. Not here: what becomes of the keywords (walk).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hel_tui.core.models.schemas.merging import both
from hel_tui.core.models.schemas.references import REFERENCE_KEYS, reference_in
from hel_tui.core.models.schemas.repair import repaired
from hel_tui.core.models.schemas.work import MOST_EXPANDED, Spot
from hel_tui.core.vocabulary import Json

_NOTES = ("title", "description", "default")
_INSIDES = ("allOf", "oneOf", "anyOf", "properties", "items", "prefixItems", "additionalProperties")


def opened(given: Any, spot: Spot) -> tuple[Json, Spot]:
    """A well-formed schema without reference, and the spot with the references that led to it."""
    if not isinstance(given, dict):
        _boolean(given, spot)
        return {}, spot
    node: Json = given
    while reference := reference_in(node):
        beside = {key: value for key, value in node.items() if key not in REFERENCE_KEYS}
        target = spot.work.references.find(reference)
        is_back = reference in spot.chain
        if not isinstance(target, dict | bool):
            spot.say("reference", f"{reference[:100]} leads nowhere in this schema: any value")
            node = beside
        elif is_back or spot.work.expanded >= MOST_EXPANDED:
            why = "it leads back to itself" if is_back else "the whole would be too large"
            spot.say("reference", f"{reference[:100]} is cut: {why}")
            if is_back:
                spot.hints.append("Of the same form as what it is part of.")
            node = _head(target) | beside
        else:
            spot = replace(spot, chain=(*spot.chain, reference))
            spot.work.expanded += _size(target)
            spot.say("reference", f"{reference[:100]} is written out")
            node = _put(target, beside, spot)
    return repaired(node, spot), spot


def _boolean(given: Any, spot: Spot) -> None:
    if given is True:
        spot.say("boolean", "true is a schema for any value")
    elif given is False:
        spot.say("boolean", "false is a schema no value fits; it can only be said in words")
        spot.hints.append("No value fits.")


def _put(target: Any, beside: Json, spot: Spot) -> Json:
    """What a reference means, together with what stands beside it: notes there win, rules hold as well."""
    if not isinstance(target, dict):
        _boolean(target, spot)
        return beside
    rest = {key: value for key, value in beside.items() if key not in _NOTES}
    notes = {key: value for key, value in beside.items() if key in _NOTES}
    if not rest:
        return target | notes
    if reference_in(target):
        return {"allOf": [target, rest]} | notes
    return both(repaired(target, spot), repaired(rest, spot), spot.hints) | notes


def _head(target: Any) -> Json:
    """What of a schema can be said without what is in it."""
    if not isinstance(target, dict):
        return {}
    return {key: target[key] for key in ("type", "description") if key in target}


def _size(value: Any) -> int:
    """How many objects a schema consists of."""
    if isinstance(value, list):
        return sum(map(_size, value))
    return 1 + sum(map(_size, value.values())) if isinstance(value, dict) else 0


def cut(node: Json, spot: Spot) -> Json:
    """The schema without what is inside it, where it lies as deep as may be."""
    if spot.level < spot.profile.max_depth or not any(key in node for key in _INSIDES):
        return node
    most = spot.profile.max_depth
    spot.say("depth", f"cut here: no more than {most} levels of schemas are sent to {spot.profile.name}")
    inside = node.get("properties")
    if isinstance(inside, dict) and inside:
        spot.hints.append(f"Has {', '.join(inside)[:200]}.")
    return {key: value for key, value in node.items() if key not in (*_INSIDES, "required")}
