"""When a conversation is too long for its model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.context.limits import limits


@pytest.mark.parametrize(
    ("window", "output", "start"),
    [
        (1_000_000, 8_192, 800_000),
        (400_000, 128_000, 206_464),
        (200_000, 8_192, 126_272),
        (200_000, 64_000, 70_464),
        (128_000, 8_192, 54_272),
        (128_000, 32_768, 95_232),
        (65_536, 8_192, 52_428),
        (32_768, 0, 24_576),
        (32_768, 8_192, 24_576),
        (8_192, 0, 6_144),
        (8_192, 4_096, 4_096),
        (8_192, 8_192, 4_096),
        (4_096, 0, 3_072),
    ],
)
def test_shortening_begins_with_room_for_what_comes(window: int, output: int, start: int) -> None:
    assert limits(window, output).start == start


def test_the_tail_is_a_sixth_of_the_window() -> None:
    assert limits(1_000_000, 8_192).tail == 160_000


def test_an_unknown_window_has_no_limits() -> None:
    bounds = limits(0, 8_192)
    assert (bounds.start, bounds.most, bounds.tail) == (0, 0, 0)


@given(st.integers(1_000, 4_000_000), st.integers(0, 300_000))
def test_every_window_leaves_room_for_a_tail_and_for_an_answer(window: int, output: int) -> None:
    bounds = limits(window, output)
    assert 0 < bounds.tail < bounds.start <= bounds.most < window
    assert bounds.start + bounds.reserve == window
    assert bounds.start >= window // 4
