"""The trace of a server's wire: 100,000 frames put down, kept, searched and exported.

Through the same tap as in hel, with real redaction and files. Not here: drawing them (panels).
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil
from mcp_types import JSONRPCRequest

from hel_tui.core.mcp.exports import to_file, write_jsonl
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.messages import parse_line
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.protocol import FrameQuery
from hel_tui.core.store.redact import Redactor
from tests.bench.figures import Figure

FRAMES = 100_000
SLICE = 512
"""Frames a screen asks about at a time."""


def _pairs(count: int) -> list[tuple[Any, bytes, bytes]]:
    """Requests of the SDK's type, their bytes, and the answers: calls of tools with some hundred bytes."""
    pairs = []
    for number in range(count):
        params = {"name": "lookup", "arguments": {"key": f"service-{number}", "note": "x" * 80}}
        request = JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call", params=params)
        text = f"service-{number} listens at port {number % 60_000}; " + "all is well " * 15
        answer = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}}
        pairs.append((request, request.model_dump_json().encode(), json.dumps(answer).encode()))
    return pairs


def _memory() -> float:
    return psutil.Process(os.getpid()).memory_info().rss / 2**20


def measure(quick: bool) -> list[Figure]:
    """Figures of the trace."""
    count = 2_000 if quick else FRAMES
    pairs = _pairs(count // 2)
    parsed = [parse_line(answer) for _, _, answer in pairs]
    bytes_in = sum(len(sent) + len(came) for _, sent, came in pairs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = _memory()
        store = FrameStore("bench", lambda: folder, Redactor([f"secret-{n:04d}" for n in range(20)]))
        trace = Trace(store, life=1)
        began = time.perf_counter()
        worst = 0.0
        for (request, sent, came), messages in zip(pairs, parsed, strict=True):
            one = time.perf_counter()
            trace.sent(request, sent)
            trace.came(messages, came)
            worst = max(worst, time.perf_counter() - one)
        ingest = time.perf_counter() - began
        _settled(store)
        grown = _memory() - before
        kept = sum(1 for number in range(store.first, store.end, 97) if store.body(number))
        written = sum(path.stat().st_size for path in folder.iterdir())
        figures = [
            Figure("trace: frames put down", "frames/s", (count / ingest,), note=f"{bytes_in >> 20} MiB"),
            Figure("trace: worst stall of one pair", "ms", (worst * 1000,), aim="below a frame, 33"),
            Figure("trace: memory of all frames", "MiB", (grown,), note=f"{written >> 20} MiB in files"),
            Figure("trace: bodies still there", "%", (100 * kept / len(range(store.first, store.end, 97)),)),
        ]
        for what, query in (
            ("text in bodies", FrameQuery(text="SERVICE-9999 listens")),
            ("expression in bodies", FrameQuery(text=r"service-\d*99 listens", is_regex=True)),
            ("method and errors", FrameQuery(method="tools/", errors=True)),
        ):
            figures += _query(store, what, query)
        began = time.perf_counter()
        written = to_file(folder / "out.jsonl", lambda file: write_jsonl(store, None, file))
        figures.append(Figure("trace: export as JSON Lines", "s", (time.perf_counter() - began,)))
        assert written.count == store.end - store.first
        store.bodies.close()
    return figures


def _query(store: FrameStore, what: str, query: FrameQuery) -> list[Figure]:
    slices: list[float] = []
    for start in range(store.first, store.end, SLICE):
        began = time.perf_counter()
        store.matches(query, start, start + SLICE)
        slices.append(time.perf_counter() - began)
    return [
        Figure(f"trace: {what}, all frames", "s", (sum(slices),)),
        Figure(f"trace: {what}, worst slice", "ms", (max(slices) * 1000,), note=f"{SLICE} frames"),
    ]


def _settled(store: FrameStore) -> None:
    """Wait until what is being written is written."""
    while any(thread.name == "hel-frames" for thread in threading.enumerate()):
        time.sleep(0.01)
    assert store.end
