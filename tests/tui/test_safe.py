"""How wide foreign text is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hel_tui.tui.safe import cut, is_clean, one_line

PIECES = ["\x1b", "[", "31m", "\n", "\t", "a", "가", "\u202e", "\u200b", "\ud800", "\x85", "👩‍👧"]


@given(st.one_of(st.lists(st.sampled_from(PIECES)).map("".join), st.text()))
def test_one_line_holds_no_break_and_fits(text: str) -> None:
    line = one_line(text, 20)
    assert "\n" not in line
    assert cell_len(line) <= 20
    assert is_clean(line)


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
