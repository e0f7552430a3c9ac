"""Lines that fit a terminal, by the cells that characters take."""

from __future__ import annotations

import pytest

from hel_tui.cli.sessions.looking import line_of
from hel_tui.cli.widths import cells, cut
from hel_tui.core.protocol import SessionRow


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short enough", 12, "short enough"),
        ("one too many!", 12, "one too man…"),
        ("세션 이름이 깁니다", 18, "세션 이름이 깁니다"),
        ("세션 이름이 깁니다", 12, "세션 이름이…"),
        ("가나다라마바사", 9, "가나다라…"),
        ("e\u0301" * 9, 9, "e\u0301" * 9),
        ("narrow terminal", 2, "narrow…"),
    ],
)
def test_a_line_is_cut_by_cells_and_says_so(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cells(shown) <= max(width, 8)


def row(**given: object) -> SessionRow:
    facts = {"session_id": "s1", "title": "t", "project": "/p", "created": 0.0, "updated": 0.0, "turns": 2}
    return SessionRow(**{**facts, "size": 1, **given})  # type: ignore[arg-type]


def test_a_session_is_a_line_that_fits_and_tells_forks_and_empty_ones() -> None:
    assert line_of(row()).endswith("2 turns  t")
    assert line_of(row(parent="s0", is_open=True)).endswith("t · open · fork")
    assert line_of(row(title="", turns=0)).endswith("0 turns  (no message)")
    long = line_of(row(title="포트 " * 100, parent="s0"), 80)
    assert cells(long) in (79, 80)
    assert long.endswith("… · fork")
