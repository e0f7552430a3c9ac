"""How well the search finds what labelled requests want, against counting words that occur.

Not here: the tools and requests (corpus), times (bench).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hel_tui.core.mcp.search import Document, Part, build, search
from tests.search.corpus import Request

Ranker = Callable[[str], Sequence[str]]
"""The first ten tools for a query, as `server.tool`, best first."""
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of requests of which a wanted tool is among the first, and the mean reciprocal rank (of ten)."""

    requests: int
    at_five: float
    at_ten: float
    reciprocal: float


def quality(rank: Ranker, requests: Iterable[Request]) -> Quality:
    """Ask everything and see."""
    places = []
    for request in requests:
        found = rank(request.query)
        places.append(next((at for at, name in enumerate(found, 1) if name in request.want), 0))
    count = len(places)
    return Quality(
        count,
        sum(1 for place in places if 0 < place <= 5) / count,
        sum(1 for place in places if place) / count,
        sum(1 / place for place in places if place) / count,
    )


def by_search(servers: Mapping[str, Sequence[Document]]) -> Ranker:
    """hel's search."""
    parts: list[Part] = [build(documents) for documents in servers.values()]

    def rank(query: str) -> list[str]:
        found, _ = search(parts, query, DEPTH)
        return [_name(one.document) for one in found]

    return rank


def by_keywords(servers: Mapping[str, Sequence[Document]]) -> Ranker:
    """The baseline: how many words of the query occur in name or description; equal ones by name."""
    texts = [
        (f"{one.public} {one.description}".lower(), one)
        for documents in servers.values()
        for one in documents
    ]

    def rank(query: str) -> list[str]:
        words = query.lower().split()
        counted = [(-sum(word in text for word in words), one.public, _name(one)) for text, one in texts]
        return [name for count, _, name in sorted(counted)[:DEPTH] if count]

    return rank


def _name(document: Document) -> str:
    return f"{document.server}.{document.raw}"
