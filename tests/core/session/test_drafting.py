"""What is in the prompt is kept with the session, newest only, and told again when that is opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.drafts import read_draft, write_draft
from tests.fixtures.models.endpoint import say
from tests.rig import KEY, Driver, environment

Open = Callable[..., Driver]


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
