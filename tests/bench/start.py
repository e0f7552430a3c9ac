"""Start: first paint and a prompt that answers keys, against a ten-line Textual app started the same way."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.figures import Figure, percentile
from tests.bench.parts import HERE, Place, place
from tests.bench.program import HEL, Program, environment

TINY = (sys.executable, str(HERE / "tiny_app.py"))
AIM = "ratio 1.25"
HEAVY = (
    "mcp", "mcp_types", "httpx", "pydantic", "jsonschema", "markdown_it", "pygments", "keyring",
    "psutil", "rich.markdown", "rich.syntax", "tree_sitter",
)  # fmt: skip
"""Modules that have no place before the first paint."""
TYPED = "qzjxkvwyqzjxkvwyqzjxkvwyqzjxkvwyqzjxkvwy"


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in seconds from the launch. `keys` are the echo times right after the first paint."""

    paint: float
    ready: float
    processor: float
    keys: tuple[float, ...] = ()


def start(command: Sequence[str], place: Place, sign: str, keys: int = 0) -> Start:
    """Start a program that draws `sign`, press a key as soon as it does, then `keys` more, 50 ms apart."""
    with Program(command, env=environment(place.home), cwd=place.project) as program:
        paint = program.wait(sign)
        program.echo(TYPED[0], TYPED[0])
        ready = program.last
        processor = program.processor()
        echoes = []
        for n in range(1, keys + 1):
            program.pass_time(0.05)
            echoes.append(program.echo(TYPED[n], TYPED[max(n - 7, 0) : n + 1]))
        return Start(paint - program.began, ready - program.began, processor, tuple(echoes))


def heavy_before_paint(place: Place) -> list[str]:
    """Heavy modules that were imported when the first frame was on the screen."""
    told = place.home / "modules.json"
    command = (sys.executable, str(HERE / "modules_at_paint.py"), str(told), str(place.project))
    with Program(command, env=environment(place.home), cwd=place.project) as program:
        program.wait("hel")
        program.echo(TYPED[0], TYPED[0])
    loaded = json.loads(told.read_text())
    return [name for name in HEAVY if name in loaded]


def measure(quick: bool) -> list[Figure]:
    """Figures of every kind of start."""
    runs = 0 if quick else 9
    with place() as where:
        hel = [*HEL, str(where.project)]
        kinds = {
            "no servers": hel,
            "3 servers": [*hel, *where.servers("three", 3)],
            "a server that needs 30 s": [*hel, *where.servers("slow", 1, "--delay", "30")],
        }
        tiny: list[Start] = []
        found: dict[str, list[Start]] = {kind: [] for kind in kinds}
        for run in range(runs + 1):
            baseline = start(TINY, where, "ready")
            order = list(kinds)[run % 3 :] + list(kinds)[: run % 3]
            starts = {kind: start(kinds[kind], where, "hel", keys=0 if quick else 30) for kind in order}
            if run or quick:  # the first one compiles
                tiny.append(baseline)
                for kind, one in starts.items():
                    found[kind].append(one)
        figures = [figure for kind, starts in found.items() for figure in _figures(kind, starts, tiny)]
        heavy = heavy_before_paint(where)
        names = ", ".join(heavy) or "none of the heavy ones"
        return [
            *figures,
            Figure("start: heavy modules at paint", "", (float(len(heavy)),), aim="0", note=names),
        ]


def _figures(kind: str, starts: list[Start], tiny: list[Start]) -> list[Figure]:
    figures = [
        Figure(
            f"start, {kind}: {what}",
            "ms",
            tuple(getattr(one, field) * 1000 for one in starts),
            tuple(getattr(one, field) * 1000 for one in tiny),
            aim=AIM,
        )
        for what, field in (
            ("first paint", "paint"),
            ("prompt ready", "ready"),
            ("processor to prompt", "processor"),
        )
    ]
    if starts[0].keys:
        worst = tuple(percentile(one.keys, 0.95) * 1000 for one in starts)
        note = "key to echo while the core comes up, 95th percentile"
        figures.append(Figure(f"start, {kind}: keys", "ms", worst, note=note))
    return figures
