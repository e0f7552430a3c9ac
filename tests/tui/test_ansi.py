"""Colours of terminals in foreign text: shown in the theme's, all else neutralised, always readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color

from hel_tui.tui.safe import is_clean
from hel_tui.tui.widgets import ansi

DARK = {"": Style(color="#d4dae3", bgcolor="#12161d"), "bad": Style(color="#e08080")}
LIGHT = {"": Style(color="#202020", bgcolor="#ffffff"), "bad": Style(color="#a02020")}


def role(styles: dict[str, Style]):
    return lambda name: styles.get(name, styles[""])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", [("plain", "base")]),
        ("\x1b[31mred\x1b[0m rest", [("red", "sgr 1 -"), (" rest", "base")]),
        ("\x1b[1;92mbold", [("bold", "sgr 10 - bold")]),
        ("\x1b[38;5;208mx", [("x", "sgr #ff8700 -")]),
        ("\x1b[38;2;1;2;3mx", [("x", "sgr #010203 -")]),
        ("\x1b[38:2::1:2:3mx", [("x", "sgr #010203 -")]),
        ("\x1b[48;5;4mx\x1b[49my", [("x", "sgr @base 4"), ("y", "base")]),
        ("\x1b[7;4mx\x1b[27my", [("x", "sgr @base - reverse underline"), ("y", "sgr @base - underline")]),
        ("\x1b[mx", [("x", "base")]),
        ("\x9b32mx", [("x", "sgr 2 -")]),
        ("\x1b[8mhidden", [("hidden", "base")]),
        ("\x1b[2J\x1b[31mx\x1b]0;title\x07y", [("xy", "sgr 1 -")]),
        ("\x1b[38;5mx", [("x", "sgr 0 -")]),
        ("\x1b[38mx", [("x", "base")]),
    ],
)
def test_sequences_become_styles(text, parts):
    assert ansi.parts(text, "base") == parts


@given(
    st.lists(st.sampled_from(["\x1b[", "\x9b", "31", ";", ":", "m", "38", "5", "2", "x", "\x1b", "\n", "한"]))
)
def test_no_text_leaves_a_control_character_or_a_style_that_cannot_be_made(pieces):
    for text, style in ansi.parts("".join(pieces)):
        assert is_clean(text) and "\n" not in text
        if style:
            assert isinstance(ansi.style(style, role(DARK), False), Style)


@pytest.mark.parametrize("styles", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("number", [*range(16, 256, 5), 255])
def test_every_colour_of_its_own_can_be_read_on_the_theme(styles, number):
    (_, name), *_rest = ansi.parts(f"\x1b[38;5;{number}mx")
    colour = ansi.style(name, role(styles), False).color
    ground = styles[""].bgcolor
    assert colour is not None and ground is not None
    assert ansi.contrast(Color.from_rich_color(colour), Color.from_rich_color(ground)) >= ansi.READABLE


def test_the_sixteen_colours_are_those_of_the_theme():
    assert ansi.style("sgr 1 -", role(DARK), False).color == RichColor.parse("#e08080")
    assert ansi.style("sgr 9 -", role(DARK), False).bold


def test_a_background_is_reversed_text():
    style = ansi.style("sgr 7 1", role(DARK), False)
    assert style.reverse and style.color == RichColor.parse("#e08080")


def test_a_terminal_that_keeps_its_colours_gets_none_of_others():
    style = ansi.style("sgr #ff8700 -", role(DARK), True)
    assert style.color in (DARK[""].color, DARK["bad"].color)
