"""Stream: processor time of the whole app for a Markdown answer of 5,000 tokens, against an empty answer."""

from __future__ import annotations

from tests.bench.endpoint import END
from tests.bench.figures import Figure
from tests.bench.parts import Model, place
from tests.bench.program import HEL, Program, environment

TOKENS = 5_000
SETTLE = 1.0
"""Seconds after an answer's last word that still count to it; the same for both."""


def turn(program: Program, tokens: int, mark: str, settle: float = SETTLE) -> tuple[float, float]:
    """(processor seconds, seconds) of one answer, from the key that sends to `settle` s after its end."""
    program.keys(f"say {tokens} {mark}")
    program.wait(mark)
    program.pass_time(0.3)
    before = program.processor()
    program.keys("\r")
    began = program.last
    program.wait(END + mark)
    took = program.last - began
    program.pass_time(settle)
    return program.processor() - before, took


def measure(quick: bool) -> list[Figure]:
    """Answers in turns with empty ones, each pair in a fresh app that answered once before."""
    tokens, runs, settle = (200, 1, 0.1) if quick else (TOKENS, 5, SETTLE)
    full: list[float] = []
    empty: list[float] = []
    walls: list[float] = []
    with Model() as model, place() as where:
        for _ in range(runs):
            command = [*HEL, str(where.project), *model.options, "--no-mcp"]
            with Program(command, env=environment(where.home), cwd=where.project) as program:
                program.wait("hel")
                program.pass_time(0.3 if quick else 3.0)  # the core is up, the parsers are warm
                turn(program, 0, "warm", settle)
                empty.append(turn(program, 0, "empty", settle)[0])
                cost, took = turn(program, tokens, "full", settle)
                full.append(cost)
                walls.append(took)
    spent = tuple(one - other for one, other in zip(full, empty, strict=True))
    return [
        Figure(
            f"stream: processor for {tokens} tokens", "s", spent, aim="1 s", note="empty answer subtracted"
        ),
        Figure("stream: the empty answer", "s", tuple(empty), note="the settling second included"),
        Figure("stream: send to last word", "s", tuple(walls)),
    ]
