"""Quality, time and memory of the search over tools: `python -m tests.bench.search [tools ...]`.

Prints tables; asserts nothing. Not here: the floor the quality must not fall below (tests/search).
"""

from __future__ import annotations

import itertools
import sys
import time
import tracemalloc
from statistics import median, quantiles

from hel_tui.core.mcp.search import build, search
from tests.search.corpus import Request, requests, tools
from tests.search.measure import by_keywords, by_search, quality

SIZES = (1_000, 10_000)


def groups() -> dict[str, list[Request]]:
    """Requests by half, language and kind, and all."""
    found: dict[str, list[Request]] = {}
    for one in requests():
        for name in (
            "all",
            one.half,
            f"{one.language}, all",
            f"{one.language}, {one.half}",
            f"{one.kind}, {one.half}",
            f"{one.language}, {one.kind}",
        ):
            found.setdefault(name, []).append(one)
    return dict(sorted(found.items()))


def print_quality(number: int) -> None:
    """The table of one size."""
    servers = tools(number)
    search_, keywords = by_search(servers), by_keywords(servers)
    print(f"\n{sum(map(len, servers.values())):,} tools of {len(servers)} servers")
    print(f"{'requests':34} {'n':>4}   {'search: r@5  r@10   MRR':26} words that occur: r@5  r@10   MRR")
    for name, asked in groups().items():
        ours, theirs = quality(search_, asked), quality(keywords, asked)
        print(
            f"{name:34} {ours.requests:4}   {ours.at_five:11.3f} {ours.at_ten:5.3f} {ours.reciprocal:5.3f}"
            f"   {theirs.at_five:23.3f} {theirs.at_ten:5.3f} {theirs.reciprocal:5.3f}"
        )


def print_cost(number: int) -> None:
    """Time of building and asking, and memory of the index."""
    servers = tools(number)
    began = time.perf_counter()
    parts = [build(documents) for documents in servers.values()]
    built = time.perf_counter() - began
    del parts
    tracemalloc.start()
    parts = [build(documents) for documents in servers.values()]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    queries = [one.query for one in requests()]
    search(parts, queries[0], 10)
    times = []
    for query in itertools.chain(queries, queries):
        began = time.perf_counter()
        search(parts, query, 10)
        times.append((time.perf_counter() - began) * 1000)
    print(
        f"{number:7,} tools: index built in {built * 1000:.0f} ms, {size / 1e6:.1f} MB; "
        f"a search takes {median(times):.2f} ms (median), {quantiles(times, n=20)[-1]:.2f} ms (of twenty, 19 less)"
    )


def main() -> None:
    """All tables for the sizes named, or the usual ones."""
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    for number in sizes:
        print_quality(number)
    print()
    for number in sizes:
        print_cost(number)


if __name__ == "__main__":
    main()
