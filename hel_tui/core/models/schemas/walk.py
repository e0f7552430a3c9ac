"""One schema and all schemas inside it, rewritten for a family of providers; every change is noted.

The steps in order: references, shapes, combinations, type, values and bounds, what is inside, notes.
Not here: the rules of single keywords (repair, forms, merging), a tool as a whole (adapt).
"""

from __future__ import annotations

from typing import Any

from hel_tui.core.models.schemas.combining import COMBINING, combined
from hel_tui.core.models.schemas.containers import NOTES, array_form, object_form, plain_form
from hel_tui.core.models.schemas.forms import any_value, bounded, settle_type, spread
from hel_tui.core.models.schemas.hints import described
from hel_tui.core.models.schemas.merging import both
from hel_tui.core.models.schemas.opening import cut, opened
from hel_tui.core.models.schemas.profile import HOUSE_PROPERTY_DESCRIPTION
from hel_tui.core.models.schemas.references import reference_in
from hel_tui.core.models.schemas.work import MOST_SCHEMAS, Spot, canonical
from hel_tui.core.vocabulary import Json

LOGIC = frozenset(
    [
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "contains",
        "minContains",
        "maxContains",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "unevaluatedProperties",
        "unevaluatedItems",
        "additionalItems",
        "contentSchema",
        "extends",
        "disallow",
        "divisibleBy",
    ]
)
"""Keywords that no family holds a model to: they are told in words."""
_SETTLED_LATER = frozenset({*COMBINING, "const", "nullable", "prefixItems", "additionalProperties"})
_NULL: Json = {"type": "null"}
_NULL_TEXT = "Always null."


def rewritten(given: Any, spot: Spot) -> Json:
    """The schema as the model gets it."""
    spot.work.schemas += 1
    if spot.work.schemas > MOST_SCHEMAS:
        spot.work.problem = f"its schema has more than {MOST_SCHEMAS:,} parts"
        return {}
    node, spot = opened(given, spot)
    node, spot = combined(cut(node, spot), spot)
    out = _noted(_written(_taken(node, spot), spot), node, spot)
    return {key: out[key] for key in node if key in out} | out


def _taken(node: Json, spot: Spot) -> Json:
    """Without keywords nobody holds a model to, and without those the family refuses."""
    out: Json = {}
    for key, value in node.items():
        if key in LOGIC:
            if key != "additionalItems" or not isinstance(node.get("items"), list):
                spot.lose(key, value)
            spot.say("logic", f"{key} is told in words, if at all")
        elif key in _SETTLED_LATER or spot.profile.takes(key):
            out[key] = value
        elif key not in NOTES:
            spot.lose(key, value)
            spot.say("keyword", f"{key} is left out: {spot.profile.name} does not take it")
    if not spot.profile.takes("additionalProperties") and "additionalProperties" in out:
        spot.say("keyword", f"additionalProperties is left out: {spot.profile.name} does not take it")
    if isinstance(node.get("items"), list) and "additionalItems" in node:
        out["additionalItems"] = node["additionalItems"]
    return out


def _written(node: Json, spot: Spot) -> Json:
    """The schema without its notes, with everything inside it rewritten."""
    alternative = next((key for key in COMBINING if key in node), "")
    if alternative:
        return _choice(node, alternative, spot)
    kinds = settle_type(node, spot)
    bounded(node, spot)
    node.pop("type", None)
    if not kinds:
        return any_value(spot)
    real = [kind for kind in kinds if kind != "null"]
    if not real:
        return _only_null(spot)
    if len(real) > 1 and (not spot.profile.type_lists or "object" in real or "array" in real):
        spot.say("types", "each type is a variant of its own")
        return _choice({"anyOf": spread(node, kinds)}, "anyOf", spot)
    if real == ["object"]:
        out = object_form(node, spot)
    elif real == ["array"]:
        out = array_form(node, spot)
    else:
        out = plain_form(node, real, spot)
    out.pop("additionalItems", None)
    return _with_null(out, spot) if "null" in kinds else out


def _only_null(spot: Spot) -> Json:
    if not spot.profile.nullable:
        return dict(_NULL)
    spot.hints.append(_NULL_TEXT)
    spot.say("null", "null alone is a text that may be null")
    return {"type": "string", "nullable": True}


