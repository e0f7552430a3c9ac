"""Themes: all of ours load and can be read, and a wrong file is a sentence."""

import pytest
from textual.color import Color

from hel_tui.tui import themes

OURS = {"fjord", "ember", "paper", "frost", "contrast", "terminal"}


def contrast(one: str, other: str) -> float:
    def luminance(name: str) -> float:
        parts = [
            c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in Color.parse(name).normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_all_of_ours_load_without_a_problem():
    loaded = themes.load()
    assert loaded.problems == ()
    assert set(loaded.themes) == OURS
    assert sum(theme.dark for theme in loaded.themes.values() if not theme.ansi) == 3


@pytest.mark.parametrize("name", sorted(OURS - {"terminal"}))
def test_state_colours_can_be_read_on_the_background(name):
    theme = themes.load().themes[name]
    least = 7 if name == "contrast" else 4.5
    for color in (theme.success, theme.warning, theme.error, theme.accent, theme.foreground):
        assert contrast(color, theme.background) >= least
        assert contrast(color, theme.surface) >= least - 0.5


@pytest.mark.parametrize(
    "text",
    [
        'primary = "#12"',
        'primary = "nocolor"',
        "primary = 3",
        'background = "#000000"',
        'primary = "#ffffff"\ncolour = "x"',
        'primary = "#ffffff"\ndark = "yes"',
        'primary = "#ffffff"\nvariables = 3',
        'primary = "#ffffff"\ntext_alpha = "a"',
        'primary = "#ffffff"\n[variables]\nborder = "[/]"',
        "= 1",
        "primary = " + "9" * 5000,
        "primary = " + "[" * 9000,
    ],
)
def test_a_wrong_file_is_left_out_with_a_sentence(tmp_path, text):
    (tmp_path / "bad.toml").write_text(text, "utf-8")
    (tmp_path / "good.toml").write_text('primary = "#ffffff"', "utf-8")
    loaded = themes.load(tmp_path)
    assert set(loaded.themes) == OURS | {"good"}
    assert len(loaded.problems) == 1 and "bad.toml" in loaded.problems[0]


def test_a_persons_theme_replaces_ours_of_the_same_name(tmp_path):
    (tmp_path / "fjord.toml").write_text('name = "fjord"\nprimary = "#ffffff"', "utf-8")
    assert themes.load(tmp_path).themes["fjord"].primary == "#ffffff"


def test_an_unknown_theme_falls_back_and_names_those_there_are():
    name, problem = themes.choose(themes.load(), "nope")
    assert name == themes.DEFAULT
    assert "nope" in problem and "paper" in problem
    assert themes.choose(themes.load(), "paper") == ("paper", "")
    assert themes.choose(themes.load(), None) == (themes.DEFAULT, "")
