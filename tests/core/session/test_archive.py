"""Kept sessions from within a running hel: found, looked into, named, exported, deleted and gone on with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.session.archive import Newest
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import Driver, options, servers_file

Open = Callable[..., Driver]


@pytest.fixture
def choices(project: Path, tmp_path: Path, model: ScriptedModel) -> Options:
    """Of a driver without servers."""
    return options(project, tmp_path, model.url)


def two_sessions(driver: Driver, model: ScriptedModel) -> tuple[str, str]:
    """(id of a session that is kept, id of the one that is open): a turn each."""
    model.replies[:] = [say("The port is 8437."), say("three keys")]
    driver.ask("which port?")
    first = driver.core.kept()
    driver.send(p.NewSession())
    driver.wait(lambda _: driver.of(p.Cleared))
    driver.ask("rename the keys")
    return first, driver.core.kept()


def done(driver: Driver, act: p.SessionAct) -> p.SessionDone:
    """Wait for what came of a command."""
    found: p.SessionDone = driver.wait(
        lambda _: [event for event in driver.of(p.SessionDone) if event.act == act], act
    )[-1]
    return found


def listed(driver: Driver, command: p.ListSessions) -> p.SessionsListed:
    """Have sessions listed and wait for it."""
    before = len(driver.of(p.SessionsListed))
    driver.send(command)
    found: p.SessionsListed = driver.wait(lambda _: driver.of(p.SessionsListed)[before:])[-1]
    return found


# ----------------------------------------------------------------------- finding


def test_the_sessions_of_the_project_are_listed_and_their_turns_searched(
    choices: Options, model: ScriptedModel
) -> None:
    with Driver(choices) as driver:
        first, second = two_sessions(driver, model)
        told = listed(driver, p.ListSessions())
        assert (told.sessions, told.hits, told.rows) == (2, 0, True)
        rows = driver.core.sessions()
        assert [row.session_id for row in rows] == [second, first]
        assert [row.is_open for row in rows] == [True, False]
        told = listed(driver, p.ListSessions("PORT", rows=False))
        assert (told.text, told.hits, told.rows) == ("PORT", 1, False)
        (hit,) = driver.core.session_hits()
        assert (hit.session_id, hit.turn, hit.turns) == (first, 1, 1)
        assert driver.core.sessions() == rows


def test_sessions_of_other_projects_are_listed_only_when_they_are_wanted(
    choices: Options, model: ScriptedModel, tmp_path: Path
) -> None:
    (other := tmp_path / "other").mkdir()
    with Driver(replace(choices, project=other)) as driver:
        model.replies[:] = [say("elsewhere")]
        driver.ask("in another folder")
        theirs = driver.core.kept()
    with Driver(choices) as driver:
        model.replies[:] = [say("here")]
        driver.ask("in this folder")
        assert listed(driver, p.ListSessions()).sessions == 1
        assert listed(driver, p.ListSessions("another", everywhere=True)).hits == 1
        assert {row.project for row in driver.core.sessions()} == {str(choices.project), str(other)}
        driver.send(p.ResumeSession(theirs))
        driver.wait(lambda _: [n for n in driver.of(p.Notice) if "open it from there" in n.text])
        assert not driver.of(p.SessionRestored)


async def test_of_the_wishes_that_wait_only_the_newest_is_carried_out() -> None:
    tasks: list[asyncio.Task[None]] = []
    free, carried = asyncio.Event(), list[str]()

    async def carry_out(wish: str) -> None:
        carried.append(wish)
        await free.wait()
        if wish == "fails":
            raise ValueError(wish)

    def spawn(work: Coroutine[Any, Any, None]) -> None:
        tasks.append(asyncio.ensure_future(work))

    newest = Newest(carry_out, spawn)
    for wish in ("p", "po", "por", "port"):
        newest.wish(wish)
        await asyncio.sleep(0)
    free.set()
    await asyncio.gather(*tasks)
    assert carried == ["p", "port"]
    free.clear()
    newest.wish("fails")
    await asyncio.sleep(0)
    newest.wish("after it")
    free.set()
    while len(carried) < 4:
        await asyncio.gather(*tasks, return_exceptions=True)
    assert carried[2:] == ["fails", "after it"]


# ---------------------------------------------------------------------- a glance


def test_a_session_is_looked_into_without_being_opened(choices: Options, model: ScriptedModel) -> None:
    with Driver(choices) as driver:
        first, second = two_sessions(driver, model)
        driver.send(p.LookAtSession(first))
        driver.wait(lambda _: driver.of(p.SessionLookedAt))
        glance = driver.core.session_glance()
        assert glance is not None
        assert [(one.who, one.text) for one in glance.said] == [
            ("person", "which port?"),
            ("model", "The port is 8437."),
        ]
        assert glance.turns == ((1, "which port?"),)
        assert driver.core.kept() == second
        driver.send(p.LookAtSession("19990101"))
        driver.wait(lambda _: [e for e in driver.of(p.SessionLookedAt) if "no session" in e.problem])
        assert driver.core.session_glance() == glance


# ---------------------------------------------------------------------- changing


def test_a_title_is_given_to_a_session_that_is_kept_and_to_the_one_that_is_open(
    choices: Options, model: ScriptedModel
) -> None:
    with Driver(choices) as driver:
        first, second = two_sessions(driver, model)
        driver.send(p.RenameSession("Ports", first))
        renamed = done(driver, "renamed")
        assert renamed.sentence == 'The session "which port?" is now "Ports".'
        driver.send(p.RenameSession("Keys"))
        driver.wait(lambda _: p.SessionTitled("Keys", given=True) in driver.events)
        assert driver.of(p.SessionDone)[-1].sentence == 'This session is called "Keys" now.'
        listed(driver, p.ListSessions())
        titles = {row.session_id: row.title for row in driver.core.sessions()}
        assert titles == {first: "Ports", second: "Keys"}


def test_an_export_overwrites_nothing(choices: Options, model: ScriptedModel, project: Path) -> None:
    with Driver(choices) as driver:
        first, _ = two_sessions(driver, model)
        driver.send(p.ExportSession(session_id=first))
        told = done(driver, "exported")
        file = project / f"session-{first}.md"
        assert told.done and str(file) in told.sentence
        assert "The port is 8437." in file.read_text()
        file.write_text("mine now")
        driver.send(p.ExportSession(session_id=first))
        driver.wait(lambda _: [e for e in driver.of(p.SessionDone) if "not overwritten" in e.sentence])
        assert file.read_text() == "mine now"
        driver.send(p.ExportSession("out/of.json", "json"))
        driver.wait(lambda _: [e for e in driver.of(p.SessionDone) if "no such file or folder" in e.sentence])
        driver.send(p.ExportSession("of.json", "json"))
        driver.wait(lambda _: (project / "of.json").exists() and len(driver.of(p.SessionDone)) == 4)
        assert json.loads((project / "of.json").read_text())["turns"]


@pytest.mark.parametrize("name", ["~nobody-of-that-name/x.md", "a\0b.md"])
def test_an_export_to_a_name_that_is_none_says_so(choices: Options, model: ScriptedModel, name: str) -> None:
    with Driver(choices) as driver:
        model.replies.append(say("hello"))
        driver.ask("hi")
        driver.send(p.ExportSession(name))
        assert not done(driver, "exported").done
        assert not [one for one in driver.of(p.Notice) if one.severity == "error"]


def test_a_session_is_deleted_and_is_no_longer_there(choices: Options, model: ScriptedModel) -> None:
    with Driver(choices) as driver:
        first, second = two_sessions(driver, model)
        driver.send(p.DeleteSession(first))
        assert done(driver, "deleted").sentence == 'The session "which port?" was deleted.'
        driver.send(p.DeleteSession(second))
        driver.wait(lambda _: [e for e in driver.of(p.SessionDone) if not e.done])
        listed(driver, p.ListSessions())
        assert [row.session_id for row in driver.core.sessions()] == [second]


# ---------------------------------------------------------------------- going on


def test_the_session_that_is_open_is_not_opened_a_second_time(choices: Options, model: ScriptedModel) -> None:
    with Driver(choices) as driver:
        _, second = two_sessions(driver, model)
        driver.send(p.ResumeSession(second))
        driver.wait(lambda _: [n for n in driver.of(p.Notice) if "is the one that is open" in n.text])
        assert not driver.of(p.SessionRestored)
        listed(driver, p.ListSessions())
        assert len(driver.core.sessions()) == 2


def test_trust_is_asked_again_for_what_was_refused_before(
    play: Open, project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    file = project / ".hel" / "mcp.json"
    file.parent.mkdir()
    file.write_bytes(servers_file(tmp_path, fix="wire:ok").read_bytes())
    with play(servers={}) as driver:
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        driver.phase("fix", "untrusted")
        first, _ = two_sessions(driver, model)
        driver.send(p.ResumeSession(first))
        driver.wait(lambda _: driver.of(p.SessionRestored))
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"fix"})))
        driver.phase("fix", "ready")


def test_a_fork_from_a_turn_goes_on_there(choices: Options, model: ScriptedModel) -> None:
    with Driver(choices) as driver:
        model.replies[:] = [say("one"), say("two"), say("three")]
        driver.ask("first")
        driver.ask("second")
        driver.send(p.ForkSession(turn=1))
        driver.wait(lambda _: driver.of(p.SessionRestored))
        driver.ask("third")
        news = p.Notice("info", 'This is a fork of "first", with its turns up to 1.')
        assert news in driver.events
        assert [one.text for one in driver.of(p.Notice) if one.severity == "warning"] == []
    assert [message["content"] for message in model.requests[-1]["messages"][1:]] == ["first", "one", "third"]


def test_where_much_is_to_be_read_the_newest_come_first_and_the_rest_follows(
    choices: Options, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Driver(choices) as driver:
        first, second = two_sessions(driver, model)
    monkeypatch.setattr("hel_tui.core.session.archive.PATIENCE", 0.0)
    monkeypatch.setattr("hel_tui.core.store.sessions.index.BATCH", 1)
    with Driver(choices) as driver:
        driver.send(p.ListSessions("port"))
        driver.wait(lambda _: [event for event in driver.of(p.SessionsListed) if not event.behind])
        told = [(event.sessions, event.behind) for event in driver.of(p.SessionsListed)]
        assert told == [(1, 1), (2, 0)]
        assert [hit.session_id for hit in driver.core.session_hits()] == [first]
        assert [row.session_id for row in driver.core.sessions()] == [second, first]
