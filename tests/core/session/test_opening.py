"""While a session is opened, which may take long, the one that is open can be stopped, answered and ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session import kept, resuming, rewinding
from hel_tui.core.store.places import find_places
from hel_tui.core.store.sessions.locking import is_open
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver, environment

Open = Callable[..., Driver]
ASKED = call("bash", {"command": "true"})


class Door:
    """Holds up whoever opens a session until it is let through."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def opens(self, folder: Path) -> Any:
        self.reached.set()
        assert self.open.wait(60)
        return kept.open_session(folder)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    door = Door()
    for module in (resuming, rewinding):
        monkeypatch.setattr(module, "open_session", door.opens)
    yield door
    door.open.set()


@pytest.fixture
def earlier(play: Open, tmp_path: Path) -> Path:
    """The folder of a session that was kept."""
    with play(say("fine"), servers={}) as driver:
        driver.ask("hello")
        return find_places(environment(tmp_path)).session_dir(driver.core.kept())


def test_a_turn_is_stopped_and_a_question_answered_meanwhile(play: Open, earlier: Path, door: Door) -> None:
    with play(ASKED, say("slow " * 400, pause=0.05), say("well"), servers={}) as driver:
        driver.send(p.Submit("go"))
        question = driver.question(p.ApprovalQuestion)
        driver.send(p.ResumeSession(earlier.name))
        driver.wait(lambda _: door.reached.is_set())
        driver.send(p.Reply(question.id, p.ApprovalAnswer("once")))
        driver.wait(lambda _: driver.of(p.TextDelta), "the answer behind the call")
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        assert not driver.of(p.SessionRestored)


def test_what_is_said_meanwhile_is_said_in_the_session_that_opens(
    play: Open, earlier: Path, door: Door, model: ScriptedModel
) -> None:
    with play(say("well"), say("and well"), servers={}) as driver:
        driver.send(p.ResumeSession(earlier.name))
        driver.wait(lambda _: door.reached.is_set())
        driver.send(p.Submit("first"))
        driver.send(p.Submit("second", later=True))
        driver.send(p.SetAccess("auto"))
        driver.wait(lambda _: driver.of(p.AccessChanged), "what does not wait")
        assert not driver.of(p.TurnStarted)
        door.open.set()
        driver.wait(lambda _: len(driver.of(p.TurnEnded)) == 3, "both turns")
        assert [one.text for one in driver.of(p.TurnStarted)] == ["hello", "first", "second"]
    said = [one["content"] for one in model.requests[-1]["messages"] if one["role"] == "user"]
    assert said == ["hello", "first", "second"]


@pytest.mark.parametrize("at_the_start", [True, False])
def test_a_stop_behind_a_message_that_waits_for_the_session_stops_it(
    play: Open, earlier: Path, door: Door, model: ScriptedModel, at_the_start: bool
) -> None:
    with play(say("well"), servers={}, resume=earlier.name if at_the_start else "") as driver:
        if not at_the_start:
            driver.send(p.ResumeSession(earlier.name))
        driver.wait(lambda _: door.reached.is_set())
        driver.send(p.Interrupt(whole=True))
        driver.send(p.Submit("second"))
        driver.send(p.Submit("third"))
        driver.send(p.Interrupt(whole=True))
        driver.send(p.CallTool("read_file", '{"path": "config.ini"}', key="1"))
        driver.send(p.CancelCall("hand-1"))
        door.open.set()
        end = driver.wait(lambda _: [one for one in driver.of(p.TurnEnded) if one.turn == 2], "its end")[0]
        assert (end.reason, end.give_back) == ("interrupted", True)
        driver.wait(lambda _: driver.of(p.Queued)[-1] == p.Queued(("third",), held=1), "the next to be held")
        driver.wait(lambda _: driver.of(p.CallChanged), "the call")
        assert {one.state for one in driver.of(p.CallChanged)} == {"cancelled"}
    assert len(model.requests) == 1, "that of the session before"


@pytest.mark.parametrize("at_the_start", [True, False])
def test_hel_ends_meanwhile_and_the_session_is_free_again(
    play: Open, earlier: Path, door: Door, at_the_start: bool
) -> None:
    with play(servers={}, resume=earlier.name if at_the_start else "") as driver:
        if not at_the_start:
            driver.send(p.ResumeSession(earlier.name))
        driver.wait(lambda _: door.reached.is_set())
    opener = next(one for one in threading.enumerate() if one.name == "hel-session")
    door.open.set()
    opener.join(60)
    assert not is_open(earlier)
