"""Names of properties that a provider refuses, and the names the model uses instead.

A pure function of all names in a schema. Not here: putting arguments' names back (restore).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any

from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.schemas.references import DATA_KEYS
from hel_tui.core.vocabulary import Json

DIGITS = 6
"""Of a hash that makes a name unlike another."""
LENGTH = 64


def replaced_names(root: Json, profile: SchemaProfile) -> dict[str, str]:
    """By refused name, its stand-in: unlike every other name in the schema. Empty when all may stay."""
    names = list(dict.fromkeys(_names(root)))
    refused = [name for name in names if not profile.takes_name(name)]
    taken = set(names) - set(refused)
    out: dict[str, str] = {}
    for name in sorted(refused):
        cleaned = _cleaned(name)
        if cleaned in taken or not profile.takes_name(cleaned):
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            cleaned = _unlike(cleaned, digest, taken)
        taken.add(cleaned)
        out[name] = cleaned
    return out


def _cleaned(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)
    if text.strip("_"):
        text = text.strip("_")
    text = text if re.match("[A-Za-z_]", text) else f"p_{text}"
    return text if len(text) <= LENGTH else text[:LENGTH]


def _unlike(name: str, digest: str, taken: set[str]) -> str:
    for size in range(DIGITS, len(digest)):
        text = f"{name[: LENGTH - 1 - size]}_{digest[:size]}"
        if text not in taken:
            return text
    raise AssertionError("two names with one SHA-256")


def _names(value: Any, is_map: bool = False) -> Iterator[str]:
    """Names of properties anywhere in a schema, definitions included."""
    if isinstance(value, list):
        for one in value:
            yield from _names(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if is_map:
                yield key
                yield from _names(one)
            elif key == "required" and isinstance(one, list):
                yield from (name for name in one if isinstance(name, str))
            elif key not in DATA_KEYS:
                yield from _names(one, key == "properties")
