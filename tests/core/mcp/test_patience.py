"""Waiting between restarts, and pausing calls to a server that fails."""

from __future__ import annotations

from hel_tui.core.mcp.patience import Backoff, Breaker


def test_delays_double_to_thirty_seconds_and_end_after_ten() -> None:
    backoff = Backoff()
    delays = [backoff.next_delay() for _ in range(11)]
    assert delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, None]


def test_a_connection_that_lived_thirty_seconds_ends_the_outage() -> None:
    backoff = Backoff(attempt=5)
    backoff.lived(29.9)
    assert backoff.attempt == 5
    backoff.lived(31)
    assert backoff.next_delay() == 0.5


def test_three_failures_in_a_row_pause_calls_for_a_minute_then_one_may_try() -> None:
    breaker = Breaker()
    for _ in range(3):
        assert breaker.seconds_left(0.0) == 0
        breaker.failed(0.0)
    assert breaker.seconds_left(20.0) == 40
    assert breaker.seconds_left(60.0) == 0
    assert breaker.seconds_left(60.0) > 0, "only one probe"
    breaker.failed(61.0)
    assert breaker.seconds_left(62.0) == 59
    assert breaker.seconds_left(121.0) == 0
    breaker.answered()
    assert breaker.seconds_left(121.0) == 0
    assert breaker.failures == 0


def test_an_answer_in_between_starts_the_count_anew() -> None:
    breaker = Breaker()
    breaker.failed(0.0)
    breaker.failed(0.0)
    breaker.answered()
    breaker.failed(0.0)
    assert not breaker.is_open(0.0)


def test_a_cancelled_probe_leaves_the_way_free_for_another() -> None:
    breaker = Breaker(failures=3, open_until=60.0)
    assert breaker.seconds_left(61.0) == 0
    breaker.abandoned()
    assert breaker.seconds_left(61.0) == 0
