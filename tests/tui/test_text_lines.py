"""Rows of spans: wrapping by cells, copying, heights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hel_tui.tui.text.heights import Heights
from hel_tui.tui.text.lines import MUTED, TEXT, Ink, chop, copied_text, fitted, fitted_words, prefixed, wrap
from hel_tui.tui.widgets.lines import column

WORDS = st.lists(st.sampled_from([*"ab c漢字。가나 ", "👩‍👧", "🇰"]), max_size=80).map("".join)


@given(WORDS, st.integers(2, 20))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces_at_breaks(text: str, width: int) -> None:
    rows = wrap([(text, TEXT)], width)
    assert all(cell_len(row.text) <= width for row in rows)
    assert copied_text(rows).replace(" ", "") == text.replace(" ", "")


@given(WORDS, st.integers(2, 20))
def test_chopped_rows_fit_and_lose_nothing(text: str, width: int) -> None:
    rows = chop([(text, TEXT)], width)
    assert all(cell_len(row.text) <= width for row in rows)
    assert copied_text(rows) == text


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("a longerword", 6, ["a", "longer", "word"]),
        ("漢字仮名、文", 8, ["漢字仮", "名、文"]),
        ("안녕하세요 여러분", 12, ["안녕하세요", "여러분"]),
        ("안녕하세요", 4, ["안녕", "하세", "요"]),
        ("two\nlines", 20, ["two", "lines"]),
        ("", 5, [""]),
    ],
)
def test_text_breaks_where_its_script_allows(text: str, width: int, rows: list[str]) -> None:
    assert [row.text for row in wrap([(text, TEXT)], width)] == rows


def test_a_family_emoji_stays_whole() -> None:
    rows = chop([("👩‍👩‍👧👩‍👩‍👧", TEXT)], 2)
    assert [row.text for row in rows] == ["👩‍👩‍👧", "👩‍👩‍👧"]


def test_inks_survive_a_break() -> None:
    rows = wrap([("plain ", TEXT), ("muted text", MUTED)], 11)
    assert rows[0].spans == [("plain ", TEXT), ("muted", MUTED)]
    assert rows[1].spans == [("text", MUTED)]


def test_wrapped_rows_are_copied_as_one_line_without_their_ornament() -> None:
    bar = ("▌ ", Ink("user"))
    rows = prefixed(wrap([("one two three\nfour", TEXT)], 7), bar, bar)
    assert [row.text for row in rows] == ["▌ one two", "▌ three", "▌ four"]
    assert copied_text(rows) == "one two three\nfour"


def test_a_row_that_is_too_wide_ends_in_an_ellipsis() -> None:
    assert fitted([("한국어", TEXT), (" text", MUTED)], 6).text == "한국…"
    assert fitted([("fits", TEXT)], 6).text == "fits"


@given(st.lists(st.integers(0, 5), max_size=60), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 5))))
def test_heights_are_what_plain_sums_say(values: list[int], changes: list[tuple[int, int]]) -> None:
    heights = Heights()
    for value in values:
        heights.append(value)
    for index, value in changes:
        if index < len(values):
            values[index] = value
            heights.set(index, value)
    assert heights.total == sum(values)
    rows = [(index, row) for index, value in enumerate(values) for row in range(value)]
    for y, place in enumerate(rows):
        assert heights.at(y) == place
    assert heights.at(len(rows) + 2) == (len(values), 2)
    for index in range(len(values) + 1):
        assert heights.top(index) == sum(values[:index])


@pytest.mark.parametrize("text", ["", "name", "서버가 밝힌 이름", "질문(elicitation)", "a" * 40])
def test_what_stands_behind_a_label_never_touches_it(text):
    assert cell_len(column(text, 16)) == 16 and column(text, 16)[-1] == " "


@pytest.mark.parametrize(
    ("text", "width", "row"),
    [
        ("all of it", 9, "all of it"),
        ("one two three", 10, "one two…"),
        ("one two, three", 11, "one two…"),
        ("one two", 4, "one…"),
        ("a verylongword", 10, "a verylon…"),
        ("한국어 낱말 끝", 13, "한국어 낱말…"),
    ],
)
def test_a_row_is_cut_behind_a_word_where_that_leaves_enough(text: str, width: int, row: str) -> None:
    assert fitted_words([(text, TEXT)], width).text == row


@given(WORDS, st.integers(2, 30))
def test_a_row_cut_behind_a_word_fits(text: str, width: int) -> None:
    assert cell_len(fitted_words([(text, TEXT)], width).text) <= width
