"""Keys in the log and the wire of a server: from key to echo idle, and while what is shown floods or is filtered.

The keys are typed into the line of the filter, so that each begins it anew over all that is kept.
"""

from __future__ import annotations

import re

from tests.bench.figures import Figure, percentile
from tests.bench.keys import MANY, echo_ms, echoes
from tests.bench.parts import Place, place
from tests.bench.program import HEL, Program, environment

FLOOD = 50_000
"""Lines a second on stderr."""
KEPT_RATE = 18_000
"""Lines a second that are all kept."""
LINES, FRAMES = 1_000_000, 100_000
LOG, WIRE = "5", "6"
"""Keys of the tabs."""
FILL_LIMIT = 240.0


def _typed(
    where: Place, name: str, tab: str, count: int, options: tuple[str, ...], filled: str
) -> list[float]:
    """Echo times in a tab of the server screen, once it shows `filled`."""
    command = [*HEL, str(where.project), *where.servers(name, 1, *options)]
    with Program(command, env=environment(where.home), cwd=where.project) as program:
        program.wait(r"\d tools? ")
        program.pass_time(1.0)
        program.keys("\x1bOQ")  # F2
        program.wait("Overview")
        program.keys(tab)
        program.wait(filled, FILL_LIMIT)
        program.pass_time(0.5 if count < MANY else 2.0)
        program.keys("/")
        program.wait("only (?:lines|frames) with")
        return echoes(program, count)


def measure(quick: bool) -> list[Figure]:
    """Echo times of each, idle ones in turns with them."""
    count, runs = (5, 1) if quick else (60, 3)
    lines, frames = (20_000, 2_000) if quick else (LINES, FRAMES)
    most = r"20,\d+ lines" if quick else r"(?:999|1,000),\d+ lines"
    full = rf"{frames // 1000:,},\d+ frames"
    cases = {
        "a flood of stderr": (LOG, ("--flood", str(FLOOD)), "lines · following"),
        "a filter over a log": (LOG, ("--flood", str(KEPT_RATE), "--lines", str(lines)), most),
        "a filter over frames": (WIRE, ("--notify", str(frames)), full),
    }
    figures: list[Figure] = []
    with place() as where:
        for name, (tab, options, filled) in cases.items():
            idle: list[list[float]] = []
            loaded: list[list[float]] = []
            for _ in range(runs):
                quiet = "frames · following" if tab == WIRE else "lines? · following"
                idle.append(echo_ms(_typed(where, "quiet", tab, count, (), quiet)))
                loaded.append(echo_ms(_typed(where, re.sub(r"\W", "", name), tab, count, options, filled)))
            for share, word in ((0.5, "median"), (0.95, "95th percentile")):
                figures.append(
                    Figure(
                        f"inside: echo during {name}, {word}",
                        "ms",
                        tuple(percentile(one, share) for one in loaded),
                        tuple(percentile(one, share) for one in idle),
                        note=f"{FLOOD:,} lines a second, {lines:,} lines, {frames:,} frames; baseline: idle",
                    )
                )
    return figures
