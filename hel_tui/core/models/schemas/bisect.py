"""Which tools a provider refuses, found out by trying: halves of halves, with a bounded number of requests.

Not here: what a refusal says (culprit), how a request is tried (client).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from hel_tui.core.vocabulary import ToolDefinition

MOST_PROBES = 40

Probe = Callable[[Sequence[ToolDefinition]], Awaitable[bool]]
"""Whether a request with these tools is taken."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came out of trying. Names no tool where it was not the tools."""

    certain: tuple[str, ...] = ()
    """Refused each by itself."""
    suspects: tuple[str, ...] = ()
    """Refused in company, or not told apart within the number of requests."""
    probes: int = 0


async def find_refused(
    fixed: Sequence[ToolDefinition],
    others: Sequence[ToolDefinition],
    probe: Probe,
    most: int = MOST_PROBES,
) -> Found:
    """Find out which of `others` are refused beside `fixed`. Errors of `probe` pass through.

    Nobody is found where `fixed` alone is refused, too, or all together are taken.
    """
    if not others or not await probe(fixed):
        return Found(probes=1)
    if await probe([*fixed, *others]):
        return Found(probes=2)
    probes = 2
    certain: list[str] = []
    suspects: list[str] = []
    refused: list[Sequence[ToolDefinition]] = [others]
    while refused:
        group = refused.pop(0)
        if len(group) == 1:
            certain.append(group[0].name)
            continue
        half = len(group) // 2
        for part in (group[:half], group[half:]):
            if probes >= most:
                suspects += [tool.name for tool in part]
                continue
            probes += 1
            if not await probe([*fixed, *part]):
                refused.append(part)
    if certain or suspects:
        order = [tool.name for tool in others]
        return Found(
            tuple(sorted(certain, key=order.index)), tuple(sorted(suspects, key=order.index)), probes
        )
    low, high = len(others) // 2, len(others)  # each half is taken and the whole is not
    while low + 1 < high and probes < most:
        middle = (low + high) // 2
        probes += 1
        if await probe([*fixed, *others[:middle]]):
            low = middle
        else:
            high = middle
    return Found((), tuple(tool.name for tool in others[low:]), probes)
