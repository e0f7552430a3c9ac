"""The filter of a window: newest first, a slice at a time, always equal to filtering all at once."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.tui.widgets.window_search import Seeker
from hel_tui.tui.widgets.window_sieve import Sieve


class Ticks:
    """A clock that goes on by `step` with each look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def found(sieve: Sieve) -> list[int]:
    return [sieve[row] for row in range(len(sieve))]


def every(divisor: int, asked: list[tuple[int, int]] | None = None):
    def matches(start: int, stop: int) -> list[int]:
        if asked is not None:
            asked.append((start, stop))
        return [number for number in range(start, stop) if number % divisor == 0]

    return matches


def test_the_newest_are_found_first():
    sieve = Sieve(every(10), 0, 1_000_000, Ticks(0.001))
    sieve.step(0, 1_000_000)
    assert found(sieve)[-1] == 999_990
    assert 0.0 < sieve.progress < 0.5 and sieve.behind


def test_one_step_looks_at_no_more_than_its_time_allows():
    asked: list[tuple[int, int]] = []
    sieve = Sieve(every(10, asked), 0, 1_000_000, Ticks(0.001))
    sieve.step(0, 1_000_000, 0.006)
    assert len(asked) <= 4
    assert max(stop - start for start, stop in asked) <= 16_384


def test_slow_matching_is_asked_for_in_smaller_pieces():
    asked: list[tuple[int, int]] = []
    sieve = Sieve(every(10, asked), 0, 100_000, Ticks(0.1))
    for _ in range(20):
        sieve.step(0, 100_000)
    assert asked[-1][1] - asked[-1][0] == 1


def test_what_came_at_the_front_is_told_so_that_a_view_can_stay():
    sieve = Sieve(every(10), 0, 2_000, Ticks(0.001))
    before, rows = len(sieve), 0
    while sieve.behind:
        rows += sieve.step(0, 2_000)
    assert rows == len(sieve) - before == 200 - 0
    assert sieve.step(500, 2_000) == -50


def test_the_newest_line_is_looked_at_again_while_it_grows():
    texts = ["a", "b", "par"]
    sieve = Sieve(lambda start, stop: [n for n in range(start, stop) if texts[n].endswith("tial")], 0, 3)
    sieve.step(0, 3)
    assert found(sieve) == []
    texts[2] = "partial"
    sieve.step(0, 3)
    assert found(sieve) == [2]
    texts.append("x")
    sieve.step(0, 4)
    assert found(sieve) == [2]


@settings(max_examples=200, deadline=None)
@given(
    divisor=st.integers(1, 9),
    moves=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=30),
    tick=st.sampled_from([0.0001, 0.002, 0.01]),
)
def test_rows_are_the_numbers_that_match_among_those_kept_and_looked_at(divisor, moves, tick):
    first, end = 10, 300
    sieve = Sieve(every(divisor), first, end, Ticks(tick))
    rows = 0
    for dropped, came in moves:
        first, end = min(first + dropped, end), end + came
        rows += sieve.step(first, end)
        numbers = found(sieve)
        assert numbers == sorted(set(numbers))
        assert all(number % divisor == 0 and first <= number < end for number in numbers)
        for number in range(first, end, 7):
            row = sieve.row(number)
            assert [one for one in numbers if one < number] == numbers[:row]
            assert sieve.holds(number) == (number in numbers)
    for _ in range(3_000):
        if not sieve.behind and sieve.progress == 1.0 and sieve._high >= end:
            break
        sieve.step(first, end)
    assert found(sieve) == [number for number in range(first, end) if number % divisor == 0]


@settings(max_examples=200, deadline=None)
@given(
    at=st.integers(-1, 60),
    step=st.sampled_from([1, -1]),
    hits=st.sets(st.integers(10, 50)),
    seed=st.integers(),
)
def test_the_next_match_is_the_nearest_in_its_direction_then_around_the_end(at, step, hits, seed):
    hidden = {number for number in hits if random.Random(seed + number).random() < 0.3}
    seeker = Seeker(lambda a, b: [n for n in range(a, b) if n in hits], at, step, 10, 51)
    while (number := seeker.go(lambda n: n not in hidden, 0.0)) is None:
        assert 0 <= seeker.progress <= 1
    shown = sorted(hits - hidden)
    at = min(max(at, 9), 51)
    ahead = [n for n in shown if n > at] if step > 0 else [n for n in reversed(shown) if n < at]
    around = shown if step > 0 else shown[::-1]
    assert number == (ahead or around or [-1])[0]
    if shown:
        assert seeker.is_around == (not ahead)
