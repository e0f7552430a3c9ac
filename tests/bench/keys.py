"""Keys: from key to echo, idle and while a server floods stderr and the model streams as fast as it can."""

from __future__ import annotations

import random

from tests.bench.figures import Figure, percentile
from tests.bench.parts import Model, Place, place
from tests.bench.program import HEL, Program, environment

FLOOD = 20_000
"""Lines a second on stderr."""
MANY = 10
"""Keys from which the figures mean something."""
LINE = 60
"""Keys after which the prompt is emptied."""


def echoes(program: Program, count: int) -> list[float]:
    """Seconds from key to echo of `count` keys, at the pace of a quick typist."""
    rng = random.Random(1)
    found: list[float] = []
    typed = ""
    while len(found) < count:
        if len(typed) in (0, LINE):
            typed = _fresh_line(program)
        key = rng.choice("bcdfghjklmnpqrstvwxz")
        typed += key
        found.append(program.echo(key, typed[-12:]))
        program.pass_time(rng.uniform(0.05, 0.1))
    return found


def _fresh_line(program: Program) -> str:
    """Empty the prompt and begin with what nothing else on the screen says."""
    program.keys("\x15")  # Ctrl+U
    program.pass_time(0.3)
    program.keys("zqxj")
    program.wait("zqxj")
    program.pass_time(0.3)
    return "zqxj"


def _flooded(where: Place, model: Model, count: int) -> list[float]:
    options = [*model.options, *where.servers("flood", 1, "--flood", str(FLOOD))]
    command = [*HEL, str(where.project), *options]
    with Program(command, env=environment(where.home), cwd=where.project) as program:
        program.wait("nothing is w")
        program.pass_time(1.0)
        program.keys("flood")
        program.wait("flood")
        program.pass_time(0.3)
        program.keys("\r")
        program.wait("step 1")
        program.pass_time(0.5 if count < MANY else 2.0)
        return echoes(program, count)


def _idle(where: Place, model: Model, count: int) -> list[float]:
    command = [*HEL, str(where.project), *model.options, *where.servers("quiet", 1)]
    with Program(command, env=environment(where.home), cwd=where.project) as program:
        program.wait("hel")
        program.pass_time(0.5 if count < MANY else 3.0)
        return echoes(program, count)


def measure(quick: bool) -> list[Figure]:
    """Echo times of both, in turns."""
    count, runs = (5, 1) if quick else (100, 3)
    idle: list[list[float]] = []
    flooded: list[list[float]] = []
    with place() as where:
        for _ in range(runs):
            with Model() as model:
                idle.append(echo_ms(_idle(where, model, count)))
            with Model() as model:
                flooded.append(echo_ms(_flooded(where, model, count)))
    return [
        Figure(
            f"keys: echo, {name}",
            "ms",
            tuple(percentile(one, share) for one in flooded),
            tuple(percentile(one, share) for one in idle),
            note=f"{FLOOD:,} lines a second and a flooding model; baseline: idle",
        )
        for name, share in (("median", 0.5), ("95th percentile", 0.95))
    ]


def echo_ms(seconds: list[float]) -> list[float]:
    return [one * 1000 for one in seconds]
