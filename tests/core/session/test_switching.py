"""Another model is chosen while one is asked: by a turn, its tasks, what joins it, or a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.agent.budget import Budget
from hel_tui.core.agent.spending import Accounts
from hel_tui.core.mcp.asking import SampleRequest
from hel_tui.core.models import choose
from hel_tui.core.options import Options
from hel_tui.core.session.model import Model, Wishes
from hel_tui.core.session.sampling import Purse, sample_with
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import UserMessage
from tests.core.session.test_model import Reserved
from tests.core.session.test_own_files import PNG
from tests.fixtures.models.endpoint import Json, ScriptedModel, call, say
from tests.rig import LIMIT, Driver

Open = Callable[..., Driver]
GATE = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
HI = SampleRequest((UserMessage("hi"),), (), max_tokens=10, stop=())


class Quiet:
    def write(self, _kind: str, **_facts: Any) -> None: ...


def begun(driver: Driver, project: Path) -> None:
    driver.send(p.Submit("go"))
    driver.wait(lambda _: (project / "begun").exists(), "the command")


def test_a_task_of_a_turn_asks_the_model_of_the_turn(play: Open, model: ScriptedModel, project: Path) -> None:
    task = call("task", {"prompt": "look"})
    with (
        ScriptedModel() as other,
        play(GATE, task, say("found"), say("done"), servers={}, access="auto") as driver,
    ):
        begun(driver, project)
        driver.send(p.SetModel("scripted/other", other.url))
        driver.wait(lambda _: driver.of(p.ModelChanged)[-1].label == "scripted/other", "the switch")
        (project / "go").touch()
        assert driver.turn_end(0).reason == "done"
        assert (len(model.requests), len(other.requests)) == (4, 0)


def test_an_image_that_joins_a_turn_does_not_wait_for_a_switch(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    (project / "pic.png").write_bytes(PNG)
    with Reserved() as slow, play(GATE, say("seen"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.SetModel("", slow.url))
        assert slow.asked.wait(LIMIT)
        driver.send(p.Submit("look at @pic.png"))
        driver.wait(lambda _: any(len(one.texts) == 1 for one in driver.of(p.Queued)), "the queue")
        (project / "go").touch()
        assert driver.turn_end(0).reason == "done"
        slow.tell.set()
    assert "look at @pic.png" in str(model.requests[1])


def test_what_is_attached_for_the_next_message_stays_when_this_one_mentions_it(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    with play(GATE, say("x"), servers={}, access="auto") as driver:
        begun(driver, project)
        driver.send(p.Submit("look at @config.ini"))
        driver.wait(lambda _: any(len(one.texts) == 1 for one in driver.of(p.Queued)), "the queue")
        driver.send(p.Attach("", "config.ini"))
        driver.wait(lambda _: driver.of(p.AttachmentsChanged), "the attachment")
        (project / "go").touch()
        driver.turn_end(0)
        assert [one.name for one in driver.of(p.AttachmentsChanged)[-1].attachments] == ["config.ini"]
    assert "port=7000" in str(model.requests[1])


def test_a_file_that_is_loaded_and_given_up_for_another_model_is_not_worth_a_word(
    play: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = choose.open_model

    async def loads_for_ever(model: str | None, base_url: str | None, **more: Any) -> choose.Opened:
        if model == "local/large":
            more["progress"](0, 10)
            await asyncio.Event().wait()
        return await real(model, base_url, **more)

    monkeypatch.setattr(choose, "open_model", loads_for_ever)
    with ScriptedModel() as other, play(servers={}) as driver:
        driver.wait(lambda _: driver.of(p.ModelChanged), "the first model")
        driver.send(p.SetModel("local/large", None))
        driver.wait(lambda _: driver.of(p.ModelLoading), "the load")
        driver.send(p.SetModel("scripted/other", other.url))
        driver.wait(lambda _: driver.of(p.ModelChanged)[-1].label == "scripted/other", "the switch")
    assert not [notice for notice in driver.of(p.Notice) if not notice.text]


async def test_a_server_that_asks_the_model_waits_for_the_choice_and_survives_a_switch(
    tmp_path: Path,
) -> None:
    said = "one two three four five six"
    accounts = Accounts()
    reached = threading.Event()

    def answer(_body: Json) -> Json:
        reached.set()
        return say(said, pause=0.1)

    with ScriptedModel([answer]) as endpoint:
        model = Model(Options(tmp_path, environ={}), lambda _: None, Wishes(), lambda _: None)
        sample = sample_with(model, Purse(lambda: Budget(None), lambda: accounts, lambda: 0), Quiet())
        asked = asyncio.ensure_future(sample.run(HI))
        await asyncio.sleep(0)
        assert not asked.done()
        await model.choose("openai-compatible/a", endpoint.url)
        first = model.current
        await in_thread(reached.wait)
        await model.choose("openai-compatible/b", endpoint.url)
        assert model.current is not first
        assert (await asked).message.text == said
        await model.aclose()
