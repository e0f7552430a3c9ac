"""Which paths are open, however they are spelled and wherever they lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hel_tui.core.tools.opening import opened_file, read_whole, replace_file
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace, is_closed_name


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src" / "deep").mkdir(parents=True)
    (project / "src" / "a.py").write_text("a")
    (project / ".hel" / "mcp").mkdir(parents=True)
    (project / ".hel" / "mcp" / "server.py").write_text("8437")
    (project / "sub" / ".hel").mkdir(parents=True)
    (project / "sub" / ".hel" / "x").write_text("nested")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    return project


def place(workspace: Workspace, path: str, *, for_write: bool = False) -> ResolvedPath:
    found = workspace.resolve(path, for_write=for_write)
    assert isinstance(found, ResolvedPath), found
    return found


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/../src//a.py", "src/a.py"),
        (".", "."),
        ("new/file", "new/file"),
        ("hel", "hel"),
        (".help", ".help"),
    ],
)
def test_paths_inside_the_project_are_open(project: Path, path: str, shown: str) -> None:
    assert place(Workspace(project), path, for_write=True).shown == shown


def test_an_absolute_path_into_the_project_is_open_also_through_a_linked_project(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    workspace = Workspace(tmp_path / "link")
    assert place(workspace, str(project / "src/a.py")).shown == "src/a.py"
    assert place(workspace, str(tmp_path / "link/src/a.py")).shown == "src/a.py"


@pytest.mark.parametrize(
    "path", ["..", "../outside/secret", "/etc/passwd", "src/../../outside/secret", "~/x/.."]
)
def test_paths_outside_are_refused(project: Path, path: str) -> None:
    found = Workspace(project).resolve(path)
    if path == "~/x/..":
        assert isinstance(found, ResolvedPath)
        assert found.shown == "~"
    else:
        assert isinstance(found, Refusal)
        assert "outside the project" in found.sentence


@pytest.mark.parametrize("target", ["../outside", "../outside/secret", "/etc/passwd", "/"])
def test_links_out_of_the_project_are_refused(project: Path, target: str) -> None:
    (project / "link").symlink_to(target)
    (project / "again").symlink_to("link")
    for path in ("link", "again", "link/secret", "src/../again"):
        assert isinstance(Workspace(project).resolve(path), Refusal)


@pytest.mark.parametrize(
    "path",
    [
        ".hel",
        ".hel/mcp/server.py",
        ".HEL/mcp/server.py",
        ".Hel",
        "src/../.hel/mcp",
        "./.hel/new",
        "sub/.hel/x",
        "sub/.hEl/x",
        "src/deep/.hel/not-there",
        ".h\u200cel/mcp",
        ".ｈｅｌ/mcp",
        ".hel/../src/a.py",
    ],
)
def test_hels_folder_is_closed_in_any_spelling(project: Path, path: str) -> None:
    for spelled in (path, str(project / path)):
        for for_write in (False, True):
            found = Workspace(project).resolve(spelled, for_write=for_write)
            assert isinstance(found, Refusal)
            assert "closed" in found.sentence


def test_hels_folder_is_closed_through_links(project: Path) -> None:
    (project / "dir").symlink_to(".hel")
    (project / "file").symlink_to(".hel/mcp/server.py")
    (project / "src" / "up").symlink_to("..")
    (project / "two").symlink_to("src/up/dir/mcp")
    for path in ("dir/mcp/server.py", "file", "src/up/.hel/mcp", "two/server.py", "src/up/src/up/dir"):
        assert isinstance(Workspace(project).resolve(path), Refusal), path


def test_where_hels_folder_is_a_link_its_target_is_closed_too(project: Path) -> None:
    (project / "sub" / ".hel").rename(project / "kept")
    (project / "other").mkdir()
    (project / "other" / ".hel").symlink_to("../kept")
    (project / ".hel").rename(project / "away")
    (project / ".hel").symlink_to("away")
    assert isinstance(Workspace(project).resolve("away/mcp/server.py"), Refusal)


def test_further_folders_can_be_closed(project: Path) -> None:
    workspace = Workspace(project, closed=(project / "src",))
    assert isinstance(workspace.resolve("src/a.py"), Refusal)
    assert not workspace.is_open(workspace.project, ("src", "a.py"))


def test_the_sessions_folder_is_open_to_read_only_also_inside_a_closed_one(
    project: Path, tmp_path: Path
) -> None:
    files = tmp_path / ".hel" / "session" / "files"
    workspace = Workspace(project, files, closed=(tmp_path / ".hel",))
    saved = str(files / "bash.txt")
    assert place(workspace, saved).shown == saved
    assert isinstance(workspace.resolve(saved, for_write=True), Refusal)
    assert isinstance(workspace.resolve(str(files.parent / "record.jsonl")), Refusal)
    assert workspace.is_open(workspace.files or project, ("bash.txt",))


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000, "\ud800", "caf\udce9"])
def test_what_is_no_path_is_refused(project: Path, path: str) -> None:
    assert isinstance(Workspace(project).resolve(path), Refusal)


def test_a_missing_file_is_told_with_near_names_but_never_hels(project: Path) -> None:
    workspace = Workspace(project)
    assert workspace.missing(place(workspace, "src/b.py")) == "There is no src/b.py. Did you mean src/a.py?"
    assert workspace.missing(place(workspace, "he")) == "There is no he."
    assert "folder does not exist" in workspace.missing(place(workspace, "no/b.py"))


def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(project: Path, tmp_path: Path) -> None:
    workspace = Workspace(project)
    (project / "src" / "deep" / "secret").write_text("fine")
    checked = place(workspace, "src/deep/secret")
    (project / "src" / "deep").rename(project / "moved")
    (project / "src" / "deep").symlink_to(tmp_path / "outside")
    found = read_whole(workspace, checked, 100)
    assert isinstance(found, Refusal)
    assert isinstance(replace_file(checked, b"overwritten", None), Refusal)
    assert (tmp_path / "outside" / "secret").read_text() == "secret"


def test_a_file_swapped_for_a_link_after_the_check_is_not_followed(project: Path, tmp_path: Path) -> None:
    workspace = Workspace(project)
    checked = place(workspace, "src/a.py")
    (project / "src" / "a.py").unlink()
    (project / "src" / "a.py").symlink_to(tmp_path / "outside" / "secret")
    found = read_whole(workspace, checked, 100)
    assert isinstance(found, Refusal)
    assert "link" in found.sentence
    assert isinstance(replace_file(checked, b"overwritten", None), Refusal)
    assert (tmp_path / "outside" / "secret").read_text() == "secret"


def test_pipes_devices_and_folders_are_not_opened(project: Path) -> None:
    os.mkfifo(project / "pipe")
    workspace = Workspace(project)
    for path, word in (("pipe", "not a regular file"), ("src", "folder"), (".", "folder")):
        found = read_whole(workspace, place(workspace, path), 100)
        assert isinstance(found, Refusal)
        assert word in found.sentence
        assert isinstance(replace_file(place(workspace, path), b"", None), Refusal)
    with opened_file(place(workspace, "pipe")) as file:
        assert isinstance(file, Refusal)


def test_descriptors_do_not_leak(project: Path) -> None:
    workspace = Workspace(project)
    before = len(os.listdir("/dev/fd"))
    for path in ("src/a.py", "src", "src/none", "none/x"):
        read_whole(workspace, place(workspace, path), 100)
        replace_file(place(workspace, "src/a.py"), b"a", None)
    assert len(os.listdir("/dev/fd")) == before


def test_names_like_hels_are_known() -> None:
    assert all(is_closed_name(name) for name in (".hel", ".HEL", ".h\u200del", ".hel ", ".Hel"))
    assert not any(is_closed_name(name) for name in ("hel", ".hell", ".hel.txt", "x.hel", ".he"))