def _with_null(out: Json, spot: Spot) -> Json:
    """A schema that may be null, too, in the form the family takes."""
    profile = spot.profile
    if profile.nullable:
        spot.say("null", "null is said by nullable")
        return {**out, "nullable": True}
    if profile.type_lists:
        kinds = out["type"] if isinstance(out["type"], list) else [out["type"]]
        out = {**out, "type": [*kinds, "null"]}
        if "enum" in out and None not in out["enum"]:
            spot.say("null", "null is among the values, too")
            out["enum"] = [*out["enum"], None]
        return out
    spot.say("null", "null is a variant of its own")
    if None in out.get("enum", ()):
        out = {**out, "enum": [value for value in out["enum"] if value is not None]}
    return {"anyOf": [out, dict(_NULL)]}


# ------------------------------------------------------------------------- choices


def _choice(node: Json, key: str, spot: Spot) -> Json:
    """A choice of schemas, each rewritten: one alone is no choice, and null may be no variant."""
    members = list(node[key])
    outer = {name: value for name, value in node.items() if name != key and name not in NOTES}
    if outer.pop("nullable", None) is True:
        members.append(_NULL)
        spot.say("null", "null is a variant of its own")
    if outer:
        members = [_pushed(outer, one, spot.part(key, str(n))) for n, one in enumerate(members)]
        spot.say("variants", f"{', '.join(outer)} stands in each variant instead of beside {key}")
    inner = [spot.work.rewrite(one, spot.inside(key, str(number))) for number, one in enumerate(members)]
    if key == "allOf":
        return {key: inner}
    variants = [each for one in inner for each in (one["anyOf"] if set(one) == {"anyOf"} else [one])]
    flat: list[Json] = list({canonical(one): one for one in reversed(variants)}.values())[::-1]
    if flat != inner:
        spot.say("variants", "variants inside variants, and equal ones, are one list")
    if spot.profile.nullable:
        flat = _flagged(flat, spot)
    if len(flat) == 1:
        spot.say("variants", f"{key} of one schema is that schema")
        return flat[0]
    return {key if key in spot.profile.combinators else "anyOf": flat}


def _pushed(outer: Json, member: Any, spot: Spot) -> Any:
    """A variant with what stands beside the choice; it gives way where the two cannot be joined."""
    if not isinstance(member, dict):
        return outer if member is True else member
    if reference_in(member):
        return {"allOf": [outer, member]}
    if "type" in outer and member.get("type") == "null":
        return member
    return both(member, outer, spot.hints)


def _flagged(variants: list[Json], spot: Spot) -> list[Json]:
    """Variants without the one that is null; the first that stays may be null instead."""
    real = [one for one in variants if one.get("description") != _NULL_TEXT or one.get("type") != "string"]
    if len(real) == len(variants) or not real:
        return variants
    spot.say("null", "null is said by nullable")
    return [{**real[0], "nullable": True}, *real[1:]]


# --------------------------------------------------------------------------- notes


def _noted(out: Json, node: Json, spot: Spot) -> Json:
    """The schema with its title, description and default; what it no longer says is in the description."""
    hints = [one for one in dict.fromkeys(spot.hints) if one]
    if not spot.path:
        spot.work.hints += hints
        hints = []
    own = out.get("description", "") if "description" not in node else ""
    text = node.get("description", own)
    told = described(text, hints, HOUSE_PROPERTY_DESCRIPTION)
    if told != node.get("description", ""):
        spot.say("description", "the description tells what the schema no longer says, or is cut")
    notes: Json = {}
    for key in ("title", "default"):
        if key in node and spot.profile.takes(key):
            notes[key] = node[key]
        elif key in node:
            spot.say("keyword", f"{key} is left out: {spot.profile.name} does not take it")
    if told or "description" in node:
        notes["description"] = told
    if spot.profile.anyof_alone and "anyOf" in out:
        return _inside(out, notes, spot)
    return {**out, **notes}


def _inside(out: Json, notes: Json, spot: Spot) -> Json:
    """`anyOf` alone: the description moves into its first variant."""
    first, *others = out["anyOf"]
    if not notes:
        return out
    spot.say("variants", "nothing may stand beside anyOf: the description is in its first variant")
    text = " ".join(filter(None, (notes.get("description", ""), first.get("description", ""))))
    if text:
        first = {**first, "description": text[:HOUSE_PROPERTY_DESCRIPTION]}
    return {"anyOf": [first, *others]}
