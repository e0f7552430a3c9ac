"""Counts in sentences: one of something is never said in the plural."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hel_tui
from hel_tui.core.counts import counted

ROOT = Path(hel_tui.__file__).parent
SOURCES = sorted(
    file
    for part in ("core", "cli", "api", "labs")
    for file in (ROOT / part).rglob("*.py")
    if "project" not in file.relative_to(ROOT).parts
)
NOUNS = (
    "calls|checks|contents|definitions|entries|errors|files|findings|hits|items|lines|messages|models|"
    "notifications|pages|processes|prompts|requests|resources|results|rounds|runs|schemas|servers|sessions|"
    "steps|times|tools|turns|warnings"
)
FINE = frozenset(
    {
        # no numbers
        "{bench.mask(program)} runs",
        "{name} runs",
        # not yet
        # never one: told from the second on
        "{count} times",
        "{len(changes)} files",
        "{len(entries)} servers",
        "{len(fitting)} sessions",
        "{len(found)} times",
        "{len(given)} items",
        "{len(self._messages)} messages",
        "{limit} tools",
        "{self._breaker.failures} calls",
        "{self._breaker.failures} times",
        "{trace.matched} tools",
    }
)
"""What is told of such numbers in the sources, and may be."""
PLURAL = re.compile(rf" (?:(?:damaged|further|long|more|new|old|other) )?(?:{NOUNS})\b")


def plurals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and words of each number in an f-string that stands before a plural, whatever it is."""
    apart = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.IfExp)
        and any(isinstance(one, ast.Constant) and one.value == 1 for one in ast.walk(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr) or id(node) in apart:
            continue
        for value, words in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(words, ast.Constant):
                continue
            told = ast.unparse(value.value)
            if (found := PLURAL.match(str(words.value))) and not told.split(" ")[0].isupper():
                yield node.lineno, f"{{{told}}}{found[0]}"


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_number_in_a_sentence_has_a_form_for_one(file: Path) -> None:
    found = [f"{line}: {words}" for line, words in plurals(ast.parse(file.read_text("utf-8")))]
    assert [one for one in found if one.partition(": ")[2] not in FINE] == []


def test_one_is_told_in_the_singular() -> None:
    assert counted(1, "tool") == "1 tool"
    assert counted(0, "tool") == "0 tools"
    assert counted(1_200, "process", "processes") == "1,200 processes"


def test_a_plural_behind_any_number_is_noticed() -> None:
    assert list(plurals(ast.parse('f"{n} tools"'))) == [(1, "{n} tools")]
    assert list(plurals(ast.parse('f"{n:,} more tools in"'))) == [(1, "{n} more tools")]
    assert list(plurals(ast.parse('"1 tool" if n == 1 else f"{n} tools"'))) == []
    assert list(plurals(ast.parse('f"at most {MOST} tools"'))) == []
