"""What is suspicious about a tool's own words: orders to the model, text nobody can see.

Warns and marks, never drops. Not here: what to do about it (approval dialog).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from hel_tui.core.vocabulary import Json

_SECRETS = r"\b(api[_ -]?keys?|passwords?|private keys?)\b"
_HANDING = r"\b(send|include|pass|append|attach|provide)\b"
_SOURCES: tuple[tuple[str, str], ...] = (
    (
        "tells the model to set its instructions aside",
        r"\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|system)\b",
    ),
    (
        "asks to keep something from the user",
        r"\b(do not|don't|never|without)\b.{0,30}\b(tell|inform|mention|show|notify|reveal)(ing)?\b"
        r".{0,30}\b(user|human|person|anyone)\b",
    ),
    (
        "imitates a system message",
        r"<\s*/?\s*(system|important|instructions?|admin|secret)\s*>|\[\s*(system|inst)\s*\]",
    ),
    (
        "asks for secrets or files that hold them",
        rf"(/|~)\.(ssh/|aws/|netrc\b|env\b)|\bid_rsa\b|{_SECRETS}.{{0,60}}{_HANDING}|{_HANDING}.{{0,60}}{_SECRETS}",
    ),
    (
        "orders other tools about",
        r"\b(before|instead of|after)\b.{0,20}\b(using|calling|any)\b.{0,20}\bother tools?\b",
    ),
)
_PATTERNS = tuple((phrase, re.compile(source, re.IGNORECASE)) for phrase, source in _SOURCES)
_PIECE = 20_000
"""Characters that are looked at in one go, with an overlap to the next."""
_OVERLAP = 200
_LONGEST = 1_000_000
"""Characters of a definition that are looked at; a longer one is suspicious by itself."""


def suspicions(name: str, description: str, parameters: Json) -> tuple[str, ...]:
    """Return warnings about the words of a tool definition, each as a phrase; usually none."""
    words = " ".join((description, *_strings(parameters)))
    found = ["is longer than a million characters"] if len(words) > _LONGEST else []
    words = words[:_LONGEST]
    pieces = [words[at : at + _PIECE + _OVERLAP] for at in range(0, max(len(words), 1), _PIECE)]
    found += [phrase for phrase, pattern in _PATTERNS if any(map(pattern.search, pieces))]
    if hidden := _hidden(name + words):
        found.append(f"holds invisible characters ({', '.join(hidden)})")
    return tuple(f"its description {phrase}" for phrase in found)


def _strings(value: Any) -> Iterator[str]:
    """All text in a JSON value, names of properties too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _hidden(text: str) -> list[str]:
    """Names of the invisible or direction-changing characters in `text`, at most three."""
    if text.isascii():
        return []
    kinds = {c for c in text if unicodedata.category(c) == "Cf" and c not in "\u200d\ufeff"}
    kinds |= {c for c in text if "\U000e0000" <= c <= "\U000e007f"}
    return [unicodedata.name(c, f"U+{ord(c):04X}") for c in sorted(kinds)[:3]]
