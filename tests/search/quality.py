"""How well the search finds what was asked for, and how well plain matching of words does.

Pure functions over the corpus. Not here: floors (test_quality), times (tests/bench/search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hel_tui.core.mcp.search import Document, Part, build, search
from tests.search.corpus import Request

DEEP = 10

Finder = Callable[[str], Sequence[Document]]
"""The best ten for a query, best first."""


@dataclass(frozen=True, slots=True)
class Score:
    """Over some requests: how many, shares found among the first five and ten, mean reciprocal rank."""

    count: int
    at_5: float
    at_10: float
    rank: float


def finder(parts: Sequence[Part]) -> Finder:
    """hel's search."""
    return lambda query: [one.document for one in search(parts, query, DEEP)[0]]


def baseline(documents: Sequence[Document]) -> Finder:
    """Words of the query that occur in name and description, counted; equal ones by name."""
    texts = [(f"{one.raw} {one.description}".lower(), one) for one in documents]

    def find(query: str) -> list[Document]:
        words = query.lower().split()
        counted = [(-sum(word in text for word in words), one.public, one) for text, one in texts]
        return [one for count, _, one in sorted(counted, key=lambda row: row[:2])[:DEEP] if count]

    return find


def score(find: Finder, requests: Iterable[Request]) -> Score:
    """Ask all requests; any of the wanted tools counts."""
    ranks = [_rank(find(request.query), request.want) for request in requests]
    count = len(ranks)
    found = [rank for rank in ranks if rank]
    return Score(
        count,
        sum(rank <= 5 for rank in found) / count,
        len(found) / count,
        sum(1 / rank for rank in found) / count,
    )


def _rank(found: Sequence[Document], want: frozenset[str]) -> int:
    """The place of the first right one, from 1; 0 when it is not there."""
    names = [f"{one.server}.{one.raw}" for one in found]
    return next((place for place, name in enumerate(names, 1) if name in want), 0)


def parts_of(servers: dict[str, tuple[Document, ...]]) -> list[Part]:
    """The index over a corpus."""
    return [build(documents) for documents in servers.values()]
