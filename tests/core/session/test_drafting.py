"""What is in the prompt is kept with the session, newest only, and told again when that is opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.places import find_places
from hel_tui.core.store.redact import MARK
from hel_tui.core.store.sessions.drafts import read_draft, write_draft
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import KEY, Driver, environment

Open = Callable[..., Driver]
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
"""A step that lasts until there is a file `go`."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return find_places(environment(tmp_path)).sessions


def found(driver: Driver) -> list[str]:
    """What a session that was opened again had in its prompt."""
    driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
    driver.send(p.SetAccess("ask"))
    driver.wait(lambda _: driver.of(p.AccessChanged), "what came before")
    return [one.text for one in driver.of(p.DraftFound)]


def drafted(driver: Driver, home: Path, text: str) -> Path:
    """Say something, then leave `text` in the prompt. Returns the session's folder."""
    driver.ask("hello")
    folder = home / driver.core.kept()
    driver.send(p.Draft(text))
    driver.wait(lambda _: read_draft(folder), "the draft")
    return folder


def test_the_newest_draft_is_there_again_until_the_prompt_is_emptied(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        drafted(driver, home, "half a thought")
        driver.send(p.Draft("half a thought, and\nmore 생각"))
    for _ in range(2):
        with play(servers={}, resume="last") as driver:
            assert found(driver) == ["half a thought, and\nmore 생각"]
    with play(servers={}, resume="last") as driver:
        assert found(driver)
        driver.send(p.Draft(""))
    with play(servers={}, resume="last") as driver:
        assert found(driver) == []


def test_nothing_is_written_for_a_session_that_has_nothing_else(play: Open, home: Path) -> None:
    with play(servers={}) as driver:
        driver.send(p.Draft("half a thought"))
        driver.send(p.SetAccess("auto"))
        driver.wait(lambda _: driver.of(p.AccessChanged), "what came before")
    assert [one.name for one in home.rglob("*") if one.name in ("draft", "session.jsonl")] == []


def test_a_secret_in_it_is_on_no_disk(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        folder = drafted(driver, home, f"use {KEY} for it")
    assert "for it" in (folder / "draft").read_text()
    assert KEY not in (folder / "draft").read_text()
    assert (folder / "draft").stat().st_mode & 0o777 == 0o600


def test_what_comes_back_without_its_secrets_says_so_once(play: Open, project: Path, home: Path) -> None:
    def said(driver: Driver) -> list[str]:
        return [one.text for one in driver.of(p.Notice) if MARK in one.text]

    with play(GATE, servers={}, access="auto") as driver:
        with_waiting(driver, project, f"use {KEY}")
        driver.send(p.Draft("half a thought"))
    with play(servers={}, resume="last") as driver:
        assert found(driver) == ["half a thought"]
        (sentence,) = said(driver)
        assert "back in the queue:" in sentence
        driver.send(p.Draft(f"half a thought of {KEY}"))
    for _ in range(2):
        with play(servers={}, resume="last") as driver:
            assert KEY not in found(driver)[0]
            (sentence,) = said(driver)
            assert "back in the prompt and the queue:" in sentence
            assert KEY not in str(driver.of(p.Queued))


def test_a_script_neither_hears_of_it_nor_takes_it_away(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        drafted(driver, home, "half a thought")
    with play(say("fine"), servers={}, resume="last", answerable=False) as driver:
        assert found(driver) == []
        driver.send(p.Draft(""))
        driver.ask("by a script")
    with play(servers={}, resume="last") as driver:
        assert found(driver) == ["half a thought"]


def test_it_goes_with_the_person_to_another_session_and_is_in_no_fork(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        folder = drafted(driver, home, "half a thought")
        driver.send(p.ForkSession("", 1))
        driver.wait(lambda _: driver.of(p.SessionRestored), "the fork")
        assert read_draft(folder) == ""
        assert driver.of(p.DraftFound) == []


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    folder.mkdir()
    other = tmp_path / "other"
    other.write_text("not ours")
    (folder / "draft").symlink_to(other)
    assert read_draft(folder) == ""
    write_draft(folder, "ours")
    assert read_draft(folder) == "ours"
    assert other.read_text() == "not ours"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(kind, draft that was on the disk then) of each line that the session's file got."""
    written: list[tuple[str, str]] = []
    write = Saving._write

    def noted(self: Saving, record: dict[str, object]) -> int:
        written.append((str(record["k"]), read_draft(self.folder)))
        return write(self, record)

    monkeypatch.setattr(Saving, "_write", noted)
    return written


def waits(driver: Driver, *texts: str) -> None:
    driver.wait(lambda _: [one.texts for one in driver.of(p.Queued)[-1:]] == [texts], f"{texts} to wait")


def with_waiting(driver: Driver, project: Path, *texts: str) -> None:
    """Let a turn run, and send these behind it."""
    driver.send(p.Submit("go"))
    driver.wait(lambda _: (project / "begun").exists(), "the command")
    for text in texts:
        driver.send(p.Submit(text))
    waits(driver, *texts)


def test_what_is_taken_back_is_on_the_disk_before_the_session_lets_go_of_it(
    play: Open, project: Path, home: Path, lines: list[tuple[str, str]]
) -> None:
    with play(GATE, servers={}, access="auto") as driver:
        with_waiting(driver, project, "first", "second")
        driver.send(p.Draft("and written"))
        driver.send(p.Unqueue("second"))
        waits(driver, "first")
        assert [draft for kind, draft in lines if kind == "unqueued"] == ["second\nand written"]
    with play(servers={}, resume="last") as driver:
        assert found(driver) == ["second\nand written"]
        driver.send(p.Unqueue("first"))
        waits(driver)
        assert [draft for kind, draft in lines if kind == "unqueued"][1:] == ["first\nsecond\nand written"]


def test_a_message_that_was_not_sent_is_on_the_disk_before_its_turn_is_over(
    play: Open, model: ScriptedModel, lines: list[tuple[str, str]]
) -> None:
    with play(mode("hang-before-headers"), servers={}) as driver:
        driver.send(p.Submit("hello"))
        driver.wait(lambda _: model.requests, "the request")
        driver.send(p.Draft("and written"))
        driver.send(p.Interrupt())
        assert driver.turn_end(0).give_back
        assert [draft for kind, draft in lines if kind == "TurnEnded"] == ["hello\nand written"]
    with play(servers={}, resume="last") as driver:
        assert found(driver) == ["hello\nand written"]
        assert driver.of(p.Queued)[-1].texts == ()


def test_a_session_that_is_left_for_an_empty_one_keeps_it_until_that_one_is_kept(
    play: Open, project: Path, home: Path
) -> None:
    with play(GATE, say("well"), servers={}, access="auto") as driver:
        with_waiting(driver, project, "first", "second")
        driver.send(p.Draft("and written"))
        old = home / driver.core.kept()
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Unqueued), "what waited")
        assert read_draft(old) == "first\nsecond\nand written"
        driver.send(p.Draft("first, second and more"))
        driver.wait(lambda _: read_draft(old) == "first, second and more", "the draft")
    with play(say("well"), servers={}, resume="last") as driver:
        assert found(driver) == ["first, second and more"]
        driver.send(p.NewSession())
        driver.send(p.Submit("something else"))
        driver.turn_end(0)
        driver.send(p.Draft("first, second and more"))
        driver.wait(lambda _: not read_draft(old), "the old one to let go of it")
        assert read_draft(home / driver.core.kept()) == "first, second and more"


def test_the_session_it_goes_to_has_it_at_once_behind_what_it_was_left_with(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        first = drafted(driver, home, "of the first")
    with play(say("fine"), servers={}) as driver:
        second = drafted(driver, home, "brought along")
        driver.send(p.ResumeSession(first.name))
        assert found(driver) == ["of the first"]
        assert read_draft(first) == "of the first\nbrought along"
        assert read_draft(second) == ""


def test_back_from_an_empty_session_it_is_there_once(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        folder = drafted(driver, home, "half a thought")
        driver.send(p.NewSession())
        driver.send(p.ResumeSession(folder.name))
        assert found(driver) == []
        assert read_draft(folder) == "half a thought"


def test_what_another_hel_wrote_meanwhile_in_the_session_that_was_left_stays(play: Open, home: Path) -> None:
    with play(say("fine"), servers={}) as driver:
        folder = drafted(driver, home, "half a thought")
        driver.send(p.NewSession())
        driver.wait(lambda _: len(driver.of(p.Cleared)) == 1, "the new session")
        write_draft(folder, "of another")
        driver.send(p.Draft("half a thought, whole"))
        driver.send(p.SetAccess("auto"))
        driver.wait(lambda _: driver.of(p.AccessChanged), "what came before")
        assert read_draft(folder) == "of another"
