"""What two texts differ in, by lines."""

from __future__ import annotations

import difflib
import random

import pytest

from hel_tui.differences import MAX_LINE, Matcher, unified

NAMES = ("old", "new")


def lines(words: str) -> str:
    return "\n".join(words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a"),
        ("a", ""),
        ("abcdefgh", "abcdxfgh"),
        ("abcdefghijklmnopqrst", "xbcdefghijklmnopqrsx"),
        ("aaaa", "aa"),
        ("abc", "abc"),
    ],
)
def test_a_small_difference_is_told_as_everybody_does(before: str, after: str) -> None:
    told = unified(lines(before), lines(after), NAMES, 400)
    assert told.splitlines() == list(difflib.unified_diff([*before], [*after], *NAMES, lineterm=""))


def test_what_is_the_same_and_what_is_not_make_up_both_texts() -> None:
    chance = random.Random(3)
    for _ in range(500):
        before, after = (chance.choices("abcde", k=chance.randint(0, 14)) for _ in range(2))
        old, new = [], []
        for tag, i1, i2, j1, j2 in Matcher(before, after).get_opcodes():
            old += before[i1:i2]
            new += after[j1:j2]
            assert (before[i1:i2] == after[j1:j2]) == (tag == "equal")
        assert (old, new) == (before, after)


def test_what_is_left_when_the_steps_are_used_up_is_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hel_tui.differences.STEPS", 10)
    before, after = [*"same", *"abcabcabc" * 4, *"end"], [*"same", *"cbacbacba" * 4, *"end"]
    tags = [tag for tag, *_ in Matcher(before, after).get_opcodes()]
    assert tags == ["equal", "replace", "equal"]


def test_of_a_long_line_the_part_is_shown_that_is_different() -> None:
    same = "x" * 100_000
    told = unified(f"{same}A{same}", f"{same}B{same}", NAMES, 400)
    assert "A" in told
    assert "B" in told
    assert max(map(len, told.splitlines())) <= MAX_LINE + 3


def test_both_sides_of_a_long_difference_have_room() -> None:
    told = unified(lines("a" * 500), lines("b" * 500), NAMES, 100).splitlines()
    assert (told.count("-a"), told.count("+b"), told[-1]) == (48, 49, "… 903 more lines")
