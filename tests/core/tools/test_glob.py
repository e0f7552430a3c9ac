"""glob: what is listed, in which order, and how much of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hel_tui.core.tools.glob import Glob
from hel_tui.core.tools.listing import MAX_BYTES
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Invocation, Outcome

TREE = [
    "a.py",
    "b.md",
    "src/c.py",
    "src/deep/d.py",
    "src/.hidden.py",
    ".hel/e.py",
    "src/.HEL/e.py",
    ".git/f.py",
    "node_modules/g/g.py",
    "-dash.py",
    "Ä/ö.py",
]


@pytest.fixture
def tool(tmp_path: Path) -> Glob:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return Glob(Workspace(tmp_path))


async def glob(tool: Glob, pattern: str, **arguments: object) -> Outcome:
    return await tool.run({"pattern": pattern, **arguments}, Invocation("1"))


async def test_paths_are_listed_in_order_without_what_is_closed_or_skipped(tool: Glob) -> None:
    expected = ["-dash.py", "a.py", "src/.hidden.py", "src/c.py", "src/deep/d.py", "Ä/ö.py"]
    assert await glob(tool, "**/*.py") == Outcome("\n".join(expected))


async def test_without_a_double_star_folders_are_listed_too(tool: Glob) -> None:
    assert (await glob(tool, "*")).text.split("\n") == ["-dash.py", "a.py", "b.md", "src/", "Ä/"]


async def test_the_start_can_be_a_folder_and_results_are_still_usable_as_paths(tool: Glob) -> None:
    assert (await glob(tool, "*/*.py", path="./src")).text == "src/deep/d.py"


async def test_a_skipped_folder_that_is_spelled_or_started_from_is_searched(tool: Glob) -> None:
    assert (await glob(tool, "node_modules/**/*.py")).text == "node_modules/g/g.py"
    assert (await glob(tool, "*", path=".git")).text == ".git/f.py"


@pytest.mark.parametrize("pattern", [".hel/*", "**/.hel/**", "{.hel,x}/*", ".[h]el/*", "src/.HEL/*", ".h*"])
async def test_hels_folder_is_never_listed(tool: Glob, pattern: str) -> None:
    outcome = await glob(tool, pattern)
    assert not outcome.failed
    assert outcome.text.startswith("No path matches")


async def test_no_match_is_a_result_with_a_hint(tool: Glob) -> None:
    outcome = await glob(tool, "*.rs")
    assert outcome == Outcome("No path matches *.rs in the project. **/*.rs looks at any depth.")


@pytest.mark.parametrize(
    ("pattern", "path", "words"),
    [
        ("../*", ".", "cannot leave"),
        ("/etc/*", ".", "cannot leave"),
        ("*", "..", "outside"),
        ("*", ".hel", "closed"),
        ("*", "a.py", "not a folder"),
        ("*", "srd", "Did you mean src"),
        ("", ".", "empty"),
    ],
)
async def test_what_cannot_be_listed_is_a_sentence(tool: Glob, pattern: str, path: str, words: str) -> None:
    outcome = await glob(tool, pattern, path=path)
    assert outcome.failed
    assert words in outcome.text


async def test_links_are_listed_but_not_followed(tool: Glob, tmp_path: Path) -> None:
    (tmp_path / "src" / "up").symlink_to("..")
    (tmp_path / "src" / "etc").symlink_to("/etc")
    assert (await glob(tool, "src/*")).text.split("\n") == [
        "src/.hidden.py",
        "src/c.py",
        "src/deep/",
        "src/etc",
        "src/up",
    ]
    assert "up/" not in (await glob(tool, "**/*")).text


async def test_a_long_list_is_cut_and_says_so(tool: Glob, tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"n{number:03}").touch()
    lines = (await glob(tool, "n*")).text.split("\n")
    assert lines[-1] == "[Only the first 100 paths: narrow the pattern or the path.]"
    assert lines[:-1] == [f"n{number:03}" for number in range(100)]
    for number in range(99):
        (tmp_path / (f"l{number:02}" + "é" * 100)).touch()
    text = (await glob(tool, "l*")).text
    assert len(text.encode()) <= MAX_BYTES
    assert "[Only the first" in text


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 names only")
async def test_odd_names_stay_on_one_line_of_valid_text(tool: Glob, tmp_path: Path) -> None:
    (tmp_path / "odd\nname\x1b").touch()
    os.close(os.open(os.fsencode(tmp_path) + b"/odd\xff", os.O_CREAT))
    assert (await glob(tool, "odd*")).text.split("\n") == ["odd\\x0aname\\x1b", "odd�"]


def test_subject_and_summary(tool: Glob) -> None:
    assert tool.subject({"pattern": "*"}) == "."
    assert tool.subject({"pattern": "*", "path": "src/deep/.."}) == "src"
    assert tool.summary({"pattern": "*.py", "path": "src"}) == "*.py in src"
