"""A rule of the house: foreign text is cleaned in `hel_tui.foreign` and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hel_tui
from hel_tui.tui.dialogs import pane, url

PACKAGE = Path(hel_tui.__file__).parent
HOME = PACKAGE / "foreign.py"
LAID = {"samples", "project"}
"""Folders with projects that are laid out, not with modules."""
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != HOME and not LAID & {*path.parts}]

CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e0fff]"
)
ESCAPES = re.compile(
    r"\\x(?:0[0-8bcef]|1[0-9a-f]|7f|8[0-46-9a-f]|9[0-9a-f])|\\u(?:200[b-f]|202[a-e]|206[0-9a-f]|d[89a-f]|feff)"
    r"|\\U000e0",
    re.IGNORECASE,
)
TESTS = ("isprintable", "category", "expandtabs")
"""Methods with which one cleans by hand."""


def offences(source: str) -> Iterator[str]:
    """What looks like cleaning: patterns and tables that name controls, tests of single characters."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in (
            "compile",
            "sub",
            "search",
            "match",
            "fullmatch",
            "findall",
            "finditer",
            "split",
            "maketrans",
        ):
            for one in ast.walk(node):
                if (
                    isinstance(one, ast.Constant)
                    and isinstance(one.value, str)
                    and (CONTROLS.search(one.value) or ESCAPES.search(one.value))
                ):
                    yield f"line {one.lineno}: a pattern that names control or invisible characters"
        if isinstance(node.func, ast.Attribute) and name in TESTS:
            yield f"line {node.lineno}: .{name}()"


ALLOWED = {
    "cli/streams.py": "asks whether there is anything to clean before it loads what cleans",
    "core/guard.py": "a name in the environment of a process",
    "core/mcp/http/target.py": "refuses header values",
    "core/mcp/jsonc.py": "the grammar of JSON",
    "core/mcp/suspicion.py": "tells of invisible characters, takes none out",
    "core/models/choose.py": "refuses a URL",
    "core/models/connection.py": "refuses a key",
    "core/store/files.py": "names of files",
    "core/tools/finding.py": "the byte between names of files",
    "core/tools/paths.py": "compares names of files",
    "tui/keymap.py": "keys, not text",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_cleans_text_on_its_own(path: Path) -> None:
    name = str(path.relative_to(PACKAGE))
    found = list(offences(path.read_text()))
    if name in ALLOWED:
        assert found, f"{name} need not be allowed any more"
    else:
        assert not found, f"{name}: {found}; use hel_tui.foreign"


def test_cleaning_is_recognised() -> None:
    for source in (
        'import re\nre.sub("\\x1b\\\\[m", "", t)',
        'P = re.compile(r"[\\x00-\\x1f]")',
        '_ = re.compile("[\\u202a-\\u202e]")',
        't = "".join(c for c in t if c.isprintable())',
        "t.expandtabs(4)",
    ):
        assert list(offences(source)), source
    assert not list(offences('re.compile(r"[ \\t\\r\\n]+"); "\\x1b[?25l"; s.split()'))


DIALOGS = [path for path in MODULES if path.parent.name == "dialogs"]


@pytest.mark.parametrize("path", DIALOGS, ids=lambda path: path.stem)
def test_a_dialog_draws_what_is_foreign_as_foreign_text(path: Path) -> None:
    """`reveal` takes any string: in a dialog it is reached through the type, whose helpers take nothing else."""
    imported = {
        name.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module in ("hel_tui.tui.safe", "hel_tui.foreign")
        for name in node.names
    }
    assert "reveal" not in imported


def test_what_dialogs_draw_foreign_text_with_takes_nothing_but_that_type() -> None:
    for draw in (pane.foreign, pane.one_line, pane.framed, pane.diff_lines, url.fact, url.address_lines):
        taken = [
            kind for name, kind in draw.__annotations__.items() if name in ("text", "diff", "value", "url")
        ]
        assert taken == ["ForeignText"], draw.__name__
