"""Lines that views draw: wrapping loses nothing, widths are cells."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hel_tui.tui.dialogs.pane import LABEL, TextPane
from hel_tui.tui.widgets.lines import pad, spread, width_of, wrap

TEXT = st.text(st.sampled_from("ab  \\n한글漢🙂é\u0301-⟨⟩"), max_size=60)


@given(st.lists(TEXT, max_size=4), st.integers(2, 20))
def test_wrapping_keeps_every_character_and_never_exceeds_the_width(texts, width):
    rows = wrap([(text, "") for text in texts], width)
    assert "".join(text for row in rows for text, _ in row) == "".join(texts)
    assert all(width_of(row) <= width for row in rows)


def test_wrapping_prefers_to_break_after_a_space():
    assert wrap([("allow only what you know", "")], 12) == [
        [("allow only ", "")],
        [("what you ", "")],
        [("know", "")],
    ]


def test_a_space_that_would_fall_on_the_edge_does_not_begin_the_next_row():
    rows = wrap([("allow only what you know", "")], 10)
    assert ["".join(text for text, _ in row) for row in rows] == ["allow ", "only what ", "you know"]


def test_a_very_long_line_is_wrapped_in_one_pass():
    rows = wrap([("x" * 500_000, "")], 80)
    assert len(rows) == 6250


@given(TEXT, st.integers(1, 30))
def test_padding_gives_exactly_the_width(text, width):
    assert cell_len(pad(text.replace("\n", ""), width)) == width


def test_the_right_part_is_kept_when_the_left_does_not_fit():
    parts = spread([("a very long left part", "")], [("right", "")], 12)
    assert width_of(parts) == 12
    assert parts[-1] == ("right", "")


def test_what_stands_beside_a_label_stays_there_when_it_wraps():
    rows = TextPane.wrapped([("names   ", LABEL), ("HOME, PATH, SHELL", "")], 20)
    assert ["".join(text for text, _ in row).rstrip() for row in rows] == [
        "names   HOME, PATH,",
        "        SHELL",
    ]
