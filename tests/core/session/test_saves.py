"""Which files a glob means, and which saves are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hel_tui.core.session.saves import read_glob, saves
from hel_tui.core.tools.wildcards import WildcardError


@pytest.mark.parametrize(
    ("glob", "path", "means"),
    [
        ("server.py", "server.py", True),
        ("server.py", "src/server.py", False),
        ("*.py", "server.py", True),
        ("*.py", "src/server.py", False),
        ("**/*.py", "src/deep/server.py", True),
        ("src/**/*.py", "src/server.py", True),
        ("src/**", "src/a/b.txt", True),
        ("./src/*.py", "src/a.py", True),
        ("{src,lib}/*.py", "lib/a.py", True),
        ("../beside/*.py", "../beside/a.py", True),
        ("**/*.py", "node_modules/x/a.py", False),
        ("**/*.py", ".git/a.py", False),
        ("**/*.py", "src/__pycache__/a.py", False),
        ("node_modules/mine/*.js", "node_modules/mine/a.js", True),
    ],
)
def test_a_glob_means_what_it_says(tmp_path: Path, glob: str, path: str, means: bool) -> None:
    root = tmp_path / "proj[1]"
    watched = read_glob(root, glob)
    assert watched.holds(str((root / path).resolve())) is means


def test_an_absolute_glob_means_that_place(tmp_path: Path) -> None:
    watched = read_glob(tmp_path / "project", str(tmp_path / "other" / "*.py"))
    assert watched.holds(str(tmp_path / "other" / "a.py"))


def test_a_glob_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(WildcardError):
        read_glob(tmp_path, ".")


async def test_a_folder_that_comes_later_is_watched(tmp_path: Path) -> None:
    async with asyncio.timeout(30):
        found = saves([read_glob(tmp_path, "src/*.py")])
        first = asyncio.ensure_future(anext(found))
        while not first.done():
            (tmp_path / "src").mkdir(exist_ok=True)
            (tmp_path / "src" / "a.py").write_text("1")
            await asyncio.sleep(0.05)
        assert first.result() == (tmp_path / "src" / "a.py",)
        await found.aclose()
