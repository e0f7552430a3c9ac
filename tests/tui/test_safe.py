"""Foreign text at the border of the screen."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hel_tui.tui.safe import clean, cut, is_clean, one_line, reveal

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
PIECES = [
    "\x1b",
    "[",
    "]",
    "P",
    "X",
    "^",
    "_",
    "\\",
    "\x07",
    "\x9b",
    "\x9d",
    "\x9c",
    "31m",
    "52;c;",
    "0",
    ";",
]
PIECES += ["\n", "\r", "\t", "a", "가", "\u202e", "\u200b", "\ud800", "\U000e0041", "\x00", "\x85", "👩‍👧"]
NASTY = st.lists(st.sampled_from(PIECES)).map("".join)


@given(st.one_of(NASTY, st.text()))
def test_no_control_survives_cleaning_and_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert not CONTROLS.search(once)
    assert is_clean(once)
    assert clean(once) == once
    once.encode()


@given(st.one_of(NASTY, st.text()))
def test_one_line_holds_no_break_and_fits(text: str) -> None:
    line = one_line(text, 20)
    assert "\n" not in line
    assert cell_len(line) <= 20
    assert not CONTROLS.search(line)


@given(st.one_of(NASTY, st.text()))
def test_what_is_revealed_holds_no_control(text: str) -> None:
    assert not CONTROLS.search(reveal(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]52;c;aGk=\x1b\\b", "ab"),
        ("a\x1bPq#1\x1b\\b", "ab"),
        ("a\x1b_Gf=1\x1b\\b\x1b^x\x1b\\\x1bXy\x1b\\c", "abc"),
        ("a\x1b]0;never ends\nnext", "a\nnext"),
        ("a\x1b[3", "a"),
        ("a\x1b", "a"),
        ("a\x1bcb", "ab"),
        ("a\x1b(Bb", "ab"),
        ("bell\x07 back\x08", "bell␇ back␈"),
        ("1\r\n2\r3", "1\n2\n3"),
        ("a\tb", "a   b"),
        ("a\x7f", "a␡"),
        ("evil\u202etxt", "evil\ufffdtxt"),
        ("hid\u200bden", "hidden"),
        ("tag\U000e0041\U000e0042", "tag\ufffd"),
        ("\ud83d", "\ufffd"),
        ("한국어 👩‍👩‍👧", "한국어 👩‍👩‍👧"),
    ],
)
def test_a_text_is_cleaned_to_what_a_person_may_see(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_wrongly_decoded_text_is_not_swallowed_by_an_8_bit_introducer() -> None:
    assert clean("it\u00e2\u0080\u009ds fine and goes on") == "it\u00e2\ufffd\ufffds fine and goes on"


def test_line_breaks_can_be_drawn_as_a_mark() -> None:
    assert clean("a\nb", newlines=False) == "a↵b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\U000e0041", "a⟨U+E0041⟩"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("two\nlines", "two\nlines"),
        ("p\u0430ypal", "p\u0430⟨U+0430⟩ypal"),
        ("приве́т", "приве́т"),
        ("한국어", "한국어"),
    ],
)
def test_what_cannot_be_seen_is_revealed(text: str, shown: str) -> None:
    assert reveal(text) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("too long for it", 8, "too lon…"),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字…"),
        ("anything", 0, ""),
        ("anything", 1, "…"),
    ],
)
def test_a_cut_counts_cells(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
