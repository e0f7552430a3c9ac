"""What a check looks at, and why it says no."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.core.tools.processes import Bounded
from hel_tui.labs.checking import Scene, changed_files, look, server_calls
from hel_tui.labs.lab import Check, Wanted
from hel_tui.labs.laying import lay


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    template = tmp_path / "template"
    (template / "dot-hel" / "mcp").mkdir(parents=True)
    (template / "dot-hel" / "mcp" / "server.py").write_text("pass\n")
    (template / "config.ini").write_text("port=7000\n")
    (template / "notes.md").write_text("notes\n")
    (template / "link").symlink_to("notes.md")
    project = tmp_path / "project"
    lay(template, project)
    return Scene(project, template, "It is 8437 now.", dict(os.environ))


def calls(scene: Scene, *made: tuple[str, dict[str, Any]]) -> None:
    """Write a server's log."""
    heard = [{"method": "tools/call", "params": {"name": n, "arguments": a}} for n, a in made]
    lines = [{"method": "initialize"}, {"message": heard[0]}, *heard[1:]] if heard else []
    (scene.project / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines) + '{"torn')


def why(scene: Scene, **clauses: Any) -> str:
    return asyncio.run(look(Check("check", **clauses), scene)).why


def test_a_project_is_laid_with_its_hidden_folder_and_links_as_links(scene: Scene) -> None:
    assert (scene.project / ".hel" / "mcp" / "server.py").read_text() == "pass\n"
    assert (scene.project / "link").readlink() == Path("notes.md")
    assert changed_files(scene) == ()


def test_a_file_is_held_to_its_very_bytes(scene: Scene) -> None:
    assert why(scene, file="config.ini", exact="port=7000\n") == ""
    assert why(scene, file="config.ini", exact="port=7000") == "config.ini is 'port=7000\\n'"
    assert why(scene, file="gone.ini", exact="") == "gone.ini is not there"


def test_parts_and_patterns_of_a_file_all_have_to_be_there(scene: Scene) -> None:
    assert why(scene, file="config.ini", contains=("port", "=7"), matches=(r"\d{4}",)) == ""
    assert why(scene, file="config.ini", contains=("port", "host")) == "config.ini has no 'host'"
    assert why(scene, file="config.ini", matches=("^host",)) == "config.ini does not match ^host"
    assert why(scene, file="gone.ini", absent=True) == ""
    assert why(scene, file="config.ini", absent=True) == "config.ini is there"


def test_a_pattern_that_would_take_for_ever_does_not_hold(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.labs.checking.PATTERN_TIME", 0.05)
    (scene.project / "config.ini").write_text("a" * 60 + "!")
    assert "takes too long" in why(scene, file="config.ini", matches=("^(a|a)*$",))


def test_what_else_changed_is_named_but_not_what_lies_in_hels_folder(scene: Scene) -> None:
    (scene.project / "config.ini").write_text("port=8437\n")
    (scene.project / ".hel" / "log").write_text("x")
    assert why(scene, changed=("config.ini",), only_changed=("config.ini",)) == ""
    (scene.project / "new.txt").write_text("")
    (scene.project / "notes.md").unlink()
    (scene.project / "link").unlink()
    (scene.project / "link").symlink_to("config.ini")
    assert changed_files(scene) == ("config.ini", "link", "new.txt", "notes.md")
    assert why(scene, only_changed=("config.ini", "*.txt")) == "changed too: link, notes.md"
    assert why(scene, changed=("other.txt",)) == "other.txt is as it was"


def test_the_answer_is_looked_at(scene: Scene) -> None:
    assert why(scene, answer_contains=("8437",), answer_matches=(r"is \d+",)) == ""
    assert "the answer has no '9123'" in why(scene, answer_contains=("9123",), answer_matches=("^no",))


def test_calls_have_to_be_in_order_in_the_servers_log_others_may_stand_between(scene: Scene) -> None:
    wanted = (Wanted("list"), Wanted("lookup", {"service": "api"}))
    calls(scene, ("list", {}), ("ping", {}), ("lookup", {"service": "api", "more": 1}))
    assert why(scene, log="log.jsonl", calls=wanted, not_called=("drop",)) == ""
    assert why(scene, log="log.jsonl", calls=wanted, exactly=True).startswith("other calls, too: list, ping")
    assert why(scene, log="log.jsonl", not_called=("ping",)) == "ping was called"
    calls(scene, ("lookup", {"service": "api"}), ("list", {}))
    assert why(scene, log="log.jsonl", calls=wanted) == "calls the server saw: lookup, list"
    calls(scene, ("list", {}), ("lookup", {"service": "worker"}))
    assert why(scene, log="log.jsonl", calls=wanted) == "calls the server saw: list, lookup"


def test_a_server_that_was_never_called_has_no_calls(scene: Scene) -> None:
    assert server_calls(scene.project, "nowhere.jsonl") == []
    assert why(scene, log="nowhere.jsonl", calls=(Wanted("list"),)) == "calls the server saw: none"


def test_a_program_judges_by_its_status(scene: Scene) -> None:
    judge = "import sys; print('looking'); sys.exit(open('config.ini').read() != 'port=7000\\n')"
    assert why(scene, command=(sys.executable, "-c", judge)) == ""
    (scene.project / "config.ini").write_text("port=1\n")
    assert why(scene, command=(sys.executable, "-c", judge)).endswith("ended with 1: looking")
    assert why(scene, command=("no-such-program-here",)).startswith("no-such-program-here: ")


def test_a_program_that_does_not_end_is_ended_with_all_it_started(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.labs.checking.COMMAND_TIME", 4.0)
    inner = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    outer = (
        "import subprocess, sys, time; "
        f"subprocess.Popen([sys.executable, '-c', {inner!r}], start_new_session=True); time.sleep(600)"
    )
    said = why(scene, command=(sys.executable, "-c", outer))
    assert said == f"{sys.executable} did not end within 4 seconds"
    pid = int((scene.project / "pid").read_text())
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_of_what_a_program_prints_only_a_bounded_part_is_kept(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Bounded] = []
    monkeypatch.setattr("hel_tui.labs.checking.Bounded", lambda keep: kept.append(Bounded(keep)) or kept[-1])
    prints = "import sys; [print('x' * 99_999) for _ in range(100)]; print('at last'); sys.exit(3)"
    assert why(scene, command=(sys.executable, "-c", prints)).endswith("ended with 3: at last")
    assert kept[0].total > 9_000_000
    assert len(kept[0].text()) < 20_000


def test_a_pipe_in_the_place_of_a_file_is_no_file(scene: Scene) -> None:
    os.mkfifo(scene.project / "pipe")
    (scene.project / "by").symlink_to("pipe")
    said: list[str] = []

    def ask() -> None:
        said.append(why(scene, file="pipe", contains=("x",)))
        said.append(why(scene, file="by", contains=("x",)))
        said.append(why(scene, log="pipe", calls=(Wanted("list"),)))

    thread = threading.Thread(target=ask, daemon=True)  # it must not hang the tests when it waits
    thread.start()
    thread.join(20)
    assert said == ["pipe is not there", "by is not there", "calls the server saw: none"]


def test_a_pipe_that_a_run_made_is_a_change(scene: Scene) -> None:
    os.mkfifo(scene.project / "pipe")
    assert why(scene, only_changed=("notes.md",)) == "changed too: pipe"
