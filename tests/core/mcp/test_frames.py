"""The trace of a server's wire: bounded, paired, redacted, searched; through the host and alone."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp import bodies, spill
from hel_tui.core.mcp.blocks import SIZE
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.protocol import FrameQuery
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import until


def _mask(text: str) -> str:
    return text.replace("hunter2-secret", "‹redacted›")


def _request(store: FrameStore, number: int, text: str = "") -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"t": text}})
    return store.add("out", "request", body.encode(), method="tools/call", id=str(number), tool="echo")


async def test_every_message_of_a_call_is_there_with_its_answer_tool_and_card(bench: Any) -> None:
    await bench.start("wire:ok")
    await bench.tool().run({"text": "hello"}, Invocation("call-7"))
    store = bench.host.frames("fix")
    asked, answered = (store.frames(number, number + 1)[0] for number in store.of_call("call-7"))
    assert (asked.direction, asked.kind, asked.method, asked.tool) == ("out", "request", "tools/call", "echo")
    assert (answered.direction, answered.kind, answered.pair) == ("in", "result", asked.number)
    assert asked.pair == answered.number and answered.tool == "echo" and answered.id == asked.id
    assert answered.latency > 0 and answered.summary == "hello"
    assert json.loads(store.body(asked.number))["params"]["arguments"] == {"text": "hello"}
    assert asked.size == len(store.body(asked.number).encode())
    methods = [one.method for one in store.frames(0, store.end) if one.direction == "out"]
    assert methods == bench.methods()


async def test_the_trace_goes_on_over_restarts_and_counts_the_lives(bench: Any) -> None:
    await bench.start("wire:ok")
    store = bench.host.frames("fix")
    before = store.end
    bench.host.restart("fix")
    await until(lambda: bench.status().phase == "ready" and store.end >= 2 * before)
    assert {one.life for one in store.frames(0, before)} == {1}
    assert {one.life for one in store.frames(before, store.end)} == {2}


async def test_noise_and_errors_are_found_as_errors(bench: Any) -> None:
    await bench.start("wire:banner")
    store = bench.host.frames("fix")
    found = store.matches(FrameQuery(errors=True), 0, store.end)
    kinds = [store.frames(number, number + 1)[0].kind for number in found]
    assert kinds.count("noise") == 3 and "🚀 listening" in store.body(found[2])


async def test_progress_belongs_to_the_call_it_is_about(bench: Any) -> None:
    await bench.start("wire:late-progress")
    await bench.tool().run({"text": "x"}, Invocation("call-9"))
    store = bench.host.frames("fix")
    frames = [store.frames(number, number + 1)[0] for number in store.of_call("call-9")]
    assert [one.method for one in frames[:3]] == ["tools/call", "notifications/progress", "tools/call"]
    assert frames[1].summary == "1/2 half"


def test_old_frames_go_by_blocks_and_numbers_stay() -> None:
    store = FrameStore(most=3000)
    for number in range(10_000):
        _request(store, number)
    assert store.end == 10_000 and 6000 <= store.first < 7200
    assert [one.number for one in store.frames(0, store.first + 2)] == [store.first, store.first + 1]
    assert store.frames(9999, 10_500)[0].id == "9999"
    assert store.body(0) == "" and store.body(9999)


async def test_old_bodies_are_written_redacted_to_a_private_file_and_read_from_there(tmp_path: Path) -> None:
    store = FrameStore("weather", lambda: tmp_path, _mask)
    filler = "x" * 20_000
    first = _request(store, 0, "hunter2-secret 서울")
    for number in range(1, 600):
        _request(store, number, filler)
    path = tmp_path / "weather.frames"
    await until(lambda: b"redacted" in store.bodies.raw(first), "the first body in the file")
    written = path.read_bytes()
    assert "‹redacted›".encode() in written and b"hunter2" not in written
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "‹redacted› \\uc11c\\uc6b8" in store.body(first)
    assert store.matches(FrameQuery(text="서울"), 0, 10) == [first]


def test_a_secret_is_redacted_in_memory_too_and_at_the_cut_of_a_long_body() -> None:
    store = FrameStore(mask=_mask)
    half = bodies.LONGEST // 2
    body = "a" * (half - 6) + "hunter2-secret" + "b" * (3 * half)
    number = store.add("in", "result", body.encode())
    shown = store.body(number)
    assert "hunter2" not in shown and "secret" not in shown
    assert shown.splitlines()[-1] == f"(of {len(body):,} bytes about the first and last {half:,} are kept)"
    assert len(shown) < bodies.LONGEST + 200


async def test_without_a_folder_the_oldest_bodies_are_let_go_which_is_told_once() -> None:
    store, told = FrameStore(), []
    store.bodies.on_lost = lambda: told.append(True)
    for number in range(600):
        _request(store, number, "x" * 20_000)
    await until(lambda: told)
    await until(lambda: store.body(0) == "", "the oldest body gone")
    assert told == [True] and store.body(599) and store.frames(0, 1)[0].id == "0"


def test_files_never_hold_more_than_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "MOST", 40_000)
    monkeypatch.setattr(spill, "FILE", 10_000)
    files = spill.Spill(lambda: tmp_path, "s")
    offsets = [files.append(bytes([65 + number]) * 4000) for number in range(20)]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 40_000
    assert files.read(offsets[-1] or 0, 4000) == b"T" * 4000
    assert files.read(offsets[0] or 0, 4000) == b""
    files.close()


def test_files_of_earlier_runs_count_too_and_go_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "MOST", 40_000)
    monkeypatch.setattr(spill, "FILE", 10_000)
    (tmp_path / "s2.frames").write_bytes(b"o" * 90_000)
    (tmp_path / "s.log").write_bytes(b"o" * 90_000)
    others = set(tmp_path.iterdir())
    for _ in range(5):
        files = spill.Spill(lambda: tmp_path, "s")
        offsets = [files.append(bytes([65 + number]) * 4000) for number in range(9)]
        mine = [path for path in tmp_path.iterdir() if path not in others]
        assert sum(path.stat().st_size for path in mine) <= 40_000
        assert files.read(offsets[-1] or 0, 4000) == b"I" * 4000
        files.close()
    assert others <= set(tmp_path.iterdir())


def test_a_call_with_endless_progress_keeps_only_numbers_of_frames_that_are_there() -> None:
    store = FrameStore(most=3000)
    for number in range(40_000):
        store.add("in", "notification", b"", method="notifications/progress", call="c")
        if number % 1000 == 0:
            assert store.noted <= 3000 + 2 * SIZE
    assert store.of_call("c")[0] == store.first and store.of_call("c")[-1] == store.end - 1


async def test_a_writer_that_fails_is_told_once_and_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [True]

    def mask(text: str) -> str:
        if broken[0]:
            raise RuntimeError("the mask is broken")
        return text

    monkeypatch.setattr(bodies, "MEMORY", 100_000)
    monkeypatch.setattr(bodies, "HARD", 300_000)
    monkeypatch.setattr(bodies, "BATCH", 50_000)
    store, told = FrameStore("s", lambda: tmp_path, mask), []
    store.bodies.on_failed = told.append
    for number in range(100):
        _request(store, number, "x" * 10_000)
    await until(lambda: told, "the failure is told")
    assert "the mask is broken" in told[0]
    broken[0] = False
    kept = [_request(store, number, "y" * 10_000) for number in range(100)]
    await until(lambda: (tmp_path / "s.frames").exists(), "bodies are written again")
    assert len(told) == 1 and store.body(kept[-1])


def test_queries_combine() -> None:
    store = FrameStore()
    store.add("out", "request", b'{"a": "Needle"}', method="tools/call", id="1", tool="echo", call="c")
    store.add("in", "result", b'{"b": 1}', method="tools/call", id="1", tool="echo", call="c", answers=0)
    store.add("in", "error", b"{}", method="ping", id="2", failed=True)

    def found(**query: Any) -> list[int]:
        return store.matches(FrameQuery(**query), 0, 99)

    assert found() == [0, 1, 2]
    assert found(text="needle") == [0] and found(text="n[e]+dle", is_regex=True) == [0]
    assert found(direction="in", method="tools/") == [1]
    assert found(id="2") == found(errors=True) == [2]
    assert found(tool="echo") == found(call="c") == [0, 1]
    assert store.frames(0, 1)[0].pair == 1


def test_a_bad_expression_is_a_sentence_and_a_slow_one_is_stopped() -> None:
    store = FrameStore()
    store.add("in", "result", b"a" * 5000 + b"!")
    with pytest.raises(ValueError, match="no regular expression"):
        store.matches(FrameQuery(text="(", is_regex=True), 0, 1)
    with pytest.raises(ValueError, match="too long"):
        store.matches(FrameQuery(text="(a+)+$", is_regex=True), 0, 1)
