"""Schemas as providers take them, arguments as servers want them, and tools a provider refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, say
from tests.fixtures.models.schema_rules import RULES, functions
from tests.fixtures.models.strict import complaint
from tests.rig import Driver, called, results

Open = Callable[..., Driver]
Json = dict[str, Any]
SCHEMAS = {"mode": "weird:schemas", "always_load": True}
BODY = {
    "top_oneof",
    "array_no_items",
    "php_map",
    "recursive_ref",
    "dangling_ref",
    "nullable_union",
    "odd_names",
}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model; beside tiny requests that only try tools, it gets what a strict provider takes."""
    with ScriptedModel() as endpoint:
        yield endpoint
    for body in endpoint.requests:
        assert is_probe(body) or not complaint(body["messages"])


def is_probe(body: Json) -> bool:
    """Whether a request only tries tools: one short message, and next to nothing for an answer."""
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1_000
    return len(body["messages"]) == 1 and limit <= 16


def refused(count: int, *bad: int) -> Json:
    env = {"COUNT": str(count), "BAD": " ".join(map(str, bad))}
    return {"mode": "weird:refused", "always_load": True, "env": env}


def names(body: Json) -> list[str]:
    return [one["name"] for one in functions(body)]


def server_tools(body: Json) -> list[str]:
    return [name.removeprefix("mcp__fix__") for name in names(body) if name.startswith("mcp__fix__")]


class Provider:
    """Answers what its rule takes with replies in order, and refuses the rest in the rule's words."""

    def __init__(self, refuses: Callable[[list[Json]], str], *replies: Any) -> None:
        self._refuses = refuses
        self._replies = list(replies)

    def __call__(self, body: Json) -> Json:
        if words := self._refuses(functions(body)):
            return fail(400, words)
        if is_probe(body):
            return say("ok")
        return self._replies.pop(0)


def poisoned(words: Callable[[list[Json], list[int]], str]) -> Callable[[list[Json]], str]:
    """Refuses requests with a poisoned tool; `words` says so, given the functions and the places."""

    def rule(tools: list[Json]) -> str:
        bad = [n for n, one in enumerate(tools) if one.get("description") == "poison"]
        return words(tools, bad) if bad else ""

    return rule


def left_out(driver: Driver) -> dict[str, str]:
    return {row.raw: row.reason for row in driver.core.tools() if row.reason}


@pytest.mark.parametrize(
    "words",
    [
        lambda tools, bad: (
            f"Invalid schema for function '{tools[bad[0]]['name']}': In context=('properties', 'text'), no."
        ),
        lambda tools, bad: f"tools.{bad[0]}.custom.input_schema: JSON schema is invalid.",
        lambda tools, bad: "\n".join(
            f"* GenerateContentRequest.tools[0].function_declarations[{n}].parameters.properties[text]: missing field."
            for n in bad
        ),
        lambda tools, bad: f"Invalid 'tools[{bad[0]}].function.parameters': no.",
        lambda tools, bad: "JSON schema conversion failed: Unrecognized schema",
    ],
    ids=["by name", "Anthropic's number", "Gemini's numbers", "OpenAI's number", "nothing named"],
)
def test_a_refused_tool_is_left_out_by_name_and_the_turn_goes_on(
    play: Open, model: ScriptedModel, tmp_path: Path, words: Any
) -> None:
    provider = Provider(poisoned(words), call("mcp__fix__t1", {"text": "good"}), say("done"))
    with play(*[provider] * 60, servers={"fix": refused(8, 2, 5)}, access="auto") as driver:
        assert driver.ask("go").reason == "done"
        out = left_out(driver)
        assert set(out) == {"t2", "t5"} and all("refused" in reason for reason in out.values())
        told = " ".join(n.text for n in driver.of(p.Notice) if n.source == "fix")
        assert "t2" in told and "t5" in told and "t1" not in told
    assert server_tools(model.requests[-1]) == [f"t{n}" for n in (0, 1, 3, 4, 6, 7)]
    assert [one["name"] for one in called(tmp_path, "fix")] == ["t1"]


def test_a_refusal_of_hels_own_tools_blames_no_server(play: Open, model: ScriptedModel) -> None:
    provider = Provider(lambda tools: "JSON schema is invalid." if tools else "")
    with play(*[provider] * 60, servers={"fix": refused(4)}) as driver:
        assert driver.ask("go").reason == "failed"
        assert not left_out(driver)


def test_more_tools_than_the_provider_takes_are_not_sent(play: Open, model: ScriptedModel) -> None:
    def limited(tools: list[Json]) -> str:
        if len(tools) <= 20:
            return ""
        return f"Invalid 'tools': array too long. Expected an array with maximum length 20, but got {len(tools)}."

    provider = Provider(limited, say("done"))
    with play(*[provider] * 9, servers={"fix": refused(40)}) as driver:
        assert driver.ask("go").reason == "done"
        assert any("20 tools" in notice.text for notice in driver.of(p.Notice))
        assert not left_out(driver)
    assert len(names(model.requests[-1])) == 20


@pytest.mark.parametrize("family", ["openai", "anthropic", "gemini", "deepseek", "generic"])
def test_weird_schemas_reach_every_provider_in_the_form_it_takes(
    play: Open, model: ScriptedModel, family: str
) -> None:
    def rule(tools: list[Json]) -> str:
        error = RULES[family](tools)
        return json.dumps(error) if error else ""

    provider = Provider(rule, say("done"))
    name = {"anthropic": "anthropic/claude", "gemini": "google/gemini", "openai": "openai/gpt"}.get(
        family, "x/y"
    )
    more = {"model": f"scripted/{name}"}
    with play(*[provider] * 9, servers={"fix": SCHEMAS}, **more) as driver:
        assert driver.ask("go").reason == "done"
        assert not left_out(driver)
    assert len(model.requests) == 1
    assert set(server_tools(model.requests[0])) > BODY


def test_a_call_reaches_its_server_with_the_servers_names_and_values(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    given = {"filter_id": "7", "rows": [{"top": 3}]}
    with play(call("mcp__fix__odd_names", given), say("done"), servers={"fix": SCHEMAS}) as driver:
        driver.send(p.Submit("go"))
        asked = driver.question(p.ApprovalQuestion)
        assert json.loads(asked.arguments) == {"filter[id]": 7, "rows": [{"$top": 3}]}
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.turn_end(0)
        detail = driver.core.tool("fix", "odd_names")
        assert detail is not None
        assert any("filter[id]" in one and "filter_id" in one for one in detail.adaptations)
        assert '-    "filter[id]"' in detail.diff and detail.profile == "generic"
    assert called(tmp_path, "fix")[0]["arguments"] == {"filter[id]": 7, "rows": [{"$top": 3}]}
    own = model.requests[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(own) == given
    assert results(model.requests[1])
