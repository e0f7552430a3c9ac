"""Words of a query in the terms tools are described with: Korean, Chinese and near words of English.

Servers describe their tools in English, whatever language a person asks in. The words are in `glossary.txt`,
which says by what rule they were chosen. Read with the first query that needs it. Not here: ranking (search).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from hel_tui.core.mcp.words import terms

TRANSLATED = 0.9
"""What a term is worth that stands for a word of another language."""
NEAR = 0.4
"""What a term is worth that means about the same as the word asked for."""


@dataclass(frozen=True, slots=True)
class Glossary:
    """The words, ready to look up."""

    foreign: Mapping[str, tuple[str, ...]]
    """Beginnings and stems of words in scripts without spaces or with endings, and their English terms."""
    near: Mapping[str, tuple[str, ...]]
    """Terms that mean about the same, by term."""
    longest: int
    """Characters of the longest foreign word."""


def meanings(word: str, of_word: Sequence[str]) -> list[dict[str, float]]:
    """What a word of a query may stand for: each meaning is the terms for it, and what each is worth.

    A word in Hangul or Han may hold several; what the glossary knows of it comes besides its own terms.
    """
    if word.isascii():
        return [_with_near(term, 1.0) for term in of_word]
    own = [{term: 1.0} for term in of_word]
    return [*own, *(_translated(found) for found in _inside(word))]


def _with_near(term: str, worth: float) -> dict[str, float]:
    near = dict.fromkeys(glossary().near.get(term, ()), worth * NEAR)
    return {**near, term: worth}


def _translated(english: Sequence[str]) -> dict[str, float]:
    """The terms of a foreign word, and less worth, what is near to them."""
    worth: dict[str, float] = {}
    for term in english:
        worth = {**_with_near(term, TRANSLATED), **worth}
    return worth | dict.fromkeys(english, TRANSLATED)


def _inside(word: str) -> list[tuple[str, ...]]:
    """English terms of the known words inside a run of characters, the longest first at each place."""
    known = glossary()
    found: list[tuple[str, ...]] = []
    at = 0
    while at < len(word):
        for length in range(min(known.longest, len(word) - at), 0, -1):
            if english := known.foreign.get(word[at : at + length]):
                found.append(english)
                at += length
                break
        else:
            at += 1
    return found


@functools.cache
def glossary() -> Glossary:
    """Read the words of `glossary.txt`."""
    text = files("hel_tui.core.mcp").joinpath("glossary.txt").read_text("utf-8")
    foreign: dict[str, tuple[str, ...]] = {}
    near: dict[str, dict[str, None]] = {}
    for line in (written.partition("#")[0] for written in text.splitlines()):
        words, equals, english = line.partition("=")
        stems = tuple(dict.fromkeys(terms(english)))
        if equals:
            for word in words.split():
                foreign[word] = (*foreign.get(word, ()), *stems)
            continue
        stems = tuple(dict.fromkeys(terms(line)))
        for stem in stems:
            near.setdefault(stem, {}).update((other, None) for other in stems if other != stem)
    longest = max(map(len, foreign), default=0)
    return Glossary(foreign, {term: tuple(others) for term, others in near.items()}, longest)
