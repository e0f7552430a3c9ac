"""Patterns of permission rules."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.permissions.globs import escape, has_wildcard, matches, path_matches

PIECES = st.text(alphabet="ab*?\\/.", max_size=12)


@given(PIECES, PIECES)
def test_an_escaped_text_fits_itself_and_nothing_else(text: str, other: str) -> None:
    assert matches(escape(text), text) and not has_wildcard(escape(text))
    assert matches(escape(text), other) is (text == other)


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
def test_wildcards_mean_what_they_mean_everywhere(pattern: str, text: str) -> None:
    assert matches(pattern, text) is fnmatch.fnmatchcase(text, pattern)


def test_many_wildcards_cost_no_more_than_pattern_times_text() -> None:
    assert not matches("*a" * 200 + "b", "a" * 4000)
    assert not path_matches("**/a/" * 200 + "b", "a/" * 500 + "c", {}, strict=True)


@pytest.mark.parametrize(
    ("pattern", "path", "does"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/deep/er/a.py", True),
        ("src/**", "lib/src/a.py", False),
        ("src/**", "srcs/a.py", False),
        ("src", "src/a.py", True),
        ("src/", "src/a.py", True),
        ("*.py", "a.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("/*.py", "a.py", True),
        ("./*.py", "deep/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/test_*.py", "src/test_a.py", True),
        ("src/**/test_*.py", "src/x/y/test_a.py", True),
        ("**/secret", "a/b/secret", True),
        (".env", "deep/.env", True),
        ("a?c", "abc", True),
        ("a\\*c", "abc", False),
        ("a\\*c", "a*c", True),
        ("//etc/*", "/etc/passwd", True),
        ("/etc/*", "/etc/passwd", False),
        ("~/notes/**", "/home/ada/notes/a", True),
        ("src/**", "src/../etc/passwd", False),
        ("src/**", "SRC/a.py", False),
    ],
)
def test_paths_fit_as_in_ignore_files(pattern: str, path: str, does: bool) -> None:
    assert path_matches(pattern, path, {"HOME": "/home/ada"}, strict=True) is does


def test_a_wide_reading_ignores_case_and_composition_and_suspects_detours() -> None:
    for pattern, path in [
        ("secrets/**", "SECRETS/a"),
        ("\u00e9", "e\u0301"),
        ("secrets/**", "src/../secrets/a"),
    ]:
        assert path_matches(pattern, path, {}, strict=False)
        assert not path_matches(pattern, path, {}, strict=True)
