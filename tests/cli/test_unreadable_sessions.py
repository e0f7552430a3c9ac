"""Sessions that cannot be read, and sessions of a clock that was wrong: said, passed over, never taken for none."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.folders import newest_of
from hel_tui.core.store.sessions.index import Index
from tests.cli.shell import HEL, ROOT
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.persons import as_a_person
from tests.rig import KEY, environment

PLACES_ARE_PRIVATE = 0o700


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


class Home:
    """A person with a project and sessions of it."""

    def __init__(self, base: Path, model: ScriptedModel) -> None:
        self.env = environment(base, HEL_API_KEY=KEY)
        self.project = base / "project"
        self.project.mkdir()
        self.model = model
        self.places = find_places(self.env)

    def hel(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            as_a_person([*HEL, *arguments]),
            env={**self.env, "PYTHONPATH": str(ROOT)},
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def say(self, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        self.model.replies[:] = [say(f"answer to {text}")]
        chosen = ("--model", "scripted/scripted", "--base-url", self.model.url)
        return self.hel("run", text, *arguments, *chosen)

    @property
    def sessions(self) -> list[Path]:
        """Oldest first."""
        return sorted(self.places.sessions.iterdir(), key=lambda one: one.stat().st_mtime_ns)

    def stamp(self, folder: Path, ahead: float, *, written: float = 0.0) -> None:
        """Put the times of all records of a session ahead, and that of its file."""
        file = folder / "session.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps({**one, "t": one["t"] + ahead}) + "\n" for one in records))
        now = time.time()
        os.utime(file, (now + written, now + written))

    def newest(self) -> str:
        """As -c finds it and as lists have it, which is the same."""
        found = newest_of(self.places, self.project)
        index = Index(self.places)
        rows = index.sessions(self.project)
        index.close()
        assert found is not None and found.name == rows[0].session_id
        assert all(row.updated <= time.time() for row in rows)
        return found.name


@pytest.fixture
def home(tmp_path: Path, model: ScriptedModel) -> Home:
    return Home(tmp_path, model)


def test_a_folder_of_sessions_that_cannot_be_read_is_not_taken_for_an_empty_one(home: Home) -> None:
    assert home.say("first").returncode == 0
    home.places.sessions.chmod(0)
    try:
        for arguments in (["list"], ["list", "--all", "--json"], ["search", "first"]):
            ran = home.hel("sessions", *arguments)
            assert (ran.returncode, ran.stdout) == (1, "")
            assert ran.stderr == f"hel sessions: {home.places.sessions} cannot be read: permission denied\n"
        ran = home.hel("sessions", "show", home.project.name)
        assert (ran.returncode, "permission denied" in ran.stderr) == (1, True)
        ran = home.say("more", "-c")
        assert (ran.returncode, "cannot be read: permission denied" in ran.stderr) == (2, True)
    finally:
        home.places.sessions.chmod(PLACES_ARE_PRIVATE)
    assert "first" in home.hel("sessions", "list").stdout, "the index was not thrown away"


@pytest.mark.parametrize("what", ["folder", "file"])
def test_one_that_cannot_be_read_is_named_and_passed_over(home: Home, what: str) -> None:
    home.say("first")
    home.say("second")
    first, second = home.sessions
    closed = second if what == "folder" else second / "session.jsonl"
    closed.chmod(0)
    try:
        listed = home.hel("sessions", "list")
        assert (listed.returncode, "first" in listed.stdout) == (0, True)
        word = f"session {second.name} cannot be read: permission denied"
        assert word in listed.stderr
        ran = home.say("third", "-c")
        assert (ran.returncode, word in ran.stderr.lower()) == (0, True), ran.stderr
        named = home.say("fourth", "-r", second.name)
        assert (named.returncode, "permission denied" in named.stderr) == (
            {"folder": 2, "file": 1}[what],
            True,
        )
    finally:
        closed.chmod(PLACES_ARE_PRIVATE)
    assert (first / "session.jsonl").read_text().count('"TurnStarted"') == 2


def test_a_session_of_a_clock_that_was_ahead_is_not_the_newest_for_ever(home: Home) -> None:
    home.say("first")
    (ahead,) = home.sessions
    home.stamp(ahead, 10 * 365 * 86400, written=10 * 365 * 86400)
    home.say("second")
    (second,) = [one for one in home.sessions if one != ahead]
    assert home.newest() == second.name
    assert home.say("third", "-c").returncode == 0
    assert (second / "session.jsonl").read_text().count('"TurnStarted"') == 2


def test_one_that_is_gone_on_with_once_the_clock_is_right_is_the_newest_again(home: Home) -> None:
    home.say("first")
    (ahead,) = home.sessions
    home.stamp(ahead, 86400, written=86400)
    home.say("second")
    home.say("third", "-r", ahead.name)
    assert home.newest() == ahead.name


def test_where_only_the_records_are_ahead_the_time_of_the_file_counts(home: Home) -> None:
    home.say("first")
    (ahead,) = home.sessions
    home.say("second")
    (second,) = [one for one in home.sessions if one != ahead]
    home.stamp(ahead, 86400, written=-3600)
    assert home.newest() == second.name
    home.stamp(ahead, 0)
    assert home.newest() == ahead.name


@pytest.mark.parametrize("stamp", ["-1", "9e15", "true", '"soon"'])
def test_a_time_that_is_none_does_no_harm(home: Home, stamp: str) -> None:
    home.say("first")
    (folder,) = home.sessions
    file = folder / "session.jsonl"
    lines = [{**json.loads(line), "t": "@"} for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(line).replace('"@"', stamp) + "\n" for line in lines))
    assert home.newest() == folder.name
    ran = home.hel("sessions", "list")
    assert (ran.returncode, "1 turn  first" in ran.stdout, ran.stderr) == (0, True, "")
    assert "1970" not in ran.stdout
