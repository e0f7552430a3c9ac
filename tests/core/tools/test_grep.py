"""grep: the dialect, the answers, and that both searchers give the same ones."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hel_tui.core.tools import grep
from hel_tui.core.tools.grep import Grep
from hel_tui.core.tools.listing import MAX_BYTES
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Invocation, Outcome

NO_RIPGREP = {"PATH": "/nonexistent"}
needs_ripgrep = pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")

FILES = {
    "a.py": b"import os\ndef f(x):\n    return x\n",
    "src/b.py": "naïve = 'é'\r\nend\r\n".encode(),
    "src/deep/c.txt": b"import re",
    "src.txt": b"import src\n",
    ".hidden": b"import hidden\n",
    ".gitignore": b"*.txt\n",
    ".ignore": b"src\n",
    ".hel/secret": b"import secret\n",
    "src/.HEL/secret": b"import secret\n",
    ".git/config": b"import git\n",
    "node_modules/m/m.js": b"import m\n",
    "binary": b"import\0binary\nimport again\n",
    "late": b"x" * 9000 + b"\nimport late\n\0\nimport later\n",
    "latin": b"import caf\xe9\n",
    "-dash": b"--import\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "link").symlink_to("a.py")
    (tmp_path / "up").symlink_to("..")
    return tmp_path


@pytest.fixture(params=["ripgrep", "own"])
def tool(project: Path, request: pytest.FixtureRequest) -> Grep:
    if request.param == "ripgrep" and shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed")
    return Grep(Workspace(project), os.environ if request.param == "ripgrep" else NO_RIPGREP)


async def search(tool: Grep, pattern: str, **arguments: object) -> Outcome:
    return await tool.run({"pattern": pattern, **arguments}, Invocation("1"))


async def test_matches_come_in_order_of_path_whatever_ignore_files_say(tool: Grep) -> None:
    assert (await search(tool, "import")).text.split("\n") == [
        "-dash:1:--import",
        ".hidden:1:import hidden",
        "a.py:1:import os",
        "late:2:import late",
        "late:4:import later",
        "latin:1:import caf�",
        "src/deep/c.txt:1:import re",
        "src.txt:1:import src",
    ]


async def test_no_match_is_a_result(tool: Grep) -> None:
    assert await search(tool, "nowhere to be found") == Outcome(
        "No matches for nowhere to be found in the project."
    )


@pytest.mark.parametrize(
    ("pattern", "arguments", "lines"),
    [
        ("import", {"path": "src"}, ["src/deep/c.txt:1:import re"]),
        ("x", {"path": "a.py"}, ["a.py:2:def f(x):", "a.py:3:    return x"]),
        ("import", {"path": "-dash"}, ["-dash:1:--import"]),
        ("import", {"path": "node_modules"}, ["node_modules/m/m.js:1:import m"]),
        ("import", {"glob": "node_modules/**"}, ["node_modules/m/m.js:1:import m"]),
        ("e", {"glob": "*.py", "path": "src"}, ["src/b.py:1:naïve = 'é'", "src/b.py:2:end"]),
        ("import", {"glob": "src/**/*.txt"}, ["src/deep/c.txt:1:import re"]),
        ("import", {"glob": "{a,b}.*"}, ["a.py:1:import os"]),
        ("IMPORT O", {"ignore_case": True}, ["a.py:1:import os"]),
        ("(?i)IMPORT O", {}, ["a.py:1:import os"]),
        ("end$", {}, ["src/b.py:2:end"]),
        ("'.'$", {}, ["src/b.py:1:naïve = 'é'"]),
        ("--import", {}, ["-dash:1:--import"]),
        ("f(x", {}, None),
        (r"f\(x", {}, ["a.py:2:def f(x):"]),
    ],
)
async def test_where_and_what(
    tool: Grep, pattern: str, arguments: dict[str, object], lines: list[str] | None
) -> None:
    outcome = await search(tool, pattern, **arguments)
    assert outcome.failed == (lines is None)
    if lines is not None:
        assert outcome.text.split("\n") == lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": ".hel"}, "closed"),
        ({"path": "up"}, "outside"),
        ({"path": "nope"}, "There is no nope"),
        ({"glob": ""}, "empty"),
    ],
)
async def test_what_cannot_be_searched_is_a_sentence(
    tool: Grep, arguments: dict[str, object], words: str
) -> None:
    outcome = await search(tool, "import", **arguments)
    assert outcome.failed
    assert words in outcome.text


async def test_many_matches_are_cut_at_a_hundred(tool: Grep, project: Path) -> None:
    (project / "many").write_text("needle\n" * 200_000)
    lines = (await search(tool, "needle")).text.split("\n")
    assert lines[99] == "many:100:needle"
    assert lines[100:] == ["[Only the first 100 matches: narrow the pattern or the path.]"]


async def test_long_lines_are_cut_and_the_whole_stays_small(tool: Grep, project: Path) -> None:
    (project / "long").write_text("\n".join(["needle" + "é" * 30_000] * 50))
    text = (await search(tool, "needle")).text
    assert text.startswith("long:1:needle" + "é" * 494 + "…\nlong:2:")
    assert len(text.encode()) <= MAX_BYTES


async def test_a_search_that_takes_too_long_is_stopped(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep, "TIME_LIMIT", 0.5)
    (project / "slow").write_text("a" * 60 + "\n")
    outcome = await search(Grep(Workspace(project), NO_RIPGREP), "(a+)+b$", path="slow")
    assert outcome == Outcome("[The search took too long and was stopped: narrow the pattern or the path.]")


async def test_a_program_of_the_project_is_not_taken_for_ripgrep(project: Path) -> None:
    (project / "rg").write_text("#!/bin/sh\ntouch ran\n")
    (project / "rg").chmod(0o755)
    tool = Grep(Workspace(project), {"PATH": f"{project}:.:bin"})
    assert (await search(tool, "import o")).text == "a.py:1:import os"
    assert not (project / "ran").exists()


# ------------------------------------------------------------ same answers

names = st.sampled_from(
    ["a", "b.py", "B", "a.b", "é", "-x", "d1/a", "d1/b.py", "d1/d2/c", "d1.x", "d/venv/q"]
)
lines = st.lists(st.text("abxé😀\t _.-(1\u00a0K\r", max_size=8), max_size=4)
ends = st.sampled_from(["\n", "\r\n", "\n\n"])
raw = st.sampled_from([b"", b"\xff", b"a\xe9b\n", b"\xef\xbb\xbf", b"\0"])
contents = st.builds(
    lambda head, texts, end, last: head + end.join(texts).encode() + (end.encode() if last else b""),
    raw,
    lines,
    ends,
    st.booleans(),
)
atoms = st.one_of(
    st.sampled_from(["a", "b", "é", "😀", " ", "-", "_", "{", "}", "]", "#", "&", "~", '"', "/", "k"]),
    st.sampled_from([".", "^", "$", r"\b", r"\B", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\.", r"\-"]),
    st.sampled_from([r"\"", r"\x41", r"\t", r"\n", r"\1", "(?=a)", "(?P<n>a)", "(?i:A)", "(?:)"]),
    st.sampled_from(["[ab]", "[^ab]", r"[^\w]", r"[\W1]", "[a-x]", "[[:alpha:]_]", "[]a]", "[[a]"]),
    st.sampled_from([r"[\]&&b~-]", "[é-😀]", r"[^\S]"]),
)
repeats = st.sampled_from(["", "", "", "*", "+", "?", "*?", "{2}", "{,2}", "{1,}", "{", "++", "{0}"])
pieces = st.lists(st.tuples(atoms, repeats).map("".join), min_size=1, max_size=4).map("".join)
patterns = st.one_of(
    pieces, st.tuples(pieces, pieces).map("|".join), pieces.map(lambda piece: f"({piece})+"), st.just("x|")
)


@needs_ripgrep
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(names, contents, max_size=5),
    st.lists(patterns, min_size=1, max_size=3),
    st.booleans(),
)
def test_both_searchers_give_the_same_answers(
    files: dict[str, bytes], searched: list[str], ignore_case: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for name, data in files.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_bytes(data)

        async def both(pattern: str) -> tuple[Outcome, Outcome]:
            workspace = Workspace(project)
            one, other = Grep(workspace, os.environ), Grep(workspace, NO_RIPGREP)
            return tuple(
                await asyncio.gather(
                    search(one, pattern, ignore_case=ignore_case),
                    search(other, pattern, ignore_case=ignore_case),
                )
            )

        for pattern in searched:
            ripgrep, own = asyncio.run(both(pattern))
            assert ripgrep == own, pattern
            assert "search failed" not in own.text
