"""Logs: numbered for ever, a million lines in little memory, filtered by the chunk."""

from __future__ import annotations

import random
import threading

import pytest

from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.protocol import LogQuery


def texts(store: LogStore) -> list[str]:
    return [line.text for line in store.lines(store.first, store.end)]


def test_lines_keep_their_numbers_when_old_ones_leave() -> None:
    store = LogStore(max_lines=3)
    store.append([str(n) for n in range(10)], "stderr")
    assert (store.first, store.end, texts(store)) == (7, 10, ["7", "8", "9"])
    assert [line.text for line in store.lines(0, 9)] == ["7", "8"]


def test_every_change_moves_the_version() -> None:
    store = LogStore()
    before = store.version
    store.remark("hello")
    assert store.version > before


def test_the_last_lines_of_one_run_leave_out_those_before_it() -> None:
    log = LogStore()
    log.append(["old one", "old two"], "stderr")
    begins = log.end
    log.append(["new"], "stderr")
    assert log.tail(20, "stderr", begins) == ["new"]
    assert log.tail(2, "stderr") == ["old two", "new"]


def test_lines_read_the_same_packed_and_open() -> None:
    store = LogStore(server="s")
    for start in range(0, 5000, 7):
        store.append([f"line {number}" for number in range(start, min(start + 7, 5000))], "stderr")
    assert store.end == 5000 and [line.text for line in store.lines(2040, 2060)] == [
        f"line {number}" for number in range(2040, 2060)
    ]
    assert texts(store) == [f"line {number}" for number in range(5000)]
    assert store.lines(1023, 1024)[0].server == "s" and store.lines(1023, 1024)[0].time > 0


def test_the_size_is_bounded_too() -> None:
    store, chance = LogStore(max_bytes=200_000), random.Random(1)
    for _ in range(300):
        store.append([chance.randbytes(2000).hex() for _ in range(10)], "stderr")
    assert store.first > 0 and store._bytes <= 200_000
    assert len(texts(store)) == store.end - store.first
    assert store._characters < 3_000_000


def test_a_beginning_stays_the_newest_line_however_many_chunks_there_are() -> None:
    store = LogStore()
    store.append(["x"] * 1024, "stderr")
    store.append(["half"], "stderr", unfinished=True)
    store.append(["half of it", "next"], "stderr")
    assert texts(store)[-2:] == ["half of it", "next"] and store.end == 1026


def test_words_are_found_in_any_case_through_colours_and_in_every_chunk() -> None:
    store = LogStore()
    store.append(["nothing"] * 3000, "stderr")
    store.append(["an \x1b[31mER\x1b[0mROR here", "서울"], "stderr")
    store.append(["nothing"] * 3000, "stderr")
    store.append(["error at the end"], "stderr")
    assert store.matches(LogQuery(text="Error"), 0, store.end) == [3000, 6002]
    assert store.matches(LogQuery(text="Error"), 0, 6002) == [3000]
    assert store.matches(LogQuery(text="서울"), 0, store.end) == [3001]
    assert store.matches(LogQuery(text="^err.r", is_regex=True), 0, store.end) == [6002]
    assert store.matches(LogQuery(text="a\nb"), 0, store.end) == []


def test_a_level_and_above_is_a_filter() -> None:
    store = LogStore()
    store.append(["a", "b", "c", "d"], "message", levels=["debug", "warning", "", "critical"])
    assert store.matches(LogQuery(level="warning"), 0, 99) == [1, 3]
    assert store.matches(LogQuery(level="warning", text="d"), 0, 99) == [3]


def test_an_expression_that_is_none_or_takes_too_long_is_a_sentence() -> None:
    store = LogStore()
    store.append(["a" * 5000 + "!"], "stderr")
    with pytest.raises(ValueError, match="no regular expression"):
        store.matches(LogQuery(text="[", is_regex=True), 0, 1)
    with pytest.raises(ValueError, match="too long"):
        store.matches(LogQuery(text="(a+)+$", is_regex=True), 0, 1)


def test_the_log_of_all_servers_has_complete_lines_in_order_and_says_whose() -> None:
    together = LogStore()
    one, two = LogStore(server="one", also=together), LogStore(server="two", also=together)
    one.append(["a half"], "stderr", unfinished=True)
    two.append(["b"], "stderr")
    one.append(["a half and more"], "stderr")
    one.append(["the last words"], "stderr", unfinished=True)
    one.finish()
    said = [(line.server, line.text) for line in together.lines(0, 9)]
    assert said == [("two", "b"), ("one", "a half and more"), ("one", "the last words")]


def test_a_log_that_is_cleared_is_one_window_the_others_keep_their_lines() -> None:
    together = LogStore()
    one, two = LogStore(server="one", also=together), LogStore(server="two", also=together)
    one.append(["a"], "stderr")
    two.append(["b"], "stderr")
    one.clear()
    assert (one.first, one.end) == (1, 1) and len(together.lines(0, 9)) == 2
    together.clear()
    assert [line.text for line in two.lines(0, 9)] == ["b"] and together.first == together.end == 2
    one.append(["c"], "stderr")
    assert [line.text for line in one.lines(0, 9)] == [line.text for line in together.lines(0, 9)] == ["c"]


def test_reading_while_another_thread_writes_shows_whole_lines_in_order() -> None:
    store, done = LogStore(max_lines=5000), threading.Event()

    def write() -> None:
        for number in range(0, 60_000, 10):
            store.append([str(number + more) for more in range(10)], "stderr")
        done.set()

    threading.Thread(target=write, daemon=True).start()
    while not done.is_set():
        first = store.first
        seen = [int(line.text) for line in store.lines(first, first + 3000)]
        assert seen == list(range(seen[0], seen[0] + len(seen))) if seen else True
    assert store.end == 60_000
