"""The model of a session and its key."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.session.answering import NO_MODEL
from hel_tui.core.session.model import Model, Wishes
from hel_tui.core.threads import in_thread
from tests.fixtures.models.endpoint import Exchange, Reply, ScriptedModel, say
from tests.rig import LIMIT, Driver

Open = Callable[..., Driver]


class Reserved(ScriptedModel):
    """Says which models it has only when `tell` is set: choosing it takes that long."""

    def __init__(self, *replies: Reply, models: Sequence[str] = ("scripted",)) -> None:
        super().__init__(replies, models)
        self.asked, self.tell = threading.Event(), threading.Event()

    def __enter__(self) -> Reserved:
        super().__enter__()
        return self

    async def _answer(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            self.asked.set()
            await in_thread(self.tell.wait)
        await super()._answer(exchange)


async def test_a_key_from_the_keyring_is_known_as_a_secret(tmp_path: Path) -> None:
    hidden: list[str] = []
    options = Options(tmp_path, environ={})
    model = Model(options, lambda _: None, Wishes(), hidden.append, keyring=lambda name: f"key of {name}")
    assert await model.choose("deepseek/deepseek-chat", None) == "deepseek/deepseek-chat"
    assert hidden == ["key of deepseek"]
    await model.aclose()


async def test_why_a_model_sees_nothing_is_told(tmp_path: Path) -> None:
    model = Model(Options(tmp_path, environ={}), lambda _: None, Wishes(vision=False), lambda *_: None)
    assert await model.blind(model.current) == ""
    assert await model.choose("any/m", "http://127.0.0.1:9/v1") == "any/m"
    assert await model.blind(model.current) == "any/m takes no images."
    await model.aclose()


def test_an_answer_under_way_is_not_cut_off_when_another_model_is_chosen(
    play: Callable[..., Driver], model: ScriptedModel
) -> None:
    """The turn ends with the model it began with; the next one asks the other, and the first is closed."""
    with (
        ScriptedModel([say("from the other")]) as other,
        play(say("slow words " * 40, pause=0.02), servers={}) as driver,
    ):
        driver.send(p.Submit("go"))
        driver.wait(lambda _: len(driver.of(p.TextDelta)) > 3)
        driver.send(p.SetModel("scripted/other", other.url))
        driver.wait(lambda _: driver.of(p.ModelChanged)[-1].label == "scripted/other")
        assert driver.turn_end(0).reason == "done"
        assert "".join(event.text for event in driver.of(p.TextDelta)) == "slow words " * 40
        assert driver.ask("again").reason == "done"
        driver.wait(lambda _: model.is_left)
        assert len(other.requests) == 1


def began(driver: Driver) -> None:
    """Wait until a turn has begun."""
    driver.wait(lambda _: driver.of(p.TurnStarted))


def test_a_message_before_the_first_choice_waits_for_it(play: Open) -> None:
    with Reserved(say("here I am")) as slow, play(model=None, base_url=slow.url, servers={}) as driver:
        assert slow.asked.wait(LIMIT)
        driver.send(p.Submit("hello"))
        began(driver)
        assert not slow.requests and not driver.of(p.TurnEnded)
        slow.tell.set()
        assert driver.turn_end(0).reason == "done"
        assert len(slow.requests) == 1


def test_a_message_during_a_switch_goes_to_the_model_that_was_asked_for(
    play: Open, model: ScriptedModel
) -> None:
    with Reserved(say("here I am")) as slow, play(say("before"), servers={}) as driver:
        assert driver.ask("first").reason == "done"
        driver.send(p.SetModel("", slow.url))
        assert slow.asked.wait(LIMIT)
        driver.send(p.Submit("second"))
        driver.wait(lambda _: len(driver.of(p.TurnStarted)) == 2)
        slow.tell.set()
        assert driver.turn_end(1).reason == "done"
        assert (len(model.requests), len(slow.requests)) == (1, 1)


def test_a_message_during_a_switch_that_comes_to_nothing_goes_to_the_model_there_was(
    play: Open, model: ScriptedModel
) -> None:
    undecided = Reserved(models=("one", "other"))
    with undecided as slow, play(say("still here"), servers={}) as driver:
        driver.wait(lambda _: driver.of(p.ModelChanged))
        driver.send(p.SetModel("", slow.url))
        assert slow.asked.wait(LIMIT)
        driver.send(p.Submit("hello"))
        began(driver)
        slow.tell.set()
        assert driver.turn_end(0).reason == "done"
        assert (len(model.requests), len(slow.requests)) == (1, 0)


def test_a_message_that_waits_for_a_switch_can_be_taken_back(play: Open, model: ScriptedModel) -> None:
    with Reserved() as slow, play(servers={}) as driver:
        driver.wait(lambda _: driver.of(p.ModelChanged))
        driver.send(p.SetModel("", slow.url))
        assert slow.asked.wait(LIMIT)
        driver.send(p.Submit("hello"))
        began(driver)
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        slow.tell.set()
    assert not model.requests and not slow.requests


def test_a_choice_that_another_one_followed_does_not_let_the_turn_go(play: Open) -> None:
    """Two choices wait for each other: what is sent is for the second."""
    with (
        Reserved() as slow,
        ScriptedModel([say("the second")]) as other,
        play(model=None, base_url=slow.url, servers={}) as driver,
    ):
        assert slow.asked.wait(LIMIT)
        driver.send(p.SetModel("scripted/other", other.url))
        driver.send(p.Submit("hello"))
        began(driver)
        slow.tell.set()
        assert driver.turn_end(0).reason == "done"
        assert (len(slow.requests), len(other.requests)) == (0, 1)


@pytest.mark.parametrize("attended", [True, False])
def test_without_a_model_the_turn_says_so(play: Open, attended: bool) -> None:
    with play(model="nobody/any", base_url=None, servers={}, answerable=attended) as driver:
        for turn in range(2):
            end = driver.ask("hello")
            assert (end.reason, end.give_back) == ("failed", True), turn
            assert "'nobody' is not known" in end.message


def test_a_choice_that_fails_inside_holds_no_turn(play: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **_more: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("hel_tui.core.models.choose.open_model", broken)
    with play(servers={}) as driver:
        end = driver.ask("hello")
        assert (end.reason, end.message) == ("failed", NO_MODEL)


def test_a_window_that_only_the_endpoint_knows_is_asked_for_and_shown(
    play: Callable[..., Driver], model: ScriptedModel
) -> None:
    model.told = {"context_length": 32_768}
    with play(say("hi"), servers={}) as driver:
        driver.wait(lambda _: any(one.window == 32_768 for one in driver.of(p.ModelChanged)), "the window")
        driver.wait(lambda _: any(one.window == 32_768 for one in driver.of(p.UsageChanged)), "the meter")
        assert driver.ask("hello").reason == "done"
    assert [one.path for one in model.exchanges].count("/v1/models") == 1


def test_an_endpoint_that_lists_nothing_leaves_the_window_unknown(
    play: Callable[..., Driver], model: ScriptedModel
) -> None:
    with play(say("hi"), servers={}) as driver:
        assert driver.ask("hello").reason == "done"
        assert all(one.window == 0 for one in driver.of(p.ModelChanged))
