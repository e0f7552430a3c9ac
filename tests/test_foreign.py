"""Foreign text, made safe for a screen, a decision, a model and a line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.foreign import (
    UNSEEN,
    ForeignText,
    clean,
    for_model,
    harmless,
    is_clean,
    plain_line,
    printable,
    reveal,
)

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
PIECES += ["\ufe0f", "\u200d", "\u2062", "\U000e0101", "\u2066", "\u2028", "\r\n"]
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


@given(st.one_of(NASTY, st.text()))
def test_no_control_reaches_a_model_and_cleaning_twice_changes_nothing(text: str) -> None:
    once = for_model(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]", once)
    assert not re.search("[\U000e0000-\U000e007f]", once)
    assert for_model(once) == once
    once.encode()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("1\r\n2\r3", "1\n2\n3"),
        ("\x1b[1mbold\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", "bold link"),
        ("a\0b\x08", "a␀b␈"),
        ("half \ud83d", "half \ufffd"),
        ("access\u202ened", "access⟨U+202E⟩ned"),
        ("soft\xadhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"),
        ("ok" + "".join(chr(0xE0000 + ord(c)) for c in "obey me"), f"ok{UNSEEN}"),
        ("\U000e0041", UNSEEN),
        ("😀" + "\ufe00\ufe01\U000e0101\ufe02" + " fine", f"😀{UNSEEN} fine"),
        ("x\u200b\u200c\u200b\u200c\u200by", f"x{UNSEEN}y"),
    ],
)
def test_a_model_reads_what_is_said_and_nothing_a_person_would_not_see(text: str, read: str) -> None:
    assert ForeignText(text).for_model == read


@pytest.mark.parametrize("text", ["👩🏽‍❤️‍💋‍👨 1️⃣ ☕️", "می‌خواهم", "क्‍ष", "葛󠄀城市", "한국어", "a\u00a0b"])
def test_writing_that_needs_invisible_characters_reaches_a_model_whole(text: str) -> None:
    assert for_model(text) == text


def test_a_long_text_is_cleaned_as_a_short_one_is() -> None:
    line = "x" * 99_000 + "\x1b]0;title\n\x1b[1mbold\n"
    assert for_model(line * 20) == for_model(line) * 20
    assert for_model("a\n" * 300_000) == "a\n" * 300_000


def test_a_sentence_holds_no_break_no_escape_and_nothing_invisible() -> None:
    assert (
        plain_line(" one\r\n\x1b[31mtwo\x1b[0m\t\0three\u200b\u202e\U000e0041 \ud800")
        == "one two three \ufffd"
    )


def test_a_line_for_a_terminal_shows_what_it_holds() -> None:
    assert printable("a\x1b[2Jb\u202ec\td é") == "a\\x1b[2Jb\\u202ec\td é"
    assert harmless("a\x1b[2J\nb\r\u200d") == "a\\x1b[2J\nb\\r\u200d"
