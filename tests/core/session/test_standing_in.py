"""When a model cannot be reached: another one stands in for it, or the message comes back."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.context.prompt import NEWS_HEADING
from hel_tui.core.models import client as clients
from hel_tui.core.models.profiles import PROFILES, Profile
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, mode, say
from tests.rig import Driver

Open = Callable[..., Driver]
DOWN = [fail(503, "overloaded")] * 4
LOOK = call("read_file", {"path": "config.ini"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "FIRST_DELAY", 0.001)


@pytest.fixture
def standby(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ScriptedModel([]) as other:
        monkeypatch.setitem(PROFILES, "standby", Profile("standby", other.url))
        yield other


def labels(driver: Driver) -> list[tuple[str, bool]]:
    return [(event.label, event.stands_in) for event in driver.of(p.ModelChanged)]


def test_another_model_answers_the_rest_of_the_turn_and_the_next_one_is_the_chosen_ones_again(
    play: Open, model: ScriptedModel, standby: ScriptedModel
) -> None:
    standby.replies[:] = [LOOK, say("from the other one")]
    with play(LOOK, *DOWN, say("back again"), servers={}, fallback_model="standby/s") as driver:
        assert driver.ask("go").reason == "done"
        (notice,) = [one for one in driver.of(p.Notice) if "answers the rest of this turn" in one.text]
        assert "503" in notice.text and "standby/s" in notice.text
        assert labels(driver)[-2:] == [("standby/s", True), ("scripted/scripted", False)]
        assert driver.ask("and now?").reason == "done"
    assert len(model.requests) == 6
    assert len(standby.requests) == 2
    roles = [message["role"] for message in standby.requests[0]["messages"]]
    assert roles[-2:] == ["assistant", "tool"], "it has what the turn came to so far"


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_is_wrong_with_the_request_is_wrong_for_another_model_too(
    play: Open, standby: ScriptedModel, status: int
) -> None:
    with play(fail(status, "That will not do."), servers={}, fallback_model="standby/s") as driver:
        assert driver.ask("go").reason == "failed"
    assert standby.requests == []


def test_an_answer_that_broke_off_is_not_given_twice(play: Open, standby: ScriptedModel) -> None:
    with play(mode("disconnect-mid-stream"), servers={}, fallback_model="standby/s") as driver:
        assert driver.ask("go").reason == "failed"
    assert standby.requests == []


def test_one_that_stands_in_and_fails_too_ends_the_turn(play: Open, standby: ScriptedModel) -> None:
    standby.replies[:] = DOWN
    with play(*DOWN, servers={}, fallback_model="standby/s") as driver:
        end = driver.ask("go")
        assert end.reason == "failed" and "standby" in end.message
        assert labels(driver)[-1] == ("scripted/scripted", False)


def test_one_that_cannot_be_opened_is_told(play: Open) -> None:
    with play(*DOWN, servers={}, fallback_model="openai/gpt-5") as driver:
        end = driver.ask("go")
        assert end.reason == "failed" and "503" in end.message
        assert any("openai/gpt-5 cannot stand in: openai needs a key" in n.text for n in driver.of(p.Notice))


def cannot(driver: Driver) -> list[str]:
    return [one.text for one in driver.of(p.Notice) if "cannot stand in" in one.text]


def test_one_of_a_provider_that_there_is_not_is_told_before_it_is_needed_and_once(play: Open) -> None:
    with play(say("hi"), servers={}, fallback_model="bogus/x") as driver:
        assert driver.ask("go").reason == "done"
        (said,) = cannot(driver)
        assert said.startswith("bogus/x cannot stand in: Provider 'bogus' is not known")
        driver.send(p.SetModel("demo/walk-through", None))
        driver.wait(lambda _: labels(driver)[-1][0].startswith("demo"))
        assert len(cannot(driver)) == 1


@pytest.mark.parametrize("wanted", ["openai/gpt-5", "scripted/other", "demo/walk-through", "local/x.gguf"])
def test_one_that_there_may_be_is_not_spoken_of(play: Open, wanted: str) -> None:
    with play(say("hi"), servers={}, fallback_model=wanted) as driver:
        assert driver.ask("go").reason == "done"
        assert cannot(driver) == []


def test_without_one_the_turn_ends_as_it_did(play: Open) -> None:
    with play(*DOWN, servers={}) as driver:
        assert driver.ask("go").reason == "failed"


# ---------------------------------------------------------------------- offline


def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are not answered, as on a machine without a network."""

    def gone(host: str, *more: object, **named: object) -> object:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", gone)


