"""Circles a model can go in: one call again and again, two that take turns, and what is neither."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.agent.repeats import Repeats


def told(calls: str) -> list[tuple[int, int, int]]:
    """(number of the call from 1, rounds, calls in a round) of every remark; each letter is a call."""
    repeats = Repeats()
    said = [(number, *repeats.add((letter, ""))) for number, letter in enumerate(calls, 1)]
    return [one for one in said if one[1]]


def test_one_call_again_and_again_is_told_at_three_five_and_eight() -> None:
    assert told("A" * 12) == [(3, 3, 1), (5, 5, 1), (8, 8, 1)]


def test_two_calls_in_turn_are_told_once_a_round() -> None:
    assert told("AB" * 10) == [(5, 3, 2), (9, 5, 2), (15, 8, 2)]


def test_a_circle_that_begins_late_counts_from_its_beginning() -> None:
    assert told("CDAABABAB") == [(8, 3, 2)]
    assert told("ABCCC") == [(5, 3, 1)]


def test_three_different_calls_in_turn_are_no_circle() -> None:
    assert told("ABC" * 6) == []


def test_other_arguments_are_another_call() -> None:
    repeats = Repeats()
    assert [repeats.add(("read", str(number))) for number in range(9)] == [(0, 0)] * 9


@given(st.text("AB", max_size=40))
def test_what_is_told_was_there(calls: str) -> None:
    for number, rounds, size in told(calls):
        circle = calls[number - ((rounds - 1) * size + 1) : number]
        assert len(set(circle)) == size
        assert all(a == b for a, b in zip(circle, circle[size:], strict=False))
