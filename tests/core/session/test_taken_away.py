"""Somebody takes the folder of a session away while hel has it open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.session.saving import RETURNED
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.index import Index
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver, options

Open = Callable[..., Driver]


def home_of(tmp_path: Path) -> Path:
    return tmp_path / "hel" / "state" / "sessions"


def warned(driver: Driver) -> bool:
    return p.Notice("warning", RETURNED) in driver.of(p.Notice)


def test_it_is_written_anew_with_all_that_was_said_and_the_person_is_told(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    choices = options(project, tmp_path, model.url)
    model.replies[:] = [say("first answer"), say("second answer"), say("third answer")]
    with Driver(choices) as first:
        first.ask("first")
        folder = home_of(tmp_path) / first.core.kept()
        shutil.rmtree(folder)
        assert first.core.kept() == "", "no hint names a session that is gone"
        first.ask("second")
        assert warned(first)
        assert first.core.kept() == folder.name
        first.ask("third")
        assert len([one for one in first.of(p.Notice) if one.text == RETURNED]) == 1
    with closing(Index(find_places(choices.environ))) as index:
        assert [(row.session_id, row.turns, row.title) for row in index.sessions(project)] == [
            (folder.name, 3, "first")
        ]
    with Driver(replace(choices, resume="last")) as second:
        second.wait(lambda _: second.of(p.SessionRestored), "the session")
        model.replies.append(say("well"))
        ends = len(second.of(p.TurnEnded))
        second.send(p.Submit("again"))
        second.turn_end(ends)
    said = [one["content"] for one in model.requests[-1]["messages"] if one["role"] != "system"]
    assert said[:6] == ["first", "first answer", "second", "second answer", "third", "third answer"]


def test_a_session_that_was_gone_on_with_is_whole_though_it_went_before_the_first_line(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    choices = options(project, tmp_path, model.url)
    model.replies[:] = [say("first answer"), say("second answer")]
    with Driver(choices) as first:
        first.ask("first")
        id_ = first.core.kept()
    with Driver(replace(choices, resume="last")) as second:
        second.wait(lambda _: second.of(p.SessionRestored), "the session")
        shutil.rmtree(home_of(tmp_path) / id_)
        ends = len(second.of(p.TurnEnded))
        second.send(p.Submit("second"))
        second.turn_end(ends)
        assert warned(second)
    with closing(Index(find_places(choices.environ))) as index:
        assert [(row.session_id, row.turns) for row in index.sessions(project)] == [(id_, 2)]


def test_what_undo_needs_is_kept_again_from_then_on(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    choices = options(project, tmp_path, model.url, access="auto")
    edit = call("search_replace", {"path": "config.ini", "search": "7000", "replace": "8000"})
    command = call("bash", {"command": "echo port=9000 > config.ini"})
    model.replies[:] = [edit, say("done"), command, say("done")]
    with Driver(choices) as driver:
        driver.ask("edit it")
        shutil.rmtree(home_of(tmp_path) / driver.core.kept())
        driver.ask("write it anew")
        driver.send(p.Rewind())
        driver.wait(lambda _: driver.of(p.Rewound), "files")
        assert (project / "config.ini").read_text() == "port=8000\n"