def test_without_a_network_one_sentence_says_so_and_the_message_comes_back(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with play(say("hello"), servers={}) as driver:
        driver.send(p.SetModel("faraway/x", "http://faraway.invalid/v1"))
        driver.wait(lambda _: ("faraway/x", False) in labels(driver))
        unreachable(monkeypatch)
        end = driver.ask("is anybody there?")
        monkeypatch.undo()
        assert end.reason == "failed" and end.give_back
        assert end.message.startswith("There is no network: faraway (faraway.invalid) cannot be reached.")
        driver.send(p.SetModel("scripted/scripted", model.url))
        driver.wait(lambda _: labels(driver)[-1][0] == "scripted/scripted")
        assert driver.ask("is anybody there?").reason == "done"
    said = [one for one in model.requests[0]["messages"] if one["role"] == "user"]
    assert len(said) == 1, "the message that reached nobody is no part of the conversation"


def test_a_message_that_reached_neither_model_comes_back(play: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROFILES, "standby", Profile("standby", "http://far.invalid/v1"))
    with play(servers={}, fallback_model="standby/s") as driver:
        driver.send(p.SetModel("faraway/x", "http://faraway.invalid/v1"))
        driver.wait(lambda _: ("faraway/x", False) in labels(driver))
        unreachable(monkeypatch)
        end = driver.ask("is anybody there?")
        assert end.reason == "failed" and end.give_back
        assert end.message.startswith("There is no network: standby (far.invalid) cannot be reached.")


def test_news_of_tools_behind_a_message_that_comes_back_are_told_with_the_next_one(
    play: Open, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with play(say("hello"), say("gone, then")) as driver:
        driver.ask("hi")
        driver.send(p.SwitchServer("fix", False))
        driver.phase("fix", "off")
        driver.send(p.SetModel("faraway/x", "http://faraway.invalid/v1"))
        driver.wait(lambda _: ("faraway/x", False) in labels(driver))
        unreachable(monkeypatch)
        assert driver.ask("is anybody there?").give_back
        monkeypatch.undo()
        driver.send(p.SetModel("scripted/scripted", model.url))
        driver.wait(lambda _: labels(driver)[-1][0] == "scripted/scripted")
        driver.ask("is anybody there?")
    told = model.requests[-1]["messages"][-1]["content"]
    assert told.startswith("is anybody there?") and NEWS_HEADING in told and "mcp__fix__echo" in told


def test_a_message_is_not_given_back_once_it_was_answered_in_part(play: Open) -> None:
    with play(LOOK, fail(401, "no"), servers={}) as driver:
        assert not driver.ask("go").give_back


# ----------------------------------------------------------------------- effort


def test_how_hard_to_think_holds_from_the_next_request_on(play: Open, model: ScriptedModel) -> None:
    with play(say("one"), say("two"), say("three"), servers={}, effort="low") as driver:
        driver.ask("one")
        driver.send(p.SetEffort("high"))
        driver.wait(lambda _: driver.of(p.ModelChanged)[-1].effort == "high")
        driver.ask("two")
        driver.send(p.SetEffort(""))
        driver.wait(lambda _: driver.of(p.ModelChanged)[-1].effort == "")
        driver.ask("three")
    assert [body.get("reasoning_effort") for body in model.requests] == ["low", "high", None]


def test_an_effort_there_is_none_of_is_told(play: Open) -> None:
    with play(servers={}) as driver:
        driver.send(p.SetEffort("enormous"))
        driver.wait(
            lambda _: any("There is no effort 'enormous'" in one.text for one in driver.of(p.Notice)),
            "a word",
        )
