"""Ids and names of calls that a provider takes, for those that another model made.

Functions of the history alone, so that a request and the next one spell them the same way.
"""

from __future__ import annotations

import hashlib
import re

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
MARK = 12
"""Digits of a hash that keep two ids apart."""


def fit_id(id: str, longest: int = 64) -> str:
    """The id as one of at most `longest` of `[a-zA-Z0-9_-]`, and of two ids never the same.

    Anthropic: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"; OpenAI: "call_id: string too
    long. Expected a string with maximum length 64"; Mistral: "must be a-z, A-Z, 0-9, with a length of 9".
    """
    if id and len(id) <= longest and not _FOREIGN.search(id):
        return id
    return _cut(id, longest)


class UniqueIds:
    """The ids of one request, none of them twice: some servers begin anew with each answer, and Anthropic
    refuses a request with two alike ("`tool_use` ids must be unique").
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def next(self, id: str) -> str:
        """This id as it fits, with a number behind it where it was there before."""
        number = self._numbers.get(id, 0) + 1
        while (fitting := fit_id(id if number == 1 else f"{id}_{number}")) in self._taken:
            number += 1
        self._numbers[id] = number
        self._taken.add(fitting)
        return fitting


def exact_id(id: str, length: int) -> str:
    """The id as exactly `length` letters and digits."""
    plain = len(id) == length and id.isascii() and id.isalnum()
    return id if plain else hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:length]


def fit_name(name: str) -> str:
    """The name of a called tool as every provider takes it. A model may call what never was a tool, and one
    refused name would end the conversation: "function.name: string does not match pattern".
    """
    if _NAME.fullmatch(name):
        return name
    cut = _cut(name, 64)
    return cut if _NAME.fullmatch(cut) else f"_{cut[:63]}"


def _cut(text: str, longest: int) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:MARK]
    if longest <= MARK:
        return digest[:longest]
    return f"{_FOREIGN.sub('_', text)[: longest - MARK - 1]}_{digest}"
