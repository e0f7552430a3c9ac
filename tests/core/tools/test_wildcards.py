"""Wildcards for paths."""

from __future__ import annotations

import pytest

from hel_tui.core.tools.wildcards import Wildcard, WildcardError


def matches(pattern: str, path: str) -> bool:
    return Wildcard(pattern).matches(path.split("/"))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.py"),
        ("*", ".hidden"),
        ("a?c", "abc"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/x/y/a.py"),
        ("**/a", "a"),
        ("**", "a/b/c"),
        ("a/**", "a/b"),
        ("**/x/**/y", "1/x/2/3/y"),
        ("./a//b/", "a/b"),
        ("*.{py,toml}", "a.toml"),
        ("{a,b{c,d}}/e", "bd/e"),
        ("{src,test}/**/*.{a,b}", "test/q/w.b"),
        ("{x}", "{x}"),
        ("[a-c]1", "b1"),
        ("[!a-c]1", "d1"),
        ("[]]", "]"),
        ("[x", "[x"),
        ("\\*", "*"),
        ("*a*b*c", "xaxbxbxc"),
        ("é*", "éa"),
    ],
)
def test_a_path_that_fits(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "src/a.py"),
        ("*.py", "a.pyc"),
        ("a?c", "ac"),
        ("?", "ab"),
        ("src/**/*.py", "src"),
        ("src/*/*.py", "src/a.py"),
        ("\\*", "a"),
        ("[a-c]1", "d1"),
        ("*.{py,toml}", "a.md"),
        ("A", "a"),
        ("**x", "a/x"),
    ],
)
def test_a_path_that_does_not_fit(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


def test_the_worst_pattern_ends_soon() -> None:
    assert not matches("*a" * 100 + "b", "a" * 255)
    assert not Wildcard("**/" * 100 + "x").matches(["y"] * 100)


@pytest.mark.parametrize("pattern", ["", "/", "x" * 2_000, "{a,b}" * 10])
def test_a_pattern_that_cannot_be_used_is_an_error(pattern: str) -> None:
    with pytest.raises(WildcardError):
        Wildcard(pattern)


def test_plain_extensions_are_known() -> None:
    assert set(Wildcard("*.{py,pyi}").extensions) == {"py", "pyi"}
    assert Wildcard("*.{py,x*}").extensions == ()
    assert Wildcard("a/*.py").extensions == ()
