"""Lines from bytes: whatever the pieces, linear in size, bounded."""

from __future__ import annotations

import itertools
import time
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.framing import LineSplitter, TooLong


def lines(data: bytes, size: int = 7) -> list[bytes | TooLong]:
    splitter = LineSplitter(max_line=1000)
    found: list[bytes | TooLong] = []
    for at in range(0, len(data), size):
        found += splitter.feed(data[at : at + size])
    return found + splitter.close()


@given(st.lists(st.binary(max_size=60)), st.integers(1, 40))
def test_the_pieces_in_which_bytes_arrive_do_not_matter(parts: list[bytes], size: int) -> None:
    data = b"\n".join(parts)
    assert lines(data, size) == lines(data, len(data) or 1)


@given(st.lists(st.binary(max_size=1500), max_size=8), st.lists(st.integers(0, 12_000)))
def test_no_cut_changes_a_line_and_none_is_longer_than_the_limit(parts: list[bytes], cuts: list[int]) -> None:
    data = b"\n".join(parts)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter = LineSplitter(max_line=1000)
    found = [line for a, b in itertools.pairwise(edges) for line in splitter.feed(data[a:b])]
    found += splitter.close()
    assert found == lines(data, len(data) or 1)
    for line in found:
        assert len(line) <= 1000 if isinstance(line, bytes) else line.size > 1000


def test_a_line_without_end_takes_no_more_memory_than_the_limit() -> None:
    splitter, chunk = LineSplitter(max_line=2**20), b"x" * 65536
    tracemalloc.start()
    try:
        for _ in range(1600):
            splitter.feed(chunk)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()
    (line,) = splitter.feed(b"\n")
    assert isinstance(line, TooLong) and line.size == 1600 * 65536


def test_bom_carriage_returns_and_blank_lines_are_dropped() -> None:
    assert lines(b"\xef\xbb\xbf{}\r\n\r\n\n  \n[]\r\n") == [b"{}", b"[]"]


def test_a_last_line_without_newline_is_read() -> None:
    assert lines(b"one\ntwo") == [b"one", b"two"]


def test_only_newlines_end_a_line() -> None:
    text = "a\u2028b\x0bc\x85d".encode()
    assert lines(text + b"\n") == [text]


def test_a_line_over_the_limit_is_skipped_with_its_ends_and_the_next_one_is_read() -> None:
    long, then = lines(b"start" + b"x" * 5000 + b"end\nnext\n")
    assert isinstance(long, TooLong)
    assert (long.head[:5], long.tail[-3:], long.size) == (b"start", b"end", 5008)
    assert then == b"next"


def test_a_huge_line_costs_time_in_proportion_to_its_size() -> None:
    def seconds(size: int) -> float:
        splitter, chunk = LineSplitter(), b"x" * 65536
        begin = time.process_time()
        for _ in range(size):
            splitter.feed(chunk)
        assert len(splitter.feed(b"\n")) == 1
        return time.process_time() - begin

    small, large = min(seconds(50) for _ in range(3)), min(seconds(400) for _ in range(2))
    assert large < 40 * max(small, 0.0005)
