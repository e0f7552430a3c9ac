"""Events wait merged, in order, and wake who waits for them."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.outbox import Outbox
from hel_tui.core.protocol import (
    CallProgress,
    Notice,
    ReasoningDelta,
    ServerChanged,
    TextDelta,
    TextDone,
    UsageChanged,
)


def test_neighbouring_deltas_of_one_item_become_one() -> None:
    outbox = Outbox()
    for piece in ("a", "b", "c"):
        outbox.put(TextDelta(1, "x", piece))
    outbox.put(TextDone(1, "x"))
    outbox.put(TextDelta(1, "y", "d"))
    assert outbox.drain() == [TextDelta(1, "x", "abc"), TextDone(1, "x"), TextDelta(1, "y", "d")]


def test_text_and_reasoning_of_one_item_are_not_mixed() -> None:
    outbox = Outbox()
    outbox.put(ReasoningDelta(1, "x", "a"))
    outbox.put(TextDelta(1, "x", "b"))
    assert len(outbox.drain()) == 2


def test_a_flood_of_progress_and_usage_takes_one_place_each() -> None:
    outbox = Outbox()
    for number in range(10_000):
        outbox.put(CallProgress("c1", number))
        outbox.put(CallProgress("c2", number))
        outbox.put(UsageChanged(number, 0, 0, 0, 0, 0))
    assert outbox.drain() == [
        CallProgress("c1", 9_999),
        CallProgress("c2", 9_999),
        UsageChanged(9_999, 0, 0, 0, 0, 0),
    ]


def test_a_server_that_goes_through_phases_shows_each_and_ends_in_the_last() -> None:
    outbox = Outbox()
    for phase in ("starting", "ready", "failed", "starting", "ready"):
        outbox.put(ServerChanged("s", phase))
    phases = [event.phase for event in outbox.drain() if isinstance(event, ServerChanged)]
    assert phases == ["starting", "ready", "failed", "starting", "ready"]


def test_counters_of_a_server_in_one_phase_take_one_place() -> None:
    outbox = Outbox()
    for noise in range(1_000):
        outbox.put(ServerChanged("s", "ready", noise=noise))
    assert outbox.drain() == [ServerChanged("s", "ready", noise=999)]


def test_waiting_ends_when_an_event_arrives() -> None:
    outbox = Outbox()
    assert not outbox.wait(0)
    thread = threading.Thread(target=lambda: outbox.put(Notice("info", "hello")))
    thread.start()
    assert outbox.wait(10)
    thread.join()


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.text(max_size=4), st.booleans()), max_size=30))
def test_no_text_is_lost_or_reordered_whenever_it_is_drained(steps: list[tuple[str, str, bool]]) -> None:
    outbox, expected, got = Outbox(), "", ""
    for item, text, drains in steps:
        outbox.put(TextDelta(1, item, text))
        expected += text
        if drains:
            got += "".join(event.text for event in outbox.drain() if isinstance(event, TextDelta))
    got += "".join(event.text for event in outbox.drain() if isinstance(event, TextDelta))
    assert got == expected
