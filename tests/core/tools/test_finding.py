"""Files by parts of their names: what ignore files leave out, what comes first, how long it takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hel_tui.core.tools import finding
from hel_tui.core.tools.finding import FileIndex
from hel_tui.core.tools.paths import Workspace

PATHS = ("src/app.py", "src/application/main.py", "docs/mapping.md", "README.md", "src/deep/er/app_test.py")


def lay(folder: Path, *paths: str) -> Path:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    return folder


def without(*names: str, folder: Path) -> dict[str, str]:
    """A search path on which these programs are not."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    for name in ("git", "rg"):
        if name not in names and (program := shutil.which(name)):
            (bin_ / name).symlink_to(program)
    return {"PATH": str(bin_), "HOME": str(folder)}


@pytest.fixture(params=["rg", "git", "walk"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> FileIndex:
    """Over a project with ignored files, by each way to list it."""
    project = lay(tmp_path / "project", *PATHS, "node_modules/app.py", ".hel/app.py", ".git/app.py")
    lay(project, "secret/app.py")
    missing = {"rg": (), "git": ("rg",), "walk": ("rg", "git")}[request.param]
    if request.param != "walk":
        if not shutil.which(request.param):
            pytest.skip(f"no {request.param} here")
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
        (project / ".gitignore").write_text("secret/\nnode_modules/\n")
    else:
        shutil.rmtree(project / "secret")
    return FileIndex(Workspace(project), without(*missing, folder=tmp_path))


def test_names_that_begin_so_come_before_others_and_ignored_ones_never(index: FileIndex) -> None:
    assert index.find("app") == (
        "src/app.py",
        "src/deep/er/app_test.py",
        "docs/mapping.md",
        "src/application/main.py",
    )


def test_a_path_is_found_by_a_part_of_it_and_by_its_letters(index: FileIndex) -> None:
    assert index.find("deep/er") == ("src/deep/er/app_test.py",)
    assert index.find("srcmain") == ("src/application/main.py",)
    assert index.find("zzz") == ()
    assert index.find("APP.PY")[0] == "src/app.py"


def test_no_word_offers_what_lies_nearest(index: FileIndex) -> None:
    found = index.find("")
    assert "README.md" in found[:2] and len(found) >= len(PATHS)
    assert not any(path.startswith((".hel/", ".git/", "node_modules/", "secret/")) for path in found)


def test_a_repository_cannot_run_a_program_by_being_listed(tmp_path: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("no git here")
    project = lay(tmp_path / "project", "a.txt")
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(
        ["git", "config", "core.fsmonitor", f"touch {tmp_path}/ran; false"], cwd=project, check=True
    )
    assert "a.txt" in FileIndex(Workspace(project), without("rg", folder=tmp_path)).find("a")
    assert not (tmp_path / "ran").exists()


def test_links_are_not_followed_out_of_the_project(tmp_path: Path) -> None:
    lay(tmp_path / "outside", "app.py")
    project = lay(tmp_path / "project", "b.txt")
    (project / "link").symlink_to(tmp_path / "outside")
    index = FileIndex(Workspace(project), without("rg", "git", folder=tmp_path))
    assert index.find("app") == ()


def lists(folder: Path, body: str) -> dict[str, str]:
    """A search path whose `rg` is this program in Python."""
    folder.mkdir()
    program = folder / "rg"
    program.write_text(f"#!{sys.executable} -S\nimport sys, time\n{body}\n")
    program.chmod(0o755)
    return {"PATH": str(folder), "HOME": str(folder)}


def test_a_hundred_thousand_names_are_searched_while_a_key_is_typed(tmp_path: Path) -> None:
    names = [f"folder{n % 100}/part{n % 1_000}/file_{n}.py" for n in range(100_000)]
    body = "for n in range(100_000): sys.stdout.write(f'folder{n % 100}/part{n % 1_000}/file_{n}.py\\0')"
    index = FileIndex(Workspace(lay(tmp_path / "project", "a.txt")), lists(tmp_path / "bin", body))
    assert index.find("file_99999") == ("folder99/part999/file_99999.py",)
    for word in ("file_99", "99/part", "zzzz"):
        began = time.process_time()
        index.find(word)
        searched = time.process_time() - began
        began = time.process_time()
        for name in names:
            name.find(word)
        assert searched < 50 * (time.process_time() - began)


def test_of_a_tree_that_takes_too_long_what_came_by_then_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "LIMIT", 1.0)
    body = "sys.stdout.write('src/app.py\\0src/ap'); sys.stdout.flush(); time.sleep(600)"
    index = FileIndex(Workspace(lay(tmp_path / "project", "a.txt")), lists(tmp_path / "bin", body))
    assert index.find("ap") == ("src/app.py",)


def test_a_file_that_is_new_is_found_once_names_are_looked_for_anew(
    index: FileIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "FRESH", 0.0)
    monkeypatch.setattr(finding, "REST", 0.0)
    assert index.find("brand_new") == ()
    lay(tmp_path / "project", "brand_new.py")
    assert index.find("brand_new") == ("brand_new.py",)


def test_a_name_that_nobody_can_type_is_not_offered(index: FileIndex, tmp_path: Path) -> None:
    project = tmp_path / "project"
    lay(project, os.fsdecode(b"src/odd\xff.py"), "src/od\ufffdd.py", "src/odé.py")
    assert sorted(index.find("src/od")) == ["src/odé.py", "src/od\ufffdd.py"]
