"""Counts and latencies by method."""

from __future__ import annotations

from hel_tui.core.mcp.figures import MOST, Figures, percentile


def test_median_and_percentile_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(1, 101)]
    assert percentile(values, 0.5) == 50 and percentile(values, 0.95) == 95
    assert percentile([7.0], 0.95) == 7 and percentile([], 0.5) == 0


def test_methods_are_told_apart_by_direction_and_sorted_by_use() -> None:
    figures = Figures()
    for number in range(600):
        figures.answered("out", "tools/call", float(number), failed=number % 3 == 0)
    figures.answered("in", "ping", 0.1, failed=False)
    calls, ping = figures.rows()
    assert (calls.method, calls.count, calls.errors) == ("tools/call", 600, 200)
    assert calls.median == 349 and calls.recent[-1] == 599 and len(calls.recent) == 32
    assert (ping.method, ping.direction, ping.count) == ("ping", "in", 1)


def test_a_request_without_an_answer_counts_and_has_no_latency() -> None:
    figures = Figures()
    figures.answered("out", "tools/call", 2.0, failed=False)
    figures.unanswered("out", "tools/call")
    (calls,) = figures.rows()
    assert (calls.count, calls.errors, calls.median, calls.recent) == (2, 1, 2.0, (2.0,))


def test_a_server_cannot_invent_methods_without_end() -> None:
    figures = Figures()
    for number in range(2 * MOST):
        figures.answered("in", f"m{number}", 0.0, failed=False)
    assert len(figures.rows()) == MOST
