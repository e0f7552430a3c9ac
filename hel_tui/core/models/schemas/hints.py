"""Sentences for a description that say in words what a schema can no longer say by keywords.

Short, plain, made of the keyword's own value. Not here: which keywords go (walk).
"""

from __future__ import annotations

import json
from typing import Any

from hel_tui.core.vocabulary import Json
from hel_tui.foreign import for_model

MOST = 240
"""Characters of one hint."""


def brief(value: Any, most: int = MOST) -> str:
    """A value as short JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 1] + "…"


_PHRASES = {
    "pattern": "Pattern: {}.",
    "format": "Format: {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
    "minProperties": "At least {} properties.",
    "maxProperties": "At most {} properties.",
    "minimum": "At least {}.",
    "maximum": "At most {}.",
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "default": "Default: {}.",
    "examples": "Examples: {}.",
    "example": "Example: {}.",
    "const": "Always {}.",
    "not": "Not: {}.",
    "if": "If {}.",
    "then": "Then {}.",
    "else": "Else {}.",
    "patternProperties": "Properties by pattern of their name: {}.",
    "propertyNames": "Names of properties: {}.",
    "dependentRequired": "Needed together: {}.",
    "dependencies": "Needed together: {}.",
    "dependentSchemas": "Where given, this holds too: {}.",
    "contains": "Some item: {}.",
    "additionalProperties": "Further properties: {}.",
    "contentMediaType": "Content: {}.",
    "contentEncoding": "Encoding: {}.",
}
_BARE = ("pattern", "format", "contentMediaType", "contentEncoding")


def hint(key: str, value: Any) -> str:
    """What losing this keyword takes from the model; "" when it is nothing to speak of."""
    if key == "uniqueItems":
        return "No item twice." if value is True else ""
    if key == "readOnly" and value is True:
        return "Set by the server."
    phrase = _PHRASES.get(key)
    if phrase is None or value in (None, "", [], {}) or isinstance(value, bool):
        return ""
    text = str(value)[:MOST] if key in _BARE else brief(value)
    return for_model(phrase.replace("{}", text))


def alternatives(variants: list[Json], exclusive: bool) -> str:
    """What the variants of an object ask for, each; "" when they do not differ in it."""
    sets = [_asks(one) for one in variants]
    if len({*sets}) < 2 and not any(sets):
        return ""
    head = "Exactly one of these holds" if exclusive else "At least one of these holds"
    body = "; ".join(f"({number}) {text or 'nothing more is needed'}" for number, text in enumerate(sets, 1))
    text = f"{head}: {body}."
    return for_model(text if len(text) <= 3 * MOST else text[: 3 * MOST - 1] + "…")


def _asks(variant: Json) -> str:
    properties = variant.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    words: list[str] = []
    required = variant.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    for name in dict.fromkeys([*names, *properties]):
        one = properties.get(name)
        values = _fixed(one) if isinstance(one, dict) else None
        if values is not None:
            words.append(f"{name} = {values}")
        elif name in names:
            words.append(name)
    if not words and isinstance(title := variant.get("title"), str):
        return title[:60]
    return ", ".join(words)


def _fixed(schema: Json) -> str | None:
    if "const" in schema:
        return brief(schema["const"], 60)
    values = schema.get("enum")
    return " or ".join(brief(one, 40) for one in values[:4]) if isinstance(values, list) and values else None


def described(description: Any, hints: list[str], most: int) -> str:
    """A description with its hints behind it, at most so many characters; the description is cut first."""
    text = description if isinstance(description, str) else ""
    tail = for_model(" ".join(dict.fromkeys(one for one in hints if one)))
    if len(tail) > most // 2:
        tail = tail[: most // 2 - 1] + "…"
    room = most - len(tail) - 1 if tail else most
    if len(text) > room:
        text = text[: max(room - 1, 0)].rstrip() + "…"
    return f"{text} {tail}" if text and tail else text or tail
