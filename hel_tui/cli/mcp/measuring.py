"""`hel mcp call … --times N`: one call made again and again, and how long it took.

Not here: a single call and its result (live).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

from hel_tui.cli.common import Exit
from hel_tui.core.counts import counted
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.vocabulary import Json
from hel_tui.foreign import printable


async def measure(
    tool: McpTool,
    arguments: Json,
    times: int,
    at_once: int,
    hide: Callable[[str], str],
    *,
    as_json: bool,
) -> int:
    """Make `times` calls, `at_once` of them at a time, and print how they went; returns the exit status."""
    left = iter(range(times))
    taken: list[float] = []
    problems: Counter[str] = Counter()

    async def worker() -> None:
        for _ in left:
            began = time.monotonic()
            try:
                result = await tool.call(tool.raw, arguments, _silent)
            except CallFault as fault:
                problems[hide(str(fault))] += 1
                continue
            taken.append(time.monotonic() - began)
            if result.get("isError") is True:
                problems["the tool reported a failure (isError)"] += 1

    began = time.monotonic()
    await asyncio.gather(*(worker() for _ in range(min(at_once, times))))
    seconds = time.monotonic() - began
    facts = {
        "calls": times,
        "at_once": at_once,
        "failed": sum(problems.values()),
        "seconds": round(seconds, 3),
        "per_second": round(times / seconds, 1) if seconds else None,
        "median_ms": milliseconds(taken, 0.5),
        "p95_ms": milliseconds(taken, 0.95),
        "max_ms": milliseconds(taken, 1.0),
        "problems": dict(problems),
    }
    if as_json:
        sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    else:
        sys.stdout.write(
            f"{counted(times, 'call')} in {seconds:.2f} s, {facts['per_second']} a second, "
            f"{facts['failed']} failed\n"
            f"median {facts['median_ms']} ms, 95th {facts['p95_ms']} ms, longest {facts['max_ms']} ms\n"
        )
        for problem, count in problems.most_common(5):
            sys.stdout.write(f"{counted(count, 'time')}: {printable(problem)}\n")
    return Exit.FAILED if problems else Exit.DONE


def milliseconds(taken: Sequence[float], share: float) -> float | None:
    """The time below which `share` of the calls stayed; None without any."""
    if not taken:
        return None
    ordered = sorted(taken)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000, 2)


def _silent(_progress: float, _total: float | None, _message: str) -> None:
    """Progress of many calls at once says nothing."""
