"""The event stream parser: the standard's rules, and the same events however the bytes are split."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.sse import EventStream, EventTooLarge, ServerEvent


def parse(*chunks: bytes) -> list[ServerEvent]:
    stream = EventStream()
    return [event for chunk in chunks for event in stream.feed(chunk)] + stream.close()


def data(*chunks: bytes) -> list[str]:
    return [event.data for event in parse(*chunks)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_end_lines(end: bytes) -> None:
    assert data(end.join([b"data: a", b"data: b", b"", b"data: c", b"", b""])) == ["a\nb", "c"]


def test_one_space_after_the_colon_is_dropped_and_none_is_needed() -> None:
    assert data(b"data:a\n\ndata: b\n\ndata:  c\n\n") == ["a", "b", " c"]


def test_comments_are_counted_and_change_nothing() -> None:
    stream = EventStream()
    assert [e.data for e in stream.feed(b": hello\ndata: a\n: b\ndata: c\n\n")] == ["a\nc"]
    assert stream.comments == 2


def test_an_event_without_a_data_line_is_no_event_but_keeps_its_id_for_the_next() -> None:
    assert parse(b"event: x\nid: 7\n\ndata: a\n\n") == [ServerEvent("a", "", "7")]


def test_an_id_counts_only_once_its_event_is_complete() -> None:
    stream = EventStream()
    stream.feed(b"id: 1\ndata: a\n\nid: 2\ndata: half")
    assert stream.last_id == "1"
    stream.feed(b" more\n\nid: 3\n\n")
    assert stream.last_id == "3"


def test_an_empty_data_line_is_an_event_with_empty_data() -> None:
    assert parse(b"id: 3\ndata\n\nid: 4\ndata:\n\n") == [ServerEvent("", "", "3"), ServerEvent("", "", "4")]


def test_the_type_belongs_to_one_event_only() -> None:
    assert [e.event for e in parse(b"event: ping\ndata: a\n\ndata: b\n\n")] == ["ping", ""]


def test_a_byte_order_mark_is_dropped_even_when_split() -> None:
    assert data(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == ["a"]


def test_retry_takes_digits_only_and_is_given_in_seconds() -> None:
    stream = EventStream()
    stream.feed(b"retry: 1500\nretry: soon\nretry: -1\n")
    assert stream.retry == 1.5


def test_an_id_with_a_null_is_ignored() -> None:
    assert parse(b"id: a\0b\ndata: x\n\n") == [ServerEvent("x")]


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert data(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_a_last_event_without_its_blank_line_comes_at_the_end() -> None:
    assert data(b"data: a\n\ndata: b") == ["a", "b"]


def test_a_return_at_the_end_of_a_chunk_and_a_newline_at_the_next_are_one_line_end() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == ["a\nb"]
    assert data(b"data: a\r", b"", b"\ndata: b\r\r") == ["a\nb"]


def test_an_event_above_the_limit_is_refused_whether_in_one_line_or_many() -> None:
    with pytest.raises(EventTooLarge):
        EventStream(max_event=100).feed(b"data: " + b"x" * 200)
    with pytest.raises(EventTooLarge):
        EventStream(max_event=100).feed(b"data: xxxxxxxxxx\n" * 20)


@pytest.mark.parametrize("line", [b"data\n", b"data:\n", b"data: \n"])
def test_lines_of_data_without_text_count_too(line: bytes) -> None:
    with pytest.raises(EventTooLarge):
        EventStream(max_event=100).feed(line * 101)
    assert [event.data for event in EventStream(max_event=100).feed(line * 100 + b"\n")] == ["\n" * 99]


def test_the_limit_counts_one_event_and_not_all_of_them() -> None:
    assert len(EventStream(max_event=20).feed(b"data: xxxxxxxxxx\n\n" * 50)) == 50


def test_a_run_of_blank_lines_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = EventStream()
    looked: list[bytes] = []
    line_of = EventStream._line
    monkeypatch.setattr(
        EventStream, "_line", lambda self, line, out: (looked.append(line), line_of(self, line, out))
    )
    for end in (b"\n", b"\r\n", b"\r"):
        looked.clear()
        events = stream.feed(b"data: a" + end * 10_000 + b"id: 1" + end + b"data: b" + end * 10_000)
        assert [event.data for event in events] == ["a", "b"]
        assert len(looked) < 10


def test_a_giant_line_in_small_chunks_costs_time_in_proportion_to_its_size() -> None:
    def cost(pieces: int) -> float:
        stream = EventStream()
        began = time.process_time()
        stream.feed(b"data: ")
        for _ in range(pieces):
            stream.feed(b"x" * 16)
        assert len(stream.feed(b"\n\n")[0].data) == pieces * 16
        return time.process_time() - began

    small = min(cost(20_000) for _ in range(3))
    assert cost(160_000) < small * 40  # eight times the work; quadratic would be sixty-four times


lines = st.one_of(
    st.sampled_from([b"data", b"data:", b": c", b"event: e", b"id: 1", b"retry: 5", b"", b"", b"other: x"]),
    st.text("aé🙂 포", max_size=6).map(lambda text: b"data: " + text.encode()),
)


@st.composite
def streams(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    body = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    for line in draw(st.lists(lines, max_size=12)):
        body += line + draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=12)))
    edges = [0, *cuts, len(body)]
    return body, [body[a:b] for a, b in itertools.pairwise(edges)]


@given(streams())
def test_splits_never_change_the_events(case: tuple[bytes, list[bytes]]) -> None:
    body, chunks = case
    assert parse(*chunks) == parse(body) == parse(*(bytes([byte]) for byte in body))
