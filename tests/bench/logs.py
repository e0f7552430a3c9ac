"""The log of a server: a million lines taken in, kept, filtered in slices.

Not here: drawing them (panels), a flood through a whole hel (hosting).
"""

from __future__ import annotations

import os
import time

import psutil

from hel_tui.core.mcp.intake import LogIntake
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.protocol import LogQuery
from hel_tui.core.store.redact import Redactor
from tests.bench.figures import Figure

LINES = 1_000_000
CHUNK = 64
"""Lines that arrive at a time, as a pipe hands them on."""
SLICE = 2048
"""Lines a screen asks about at a time."""


def _line(number: int) -> str:
    level = ("INFO", "DEBUG", "INFO", "WARNING", "INFO", "ERROR")[number % 6]
    return f"2026-01-02 10:00:00,{number % 1000:03d} {level} worker-{number % 17} request {number} took 12 ms"


def measure(quick: bool) -> list[Figure]:
    """Figures of the log."""
    count = 20_000 if quick else LINES
    blocks = [
        "".join(f"{_line(number)}\n" for number in range(start, min(start + CHUNK, count))).encode()
        for start in range(0, count, CHUNK)
    ]
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    together = LogStore()
    store = LogStore(server="bench", also=together)
    now = [0.0]
    intake = LogIntake(store, "stderr", mask=Redactor(), clock=lambda: now[0])
    began, worst = time.perf_counter(), 0.0
    for block in blocks:
        now[0] += 0.01  # no flood: every line is kept
        one = time.perf_counter()
        intake.feed(block)
        worst = max(worst, time.perf_counter() - one)
    ingest = time.perf_counter() - began
    grown = (process.memory_info().rss - before) / 2**20
    assert store.end == together.end == count
    figures = [
        Figure("logs: lines taken in", "lines/s", (count / ingest,), note="into two logs, redacted, levels"),
        Figure("logs: worst stall of one block", "ms", (worst * 1000,), aim="below a frame, 33"),
        Figure("logs: memory of both", "MiB", (grown,), note=f"{count:,} lines each"),
    ]
    for what, query in (
        ("a literal", LogQuery(text="request 4999 ")),
        ("a literal that every line has", LogQuery(text="took")),
        ("an expression", LogQuery(text=r"request \d*999 ", is_regex=True)),
        ("a level", LogQuery(level="error")),
    ):
        slices: list[float] = []
        found = 0
        for start in range(0, store.end, SLICE):
            one = time.perf_counter()
            found += len(store.matches(query, start, start + SLICE))
            slices.append(time.perf_counter() - one)
        assert found
        figures += [
            Figure(f"logs: filter by {what}, all lines", "s", (sum(slices),)),
            Figure(
                f"logs: filter by {what}, worst slice", "ms", (max(slices) * 1000,), note=f"{SLICE} lines"
            ),
        ]
    began = time.perf_counter()
    for start in range(0, store.end, store.end // 200):
        store.lines(start, start + 60)
    figures.append(Figure("logs: a screen of lines anywhere", "ms", ((time.perf_counter() - began) * 5,)))
    return figures
