"""Which files a glob means, and which saves are told."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from hel_tui.core.session.saves import read_glob, saves
from hel_tui.core.tools.wildcards import WildcardError

Next = Callable[[], Awaitable[set[str]]]


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
    numbers = itertools.count()
    async with asyncio.timeout(30):
        found = saves([read_glob(tmp_path, "src/*.py")])
        first = asyncio.ensure_future(anext(found))
        while not first.done():
            (tmp_path / "src").mkdir(exist_ok=True)
            (tmp_path / "src" / "a.py").write_text(str(next(numbers)))
            await asyncio.sleep(0.05)
        assert first.result() == (tmp_path / "src" / "a.py",)
        await found.aclose()


@asynccontextmanager
async def followed(
    root: Path, glob: str, told: list[str] | None = None, first: str = "start.py"
) -> AsyncIterator[Next]:
    """Saves that match, from when they are followed; gives what waits for the next one."""
    heard: asyncio.Queue[tuple[Path, ...]] = asyncio.Queue()

    async def follow() -> None:
        async for files in saves([read_glob(root, glob)], (told if told is not None else []).append):
            heard.put_nowait(files)

    task = asyncio.ensure_future(follow())
    start, number = root / first, itertools.count()
    while heard.empty():  # nobody tells from when on a folder is watched
        start.write_text(str(next(number)))
        await asyncio.wait({task}, timeout=0.3)
        assert not task.done(), task.exception()

    async def following() -> set[str]:
        """Names of files of the next save, but for the first of all."""
        while True:
            async with asyncio.timeout(30):
                if names := {path.name for path in await heard.get()} - {"start.py"}:
                    return names

    try:
        yield following
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_touch_of_a_file_that_says_the_same_is_no_save(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    same, other = tmp_path / "deep" / "same.py", tmp_path / "deep" / "other.py"
    same.write_text("x")
    other.write_text("x")
    async with followed(tmp_path, "**/*.py") as following:
        same.touch()
        other.write_text("y")
        assert await following() == {"other.py"}


async def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    async with followed(tmp_path, "**/*.py") as following:
        (tmp_path / "pipe.py").chmod(0o600)
        os.mkfifo(tmp_path / "another.py")
        (tmp_path / "folder.py").mkdir()
        (tmp_path / "a.py").write_text("x")
        assert await following() == {"a.py"}


async def test_files_of_folders_that_come_or_move_in_are_followed(tmp_path: Path) -> None:
    project, beside = tmp_path / "project", tmp_path / "beside"
    project.mkdir()
    (beside / "more").mkdir(parents=True)
    (beside / "more" / "b.py").write_text("x")
    async with followed(project, "**/*.py") as following:
        (project / "new" / "deep").mkdir(parents=True)
        (project / "new" / "deep" / "a.py").write_text("x")
        assert await following() == {"a.py"}
        beside.rename(project / "beside")
        assert await following() == {"b.py"}
        (project / "beside" / "more" / "b.py").write_text("y")
        assert await following() == {"b.py"}


async def test_a_folder_that_goes_and_comes_back_is_followed_on(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    async with followed(tmp_path, "src/*.py", first="src/start.py") as following:
        source.rename(tmp_path / "away")
        source.mkdir()
        (source / "a.py").write_text("x")
        assert await following() == {"a.py"}


async def test_a_folder_that_cannot_be_read_is_left_out_and_told_once() -> None:
    told: list[str] = []
    with unprivileged(), tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(30):
            (root / f"f{number}" / "deep").mkdir(parents=True)
        closed = (root / "f3", root / "f7" / "deep")
        for folder in closed:
            folder.chmod(0)
        try:
            async with followed(root, "**/*.py", told) as following:
                files = {root / f"f{number}" / "deep" / f"a{number}.py" for number in range(30)}
                left = {file for file in files if not {*file.parents}.intersection(closed)}
                for file in left:
                    file.write_text("x")
                names = {file.name for file in left}
                while names:
                    names -= await following()
        finally:
            for folder in closed:
                folder.chmod(0o700)
    assert told == [f"Not watched, since it cannot be read: {root}/f3"]


async def test_a_reason_that_passes_is_told_once_and_it_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tried = watchfiles.awatch, itertools.count()

    async def full(*paths: str, **more: Any) -> AsyncIterator[Any]:
        if next(tried) < 3:
            raise OSError("OS file watch limit reached.")
        async for batch in real(*paths, **more):
            yield batch

    monkeypatch.setattr(watchfiles, "awatch", full)
    monkeypatch.setattr("hel_tui.core.session.saves.AGAIN", 0.01)
    told: list[str] = []
    async with followed(tmp_path, "*.py", told) as following:
        (tmp_path / "a.py").write_text("x")
        assert await following() == {"a.py"}
    assert told == ["Saves are not followed until it works again: OS file watch limit reached."]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without the right to read everything."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
