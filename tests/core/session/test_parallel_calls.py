"""Parallel calls in whole turns: one setting keeps a model to one at a time, and so does its chat template."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.store.places import find_places
from tests.fixtures.models.endpoint import Json, ScriptedModel, call, calls, fail, say
from tests.rig import Driver, environment

Open = Callable[..., Driver]

ECHO = "mcp__fix__echo"
LOOK = calls(call("read_file", {"path": "config.ini"}, "a"), call("read_file", {"path": "absent"}, "b"))


def test_a_person_keeps_a_model_to_one_call_at_a_time(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    file = find_places(environment(tmp_path)).user_settings
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("parallel_calls = false\n")
    with play(LOOK, say("Done."), servers={}) as driver:
        assert driver.ask("look").reason == "done"
        assert len(driver.of(p.CallStarted)) == 2
    assert [body["parallel_tool_calls"] for body in model.requests] == [False, False]
    roles = [message["role"] for message in model.requests[1]["messages"][-4:]]
    assert roles == ["user", "assistant", "tool", "tool"]


def test_a_template_that_takes_single_calls_costs_one_request_and_a_word(
    play: Open, model: ScriptedModel
) -> None:
    def llama(body: Json) -> Json:
        if any(len(one.get("tool_calls", ())) > 1 for one in body["messages"]):
            return fail(500, "This model only supports single tool-calls at once!")
        return say("Done.")

    with play(LOOK, llama, llama, LOOK, llama, servers={}) as driver:
        assert driver.ask("look").reason == "done"
        assert driver.ask("again").reason == "done"
        told = [notice.text for notice in driver.of(p.Notice) if "one call at a time" in notice.text]
        assert len(told) == 1
        assert len(driver.of(p.CallStarted)) == 4
    assert len(model.requests) == 5
