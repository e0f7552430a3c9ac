"""Search over tools: BM25 (Robertson and Zaragoza 2009, with fields) in parts, one a server's generation.

A part never changes, so threads may read it while others are built. Written here because rank-bm25 and
bm25s bring numpy (a fifth of a second, 30 MB) and know neither fields nor parts that come and go. Not here:
what becomes terms (words), which tools are on offer (catalogue).
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp import glossary
from hel_tui.core.mcp.words import surfaces, terms

K1 = 1.2
"""How soon more of the same word stops counting."""
MOST_TIMES = 3
"""A term counts in one field: a description that repeats its words is no better for it."""
MOST_QUERY_WORDS = 40
_MOST_PARAMETERS = 60
_DEEPEST = 6

_FRACTION = 32
"""Weights are kept as whole numbers of this fraction, in 12 bits beside the number of the tool."""
_BITS = 12
_MOST_WEIGHT = (1 << _BITS) - 1
MOST_TOOLS = 1 << (32 - _BITS)
"""In one part."""


@dataclass(frozen=True, slots=True)
class Field:
    """How the words of one place count."""

    weight: float
    usual: float
    """Terms it usually has: fixed instead of the average, so that no tool's weights depend on others."""
    b: float
    """How much longer texts count less."""


NAME = Field(3.0, 4, 0.3)
TITLE = Field(2.0, 4, 0.3)
SERVER = Field(2.0, 2, 0.3)
DESCRIPTION = Field(1.0, 25, 0.6)
PARAMETERS = Field(0.3, 40, 0.75)


@dataclass(frozen=True, slots=True)
class Document:
    """What can be found of one tool."""

    public: str
    server: str
    raw: str
    title: str
    description: str
    parameters: Any
    """Its JSON Schema as listed: any JSON."""


@dataclass(frozen=True, slots=True)
class Found:
    """One tool that matched. `words`: those of the query that it matched, in the query's order."""

    document: Document
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The tools of one server, ready to be searched."""

    documents: tuple[Document, ...]
    postings: Mapping[str, array[int]]
    """For each term: (number of the document << 12 | weight), ascending."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One word of a query, and the terms that stand for it with what each is worth."""

    word: str
    worth: Mapping[str, float]


def build(documents: Sequence[Document]) -> Part:
    """Index tools; one above `MOST_TOOLS` cannot be found. Takes about a tenth of a millisecond each."""
    documents = tuple(documents[:MOST_TOOLS])
    postings: dict[str, array[int]] = {}
    for number, document in enumerate(documents):
        for term, weight in _weights(document).items():
            kept = min(max(round(weight * _FRACTION), 1), _MOST_WEIGHT)
            posting = postings.get(term)
            if posting is None:
                posting = postings[term] = array("I")
            posting.append(number << _BITS | kept)
    return Part(documents, postings)


def _weights(document: Document) -> dict[str, float]:
    """What each term of a document weighs: frequencies in all fields, made comparable."""
    weights: dict[str, float] = {}
    of_parameters = " ".join(_words_of_schema(document.parameters))
    for field, text in (
        (NAME, document.raw),
        (TITLE, document.title),
        (SERVER, document.server),
        (DESCRIPTION, document.description),
        (PARAMETERS, of_parameters),
    ):
        found = terms(text)
        each = field.weight / (1 - field.b + field.b * len(found) / field.usual)
        for term, times in Counter(found).items():
            weights[term] = weights.get(term, 0.0) + min(times, MOST_TIMES) * each
    return weights


def _words_of_schema(schema: Any, depth: int = 0) -> Iterator[str]:
    """Names and descriptions of parameters, those inside others too."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    for name, inner in list(properties.items())[:_MOST_PARAMETERS] if isinstance(properties, dict) else ():
        yield str(name)
        yield from _described(inner)
        yield from _words_of_schema(inner, depth + 1)
    yield from _words_of_schema(schema.get("items"), depth + 1)


def _described(schema: Any) -> Iterator[str]:
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(description, str):
        yield description


# ----------------------------------------------------------------------- asking


def understand(query: str) -> list[Wanted]:
    """The words of a query that can be looked up: their own terms, and less worth, what means the same."""
    wanted: dict[tuple[str, ...], Wanted] = {}
    for word, of_word in surfaces(query):
        for meaning in glossary.meanings(word, of_word):
            wanted.setdefault(tuple(meaning), Wanted(word, meaning))
        if len(wanted) >= MOST_QUERY_WORDS:
            break
    return list(wanted.values())[:MOST_QUERY_WORDS]


def search(
    parts: Iterable[Part],
    query: str,
    limit: int,
    is_there: Callable[[Document], bool] = lambda _document: True,
) -> tuple[tuple[Found, ...], int]:
    """Return the `limit` best tools for a query, best first (equal ones by name), and how many matched.

    Of the terms that stand for one word only the best counts. Those that are not `is_there` are left out.
    """
    parts = tuple(parts)
    count = sum(len(part.documents) for part in parts)
    wanted = understand(query)
    scores: list[dict[int, float]] = [{} for _ in parts]
    for one in wanted:
        best: list[dict[int, float]] = [{} for _ in parts]
        for term, worth in one.worth.items():
            postings = [(at, part.postings[term]) for at, part in enumerate(parts) if term in part.postings]
            frequency = sum(len(posting) for _, posting in postings)
            rarity = worth * math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
            for at, posting in postings:
                _raise(best[at], posting, rarity)
        for total, of_word in zip(scores, best, strict=True):
            for number, score in of_word.items():
                total[number] = total.get(number, 0.0) + score
    matched = [
        (-round(score, 6), document.public, at, number)
        for at, total in enumerate(scores)
        for number, score in total.items()
        if is_there(document := parts[at].documents[number])
    ]
    matched.sort()
    found = tuple(
        Found(parts[at].documents[number], -score, _by(parts[at], number, wanted))
        for score, _, at, number in matched[:limit]
    )
    return found, len(matched)


def _raise(best: dict[int, float], posting: array[int], rarity: float) -> None:
    """Let each document of a posting have at least what this term gives it."""
    for packed in posting:
        weight = (packed & _MOST_WEIGHT) / _FRACTION
        score = rarity * weight * (K1 + 1) / (weight + K1)
        number = packed >> _BITS
        if score > best.get(number, 0.0):
            best[number] = score


def _by(part: Part, number: int, wanted: Sequence[Wanted]) -> tuple[str, ...]:
    """The words of the query by which a document was found."""

    def has(term: str) -> bool:
        return any(packed >> _BITS == number for packed in part.postings.get(term, ()))

    return tuple(dict.fromkeys(one.word for one in wanted if any(map(has, one.worth))))
