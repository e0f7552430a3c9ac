"""Kept sessions from a shell: going on with one, lists, search, export, forks, names, deletion."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hel_tui.core.store.sessions.locking import Lock
from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.e2e.terminal import Terminal
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import KEY, environment

Run = Callable[..., Ran]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.ini").write_text("port=7000\n")
    return folder


@pytest.fixture
def sh(env: dict[str, str], project: Path) -> Run:
    return lambda *arguments, cwd=project: hel(*arguments, env=env, cwd=cwd)


@pytest.fixture
def say_to(sh: Run, model: ScriptedModel) -> Run:
    """Runs one prompt to which the model gives this answer."""

    def go(prompt: str, answer: str, *arguments: str, cwd: Path | None = None) -> Ran:
        model.replies[:] = [say(answer)]
        chosen = ("--model", "scripted/scripted", "--base-url", model.url)
        more = {"cwd": cwd} if cwd is not None else {}
        return sh("run", prompt, *arguments, *chosen, **more)

    return go


def ids(sh: Run, *arguments: str) -> list[str]:
    return [row["session_id"] for row in json.loads(sh("sessions", "list", "--json", *arguments).out)]


def said(model: ScriptedModel) -> list[str]:
    return [message["content"] for message in model.requests[-1]["messages"][1:]]


def test_a_run_without_a_model_leaves_nothing_in_the_session_and_makes_none(say_to: Run, sh: Run) -> None:
    ran = sh("run", "hi")
    assert (ran.status, "No model yet" in ran.err, ids(sh)) == (1, True, [])
    assert say_to("first", "one").status == 0
    (before,) = json.loads(sh("sessions", "list", "--json").out)
    (session,) = ids(sh)
    ran = sh("run", "-c", "and now?", "--model", "nowhere/x")
    assert (ran.status, ran.out) == (1, ""), ran.err
    (after,) = json.loads(sh("sessions", "list", "--json").out)
    assert (after["turns"], after["updated"]) == (before["turns"], before["updated"])
    assert "and now" not in sh("sessions", "show", session).out


def test_run_goes_on_with_the_newest_session_or_with_one_by_the_beginning_of_its_id(
    say_to: Run, sh: Run, model: ScriptedModel
) -> None:
    assert say_to("first", "one").status == 0
    (first,) = ids(sh)
    assert say_to("other", "two").status == 0
    ran = say_to("more", "three", "-c")
    assert (ran.status, ran.out.strip()) == (0, "three")
    assert said(model) == ["other", "two", "more"]
    ran = say_to("again", "four", "--json", "--resume", first)
    assert [line["text"] for line in ran.of("text")] == ["four"]
    assert ran.of("session")[0]["id"] == first
    assert ran.of("result")[0]["steps"] == 1
    assert said(model) == ["first", "one", "again"]
    assert len(ids(sh)) == 2


def test_a_session_is_of_its_project(say_to: Run, sh: Run, tmp_path: Path, project: Path) -> None:
    assert say_to("first", "one").status == 0
    (first,) = ids(sh)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = say_to("x", "y", "-r", first, cwd=elsewhere)
    assert ran.status == 2
    assert str(project) in ran.err
    ran = say_to("x", "y", "-c", cwd=elsewhere)
    assert ran.status == 2
    assert "no session" in ran.err
    assert json.loads(sh("sessions", "list", "--json", cwd=elsewhere).out) == []
    assert [
        row["project"] for row in json.loads(sh("sessions", "list", "-a", "--json", cwd=elsewhere).out)
    ] == [str(project)]


def test_what_is_not_there_is_said(say_to: Run, sh: Run) -> None:
    assert "There is no session nothing" in say_to("x", "y", "-r", "nothing").err
    ran = say_to("x", "y", "-r")
    assert ran.status == 2
    assert "needs the ID" in ran.err
    assert sh("sessions", "list").out == "No session is kept of this project yet.\n"
    for command in (("show", "x"), ("export", "x"), ("fork", "x"), ("rename", "x", "y"), ("delete", "x")):
        ran = sh("sessions", *command)
        assert (ran.status, ran.err) == (1, "hel sessions: There is no session x.\n")
    ran = sh("sessions", "search", "x")
    assert (ran.status, ran.out, ran.err) == (1, "", "Nothing was found.\n")


def test_turns_are_found_and_shown(say_to: Run, sh: Run) -> None:
    say_to("where is the port?", "포트는 8437 입니다")
    (session,) = ids(sh)
    ran = sh("sessions", "search", "포트", "8437")
    assert ran.status == 0
    assert session in ran.out
    assert "turn 1" in ran.out
    assert "\x1b" not in ran.out
    (hit,) = json.loads(sh("sessions", "search", "--json", "PORT").out)
    assert [hit["excerpt"][slice(*mark)] for mark in hit["marks"]] == ["port"]
    assert (hit["turn"], hit["session_id"]) == (1, session)


def test_an_export_has_all_of_it_in_markdown_and_json(
    sh: Run, model: ScriptedModel, say_to: Run, project: Path
) -> None:
    model.replies[:] = [call("read_file", {"path": "config.ini"}), say("It is ```7000```.", reasoning="hm")]
    ran = sh("run", "the port?", "--model", "scripted/scripted", "--base-url", model.url)
    assert ran.status == 0, ran.err
    markdown = sh("sessions", "export", "last").out
    for part in ("# the port?", "## 1. You", "**read_file** (ok)", "port=7000", "> hm", "It is ```7000```."):
        assert part in markdown
    target = project / "out.json"
    assert sh("sessions", "export", "last", "--json", "-o", str(target)).status == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.write_text("mine now")
    ran = sh("sessions", "export", "last", "--json", "-o", str(target))
    assert (ran.status, target.read_text()) == (1, "mine now")
    assert "not overwritten. --force overwrites it." in ran.err
    assert sh("sessions", "export", "last", "--json", "--force", "-o", str(target)).status == 0
    (project / "link.json").symlink_to("mine.json")
    ran = sh("sessions", "export", "last", "--json", "--force", "-o", str(project / "link.json"))
    assert (ran.status, "it is a link" in ran.err, (project / "mine.json").exists()) == (1, True, False)
    document = json.loads(target.read_text())
    (turn,) = document["turns"]
    assert [step["kind"] for step in turn["steps"]] == ["user", "call", "reasoning", "answer", "end"]
    asked = turn["steps"][1]
    assert (asked["tool"], asked["arguments"], asked["result"]) == (
        "read_file",
        {"path": "config.ini"},
        "port=7000\n",
    )
    assert document["usage"]["input_tokens"] > 0
    assert document["damaged_lines"] == 0


def test_an_export_of_a_damaged_session_says_what_is_missing(say_to: Run, sh: Run, tmp_path: Path) -> None:
    say_to("first", "one")
    (session,) = ids(sh)
    path = tmp_path / "hel" / "state" / "sessions" / session / "session.jsonl"
    path.write_bytes(path.read_bytes() + b'\0\0\0\n{"a":\n')
    assert "could not be read: 2 lines of this session" in sh("sessions", "export", session).out
    assert json.loads(sh("sessions", "export", "--json", session).out)["damaged_lines"] == 2
    ran = sh("sessions", "fork", session)
    assert ran.status == 0
    assert "2 damaged lines" in ran.err


def test_a_fork_goes_on_from_its_turn(say_to: Run, sh: Run, model: ScriptedModel) -> None:
    say_to("first", "one")
    say_to("second", "two", "-c")
    (parent,) = ids(sh)
    ran = sh("sessions", "fork", parent, "--turn", "1", "--json")
    made = json.loads(ran.out)
    assert made["turn"] == 1
    say_to("another", "three", "-r", made["session_id"])
    assert said(model) == ["first", "one", "another"]
    say_to("third", "four", "-r", parent)
    assert said(model) == ["first", "one", "second", "two", "third"]
    assert "no turn 9" in sh("sessions", "fork", parent, "--turn", "9").err


def test_titles_and_deletion(say_to: Run, sh: Run, tmp_path: Path) -> None:
    say_to("first", "one")
    (session,) = ids(sh)
    assert sh("sessions", "rename", session, "A  name").out == f'{session} is now "A name"\n'
    assert "A name" in sh("sessions", "list").out
    assert sh("sessions", "rename", session, "").out == f'{session} is now "first"\n'
    assert "first" in sh("sessions", "list").out
    folder = tmp_path / "hel" / "state" / "sessions" / session
    lock = Lock(folder)
    lock.take()
    assert "open" in sh("sessions", "list").out
    for command in (("delete", session), ("rename", session, "x")):
        ran = sh("sessions", *command)
        assert ran.status == 1
        assert "is open" in ran.err
    lock.release()
    ran = sh("sessions", "delete", "nothing", session)
    assert (ran.status, ran.out) == (1, f'Deleted {session} "first"\n')
    assert "no session nothing" in ran.err
    assert not folder.exists()
    assert ids(sh) == []
    assert [one for one in folder.parent.iterdir() if session in one.name] == []


def test_the_project_is_named_before_or_after_the_command(say_to: Run, sh: Run, tmp_path: Path) -> None:
    assert say_to("first", "one").status == 0
    listed = ids(sh)
    for arguments in (("-C", "project", "list"), ("list", "-C", "project"), ("list", "--dir", "project")):
        rows = json.loads(sh("sessions", *arguments, "--json", cwd=tmp_path).out)
        assert [row["session_id"] for row in rows] == listed
    assert json.loads(sh("sessions", "list", "--json", cwd=tmp_path).out) == []


def test_titles_are_cut_at_a_terminal_and_whole_in_a_pipe(say_to: Run, sh: Run, env, project: Path) -> None:
    title = "what is the port of the service that answers for " + "x" * 80
    assert say_to(title, "one").status == 0
    assert title in sh("sessions", "list").out
    given = {**env, "PYTHONPATH": str(ROOT)}
    with Terminal([*HEL, "sessions", "list"], env=given, cwd=project, columns=80) as terminal:
        terminal.wait_end()
        (line,) = bytes(terminal.raw).decode().splitlines()
    assert len(line) <= 80 and line.endswith("…")
