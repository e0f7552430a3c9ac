"""Kept sessions: opening long ones, searching thousands, and what writing costs a streamed token.

Not here: killing them (kills), drawing restored turns (scale).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.folders import mark
from hel_tui.core.store.sessions.index import NAME, Index
from hel_tui.core.vocabulary import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tests.bench.figures import Figure

TURNS = (10, 1_000, 10_000)
SESSIONS = 5_000
TOKENS = 5_000
WORDS = [
    "server",
    "tool",
    "port",
    "config",
    "answer",
    "read",
    "write",
    "file",
    "line",
    "value",
    "error",
    "retry",
    "session",
    "turn",
    "model",
    "token",
    "cost",
    "서버",
    "도구",
    "포트",
    "설정",
]

_OPEN = """
import os, sys, time, psutil
from pathlib import Path
from hel_tui.core.session.kept import open_session
process = psutil.Process()
before, began = process.memory_info().rss, time.perf_counter()
opened = open_session(Path(sys.argv[1]))
took = time.perf_counter() - began
print(took, process.memory_info().rss - before, len(opened.events))
"""


def _text(numbers: random.Random, words: int) -> str:
    return " ".join(numbers.choice(WORDS) for _ in range(words))


def write_session(folder: Path, turns: int, seed: int = 0) -> None:
    """A session of so many turns, each with a call and an answer of a paragraph, written as hel writes."""
    numbers = random.Random(seed)
    saving = Saving(folder, Path("/bench"), Redactor(), lambda _event: None)
    mark(folder, Path("/bench"))
    for turn in range(1, turns + 1):
        asked, answer, result = _text(numbers, 12), _text(numbers, 120), _text(numbers, 60)
        call, call_id = ToolCall(f"c{turn}", "read_file", '{"path": "config.ini"}'), f"c{turn}"
        saving.emit(p.TurnStarted(turn, asked))
        saving.appended(UserMessage(asked))
        saving.emit(p.StepStarted(turn, 1))
        saving.appended(AssistantMessage(calls=(call,)))
        saving.call(p.CallDetail(call_id, "", "read_file", call.arguments, "", "queued"), call, None, "")
        saving.emit(p.CallStarted(turn, call_id, "", "read_file", "config.ini"))
        saving.emit(p.CallChanged(call_id, "running", at=1.0))
        saving.call(p.CallDetail(call_id, "", "read_file", call.arguments, result, "ok"), call, None, result)
        saving.emit(p.CallChanged(call_id, "ok", 0.1, result[:400], 1))
        saving.appended(ToolMessage(call.id, call.name, result))
        saving.emit(p.StepStarted(turn, 2))
        saving.emit(p.TextDelta(turn, f"answer-{turn}", answer))
        saving.emit(p.TextDone(turn, f"answer-{turn}"))
        saving.appended(AssistantMessage(answer))
        saving.emit(p.TurnEnded(turn, "done"))
    saving.close()


def _opening(folder: Path, turns: int, runs: int) -> list[Figure]:
    """Time and memory of opening, against reading the same file line by line as JSON."""
    session = folder / f"open-{turns}"
    write_session(session, turns)
    path = session / "session.jsonl"
    times, memory, plain = [], [], []
    for _ in range(runs):
        out = subprocess.run(
            [sys.executable, "-c", _OPEN, str(session)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).stdout.split()
        times.append(float(out[0]) * 1000)
        memory.append(float(out[1]) / 1e6)
        began = time.perf_counter()
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
        plain.append((time.perf_counter() - began) * 1000)
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    return [
        Figure(f"open a session of {turns:,} turns", "ms", tuple(times), tuple(plain), "linear", size),
        Figure(f"memory of {turns:,} turns", "MB", tuple(memory), aim="linear"),
    ]


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _searching(folder: Path, count: int, runs: int) -> list[Figure]:
    places = Places(folder / "config", folder / "state", folder / "cache")
    for number in range(count):
        write_session(places.session_dir(f"s{number:05}"), 3, number)
    needle = places.session_dir(f"s{count // 2:05}")
    with (needle / "session.jsonl").open("a") as file:
        file.write('{"k":"TurnStarted","t":1,"turn":4,"text":"the needle 바늘 lies here"}\n')

    def search(text: str) -> None:
        with closing(Index(places)) as index:
            index.search(text)

    def plain(text: str) -> None:
        wanted = text.encode()
        for path in places.sessions.glob("*/session.jsonl"):
            assert path.read_bytes().find(wanted) >= -1

    built = _timed(lambda: search("needle"))
    rows = []
    for text in ("needle", "바늘", "config answer"):
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(_timed(lambda text=text: search(text)))
            theirs.append(_timed(lambda text=text: plain(text)))
        rows.append(
            Figure(
                f"search {text!r} in {count:,} sessions",
                "ms",
                tuple(ours),
                tuple(theirs),
                "below reading all files",
            )
        )
    size = (places.cache / NAME).stat().st_size / 1e6
    files = sum(path.stat().st_size for path in places.sessions.glob("*/session.jsonl")) / 1e6
    note = f"index {size:.0f} MB of {files:.0f} MB"
    return [Figure(f"index {count:,} sessions anew", "ms", (built,), note=note), *rows]


def _writing(folder: Path, tokens: int, runs: int) -> list[Figure]:
    """What a streamed token costs on its way to the screen with and without being kept."""
    numbers = random.Random(1)
    pieces = [f"{numbers.choice(WORDS)} " for _ in range(tokens)]
    heard: list[p.Event] = []
    kept, bare = [], []
    for run in range(runs):
        saving = Saving(folder / f"write-{run}", Path("/bench"), Redactor(["hunter2-hunter2"]), heard.append)
        saving.emit(p.TurnStarted(1, "go"))
        began = time.perf_counter()
        for piece in pieces:
            saving.emit(p.TextDelta(1, "answer-1", piece))
        kept.append((time.perf_counter() - began) / tokens * 1e6)
        saving.close()
        heard.clear()
        began = time.perf_counter()
        for piece in pieces:
            heard.append(p.TextDelta(1, "answer-1", piece))
        bare.append((time.perf_counter() - began) / tokens * 1e6)
        heard.clear()
    return [Figure("keep a streamed token", "µs", tuple(kept), tuple(bare), "below 100 µs")]


def measure(quick: bool) -> list[Figure]:
    """Figures of kept sessions."""
    runs = 1 if quick else 5
    with tempfile.TemporaryDirectory(prefix="hel-sessions-") as name:
        folder = Path(name)
        figures = [
            figure for turns in ((10, 100) if quick else TURNS) for figure in _opening(folder, turns, runs)
        ]
        figures += _writing(folder, 200 if quick else TOKENS, runs)
        figures += _searching(folder, 30 if quick else SESSIONS, runs)
        return figures
