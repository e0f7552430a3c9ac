"""Idle: processor share and memory of the whole tree with three servers connected and nobody typing."""

from __future__ import annotations

import sys
import time

from tests.bench.figures import Figure
from tests.bench.parts import HERE, place
from tests.bench.program import HEL, Program, environment, memory_of, processor_of

TINY = (sys.executable, str(HERE / "tiny_app.py"))
SECONDS = 20.0


def rest(program: Program, seconds: float) -> tuple[float, float, float]:
    """(per cent of a processor of the tree, MiB of the program, MiB of the tree) over `seconds`."""
    tree = program.tree()
    before, began = sum(processor_of(one.pid) for one in tree), time.monotonic()
    program.pass_time(seconds)
    spent = sum(processor_of(one.pid) for one in tree) - before
    took = time.monotonic() - began
    return spent / took * 100, memory_of(tree[:1]), memory_of(tree)


def measure(quick: bool) -> list[Figure]:
    """hel and the ten-line app in turns."""
    seconds, runs = (0.2, 1) if quick else (SECONDS, 3)
    ours: list[tuple[float, float, float]] = []
    tiny: list[tuple[float, float, float]] = []
    with place() as where:
        command = [*HEL, str(where.project), *where.servers("three", 3)]
        for _ in range(runs):
            with Program(command, env=environment(where.home), cwd=where.project) as program:
                program.wait("3/3")
                program.pass_time(0.1 if quick else 5.0)
                ours.append(rest(program, seconds))
            with Program(TINY, env=environment(where.home), cwd=where.project) as program:
                program.wait("ready")
                program.pass_time(0.1 if quick else 2.0)
                tiny.append(rest(program, seconds))
    columns = list(zip(*ours, strict=True))
    bare = list(zip(*tiny, strict=True))
    return [
        Figure("idle: processor, 3 servers", "%", columns[0], bare[0], note="of one processor, whole tree"),
        Figure("idle: memory of hel", "MiB", columns[1], bare[1], note="shared pages shared out"),
        Figure("idle: memory of the tree", "MiB", columns[2], note="hel and its 3 servers"),
    ]
