"""Whole turns with tools in every API, through the real session: what is sent is valid all the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, calls, fail, say
from tests.fixtures.models.strict_apis import STRICT
from tests.rig import Driver

Open = Callable[..., Driver]

NAMES = {
    "responses": "openai-responses/gpt-5.5",
    "messages": "anthropic/claude-haiku-4-5",
    "gemini": "gemini/gemini-3-flash",
}
LOOK = call("read_file", {"path": "config.ini"})


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model, without the rules of chat completions."""
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.mark.parametrize("api", list(NAMES))
def test_a_conversation_with_tools_is_valid_at_every_step(play: Open, model: ScriptedModel, api: str) -> None:
    script: tuple[Reply, ...] = (
        calls(LOOK, call("mcp__fix__echo", {"text": "포트"}), text="I look.", reasoning="Both at once."),
        call("read_file", {"path": "absent"}),
        say("It is 7000.", reasoning="Now I know."),
        say("Again: 7000."),
    )
    with play(*script, model=NAMES[api], access="auto") as driver:
        assert driver.ask("which port?").reason == "done"
        assert driver.ask("sure?").reason == "done"
        assert "".join(delta.text for delta in driver.of(p.ReasoningDelta)) == "Both at once.Now I know."
        assert len(driver.of(p.CallStarted)) == 3
    assert len(model.requests) == 4
    assert [STRICT[api](body) for body in model.requests] == [""] * 4


@pytest.mark.parametrize("api", list(NAMES))
def test_an_interrupted_turn_leaves_a_history_the_provider_takes(
    play: Open, model: ScriptedModel, api: str
) -> None:
    slow = say("word " * 200, reasoning="Hm.", pause=0.05)
    with play(LOOK, slow, say("Here."), servers={}, model=NAMES[api]) as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: driver.of(p.TextDelta))
        driver.send(p.Interrupt())
        assert driver.turn_end(0).reason == "interrupted"
        assert driver.ask("hi").reason == "done"
    assert [STRICT[api](body) for body in model.requests] == ["", "", ""]


@pytest.mark.parametrize("api", ["chat", *NAMES])
def test_a_prompt_of_a_server_may_begin_with_words_of_the_model(
    play: Open, model: ScriptedModel, api: str
) -> None:
    named = {"model": NAMES[api]} if api in NAMES else {}
    with play(say("Here."), say("There."), servers={"fix": "offers:offers"}, **named) as driver:
        driver.wait(lambda _: driver.core.prompts())
        assert driver.ask("hi").reason == "done"
        driver.send(p.UsePrompt("fix", "data-analyst"))
        assert driver.turn_end(1).reason == "done"
    assert [STRICT[api](body) for body in model.requests] == ["", ""]


@pytest.mark.parametrize("api", list(NAMES))
def test_what_is_said_while_a_call_runs_stands_behind_its_result(
    play: Open, model: ScriptedModel, project: Path, api: str
) -> None:
    gate = call("bash", {"command": "touch begun; until [ -e go ]; do sleep 0.02; done"})
    with play(gate, say("Both."), servers={}, model=NAMES[api], access="auto") as driver:
        driver.send(p.Submit("go"))
        driver.wait(lambda _: (project / "begun").exists())
        driver.send(p.Submit("and that"))
        driver.wait(lambda _: driver.of(p.Queued)[-1] == p.Queued(("and that",), joins=1))
        (project / "go").touch()
        assert driver.turn_end(0).reason == "done"
    assert [STRICT[api](body) for body in model.requests] == ["", ""]
    assert "and that" in str(model.requests[1])


@pytest.mark.parametrize("api", list(NAMES))
def test_a_model_changed_within_a_conversation_takes_over_its_history(
    play: Open, model: ScriptedModel, api: str
) -> None:
    replies = [
        calls(LOOK, reasoning="Hm."),
        say("7000.", reasoning="So."),
        LOOK,
        say("7000."),
        LOOK,
        say("7000."),
    ]
    with play(*replies, servers={}, model=NAMES[api]) as driver:
        driver.ask("go")
        for other in [name for name in NAMES if name != api]:
            driver.send(p.SetModel(NAMES[other], model.url))
            name = NAMES[other]
            driver.wait(lambda _, name=name: driver.of(p.ModelChanged)[-1].label == name)
            assert driver.ask("go on").reason == "done"
            assert STRICT[other](model.requests[-1]) == ""


@pytest.mark.parametrize("api", list(NAMES))
def test_a_rate_limit_is_waited_out_in_sight(play: Open, model: ScriptedModel, api: str) -> None:
    limited = fail(429, "Slow down", headers={"Retry-After": "0"})
    with play(limited, say("hello"), servers={}, model=NAMES[api]) as driver:
        assert driver.ask("go").reason == "done"
        assert "Slow down" in driver.of(p.Retrying)[0].why


def _names(api: str, body: dict[str, Any]) -> list[str]:
    tools = body.get("tools", [])
    return [one["name"] for one in (tools[0]["functionDeclarations"] if api == "gemini" and tools else tools)]


@pytest.mark.parametrize(
    ("api", "words"),
    [
        ("messages", "tools.{}.custom.input_schema: JSON schema is invalid."),
        ("responses", "Invalid schema for function 'mcp__fix__echo': array schema missing items"),
        ("gemini", "* GenerateContentRequest.tools[0].function_declarations[{}].parameters: missing field."),
    ],
)
def test_a_tool_that_a_provider_refuses_is_left_out_and_the_turn_goes_on(
    play: Open, model: ScriptedModel, api: str, words: str
) -> None:
    def strict(body: dict[str, Any]) -> Reply:
        names = _names(api, body)
        if "mcp__fix__echo" not in names:
            return say("hello")
        return fail(400, words.format(names.index("mcp__fix__echo")))

    servers = {"fix": {"mode": "wire:ok", "always_load": True}}
    with play(*[strict] * 9, servers=servers, model=NAMES[api]) as driver:
        end = driver.ask("go")
        assert (end.reason, end.message) == ("done", "")
        assert any("echo" in notice.text for notice in driver.of(p.Notice))
    assert "mcp__fix__echo" not in _names(api, model.requests[-1])
    assert len(_names(api, model.requests[-1])) > 3
