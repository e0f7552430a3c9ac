"""The model of a session and its key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.session.model import Model, Wishes
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import Driver


async def test_a_key_from_the_keyring_is_known_as_a_secret(tmp_path: Path) -> None:
    hidden: list[str] = []
    options = Options(tmp_path, environ={})
    model = Model(options, lambda _: None, Wishes(), hidden.append, keyring=lambda name: f"key of {name}")
    assert await model.choose("deepseek/deepseek-chat", None) == "deepseek/deepseek-chat"
    assert hidden == ["key of deepseek"]
    await model.aclose()


async def test_whether_a_model_sees_is_told_once_one_is_chosen(tmp_path: Path) -> None:
    model = Model(Options(tmp_path, environ={}), lambda _: None, Wishes(vision=False), lambda *_: None)
    asked = asyncio.ensure_future(model.blind())
    await asyncio.sleep(0)
    assert not asked.done()
    assert await model.choose("any/m", "http://127.0.0.1:9/v1") == "any/m"
    assert await asked == "any/m"
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
