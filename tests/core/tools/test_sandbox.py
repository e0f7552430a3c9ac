"""The sandbox: what a command can and cannot touch."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from hel_tui.core.tools.bash import Bash
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.sandbox import Sandbox, closed_folders, seatbelt_profile
from hel_tui.core.vocabulary import Invocation


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / ".hel").mkdir(parents=True)
    (project / ".hel" / "secret").write_text("8437")
    (project / "sub" / ".hel").mkdir(parents=True)
    (project / "sub" / ".hel" / "secret").write_text("8437")
    (tmp_path / "state" / "files").mkdir(parents=True)
    (tmp_path / "state" / "record").write_text("private")
    (tmp_path / "state" / "files" / "result.txt").write_text("saved")
    return project


def made(project: Path, *, network: bool = True) -> Bash:
    state = project.parent / "state"
    tool = Bash(Workspace(project, state / "files", closed=(state,)), os.environ, network=network)
    if not tool.sandboxed:
        pytest.skip("no sandbox on this system")
    assert tool.warnings == ()
    return tool


async def run(tool: Bash, command: str) -> str:
    return (await tool.run({"command": command}, Invocation("1"))).text


async def test_the_project_is_writable(project: Path) -> None:
    assert await run(made(project), "echo x > new && cat new") == "exit=0\nx\n"
    assert (project / "new").read_text() == "x\n"


async def test_hels_folders_can_neither_be_read_nor_changed(project: Path) -> None:
    tool = made(project)
    for command in (
        "cat .hel/secret sub/.hel/secret",
        "cat /proc/self/cwd/.hel/secret",
        "echo x > .hel/new",
        "echo x > sub/.hel/new",
        "mv .hel away",
        "rm -rf .hel/secret && rmdir .hel",
        "umount .hel",
        "mv sub other && cat other/.hel/secret",
    ):
        text = await run(tool, command)
        assert not text.startswith("exit=0\n"), command
        assert "8437" not in text
    assert (project / ".hel" / "secret").read_text() == "8437"
    assert os.listdir(project / ".hel") == ["secret"]
    assert "8437" not in await run(tool, "grep -r 8437 . || true")


async def test_hels_folder_cannot_be_made_and_none_is_left_behind(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "state").mkdir()
    tool = made(project)
    for command in ("mkdir .hel", "mkdir -p .hel && echo x > .hel/mcp.json"):
        await run(tool, command)
        assert not (project / ".hel").exists()


async def test_the_rest_of_the_system_is_read_only(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    tool = made(project)
    for place in ("/etc/x", "/usr/x", "/var/tmp/x", "~/hel-sandbox-test"):
        assert not (await run(tool, f"echo x > {place}")).startswith("exit=0\n"), place
    await run(tool, f"mkdir -p {tmp_path}/outside; echo x > {tmp_path}/outside/x")
    assert os.listdir(tmp_path / "outside") == []
    assert (await run(tool, "test -r /etc/passwd && echo yes")).endswith("yes\n")


async def test_hels_own_folders_are_hidden_but_saved_results_can_be_read(project: Path) -> None:
    tool, state = made(project), project.parent / "state"
    assert "private" not in await run(tool, f"cat {state}/record")
    assert await run(tool, f"cat {state}/files/result.txt") == "exit=0\nsaved\n"
    assert not (await run(tool, f"echo x > {state}/files/result.txt")).startswith("exit=0\n")
    assert not (await run(tool, f"echo x > {state}/new")).startswith("exit=0\n")


async def test_temporary_files_last_for_the_session_and_are_its_own(project: Path) -> None:
    tool, name = made(project), f"hel-sandbox-{os.getpid()}"
    assert await run(tool, f"echo kept > ${{TMPDIR:-/tmp}}/{name}") == "exit=0\n"
    assert await run(tool, f"cat $TMPDIR/{name}") == "exit=0\nkept\n"
    assert name not in os.listdir("/tmp")


async def test_other_processes_are_out_of_sight(project: Path) -> None:
    if sys.platform == "darwin":
        pytest.skip("Seatbelt hides no processes")
    text = await run(made(project), f"cat /proc/{os.getpid()}/environ || ls /proc | grep -c '^[0-9]'")
    assert int(text.split("\n")[1]) < 10


async def test_the_network_is_open_or_closed_by_setting(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        assert "connected" in await run(made(project), command)
        assert "connected" not in await run(made(project, network=False), command)


async def test_nobody_gains_rights_inside(project: Path) -> None:
    if sys.platform == "darwin":
        pytest.skip("Linux capabilities")
    assert not (await run(made(project), "mount -o remount,rw / || unshare -r umount .hel")).startswith(
        "exit=0\n"
    )


def test_closed_folders_are_named_once_and_without_what_holds_the_project(project: Path) -> None:
    state = project.parent / "state"
    workspace = Workspace(project, closed=(state, state / "deeper", project.parent, project))
    assert closed_folders(workspace) == sorted([project / ".hel", project / "sub" / ".hel", state])


def test_without_a_program_there_is_no_sandbox(project: Path) -> None:
    sandbox = Sandbox(Workspace(project), {"PATH": "/nonexistent"}, network=True)
    assert not sandbox.works
    with pytest.raises(OSError):
        sandbox.wrap(["true"])


def test_a_program_that_fails_is_no_sandbox(project: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bwrap", "sandbox-exec"):
        (tmp_path / "bin" / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "bin" / name).chmod(0o755)
    assert not Sandbox(Workspace(project), {"PATH": str(tmp_path / "bin")}, network=True).works


def test_the_seatbelt_profile_quotes_paths_and_closes_hels_folder_last(tmp_path: Path) -> None:
    project = tmp_path / 'pro"ject (1)'
    project.mkdir()
    profile = seatbelt_profile(Workspace(project), Path("/tmp/t"), network=False)
    assert f'(subpath "{tmp_path}/pro\\"ject (1)")' in profile
    assert profile.index("allow file-write*") < profile.index("[hH][eE][lL]")
    assert profile.endswith("(deny network*)")


async def test_nothing_runs_where_hels_folder_is_a_link_that_could_be_replaced(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "conf").mkdir()
    (project / ".hel").symlink_to("conf")
    answer = await run(made(project), "rm .hel; mkdir .hel")
    assert "`.hel` in the project is a link" in answer
    assert (project / ".hel").is_symlink()
