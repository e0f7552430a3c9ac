"""Parallel calls: asked for where a server wants to be asked, kept to one where the model or the person does, and
never sent to whom does not know the field.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from hel_tui.core.models.entries import Listed, told_by
from hel_tui.core.models.parallel import one_by_one
from hel_tui.core.models.profiles import PROFILES, Dialect
from hel_tui.core.models.types import Finish, Request
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from tests.core.models.apis import HELLO, at, every_api, info_of, parts_of, playing, sent
from tests.core.models.test_every_wire import histories
from tests.fixtures.models.endpoint import Exchange, Json
from tests.fixtures.models.spelling import Call, Say, Script, Spelling
from tests.fixtures.models.strict_apis import STRICT

LOOK = ToolDefinition("look", "Looks.", {"type": "object", "properties": {"service": {"type": "string"}}})
PNG = Image("image/png", b"\x89PNG", width=1, height=1)
FIELDS = ("parallel_tool_calls", "tool_choice")
BOTH = AssistantMessage(
    "I look.",
    "Both at once.",
    (ToolCall("a", "look", '{"service": "api"}'), ToolCall("b", "look", '{"service": "db"}')),
)
TWO_CALLS: tuple[Message, ...] = (
    SystemMessage("Be brief."),
    UserMessage("which ports?"),
    BOTH,
    ToolMessage("a", "look", "7000", images=(PNG,)),
    ToolMessage("b", "look", "5432"),
)


def said_of_calls(provider: str, tools: Sequence[ToolDefinition] = (LOOK,), **facts: Any) -> Json:
    """What a request to this provider says of the number of calls."""
    dialect = PROFILES[provider].dialect
    body = sent(dialect.api, Request(HELLO, tools), dialect=dialect, **facts)
    return {name: body[name] for name in FIELDS if name in body}


# ------------------------------------------------------------ what is asked for


@pytest.mark.parametrize("provider", sorted(PROFILES))
def test_several_calls_are_asked_for_only_where_a_server_makes_one_otherwise(provider: str) -> None:
    asked = provider in ("llamacpp", "local")
    assert said_of_calls(provider) == ({"parallel_tool_calls": True} if asked else {})


@pytest.mark.parametrize("provider", sorted(PROFILES))
@pytest.mark.parametrize("facts", [{"parallel": False}, {"one_call": True}])
def test_where_one_at_a_time_is_taken_or_wanted_the_request_says_so_in_its_apis_word(
    provider: str, facts: dict[str, bool]
) -> None:
    words: dict[str, Json] = {
        "chat": {"parallel_tool_calls": False},
        "responses": {"parallel_tool_calls": False},
        "messages": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        "gemini": {},
    }
    assert said_of_calls(provider, **facts) == words[PROFILES[provider].dialect.api]


@pytest.mark.parametrize("provider", sorted(PROFILES))
@pytest.mark.parametrize("parallel", [None, True, False])
def test_without_tools_nothing_is_said_of_calls(provider: str, parallel: bool | None) -> None:
    assert said_of_calls(provider, (), parallel=parallel) == {}


# ----------------------------------------------------- a history of single calls


def test_calls_of_one_answer_are_shown_one_after_another_each_with_its_result() -> None:
    single = sent("chat", Request(TWO_CALLS, (LOOK,)), parallel=False, sees=True, dialect=Dialect("back"))
    told = [
        (one["role"], [call["id"] for call in one.get("tool_calls", ())] or one.get("tool_call_id"))
        for one in single["messages"]
    ]
    assert told == [
        ("system", None),
        ("user", None),
        ("assistant", ["a"]),
        ("tool", "a"),
        ("user", None),
        ("assistant", ["b"]),
        ("tool", "b"),
    ]
    first, second = (one for one in single["messages"] if one["role"] == "assistant")
    assert (first["content"], first["reasoning_content"]) == ("I look.", "Both at once.")
    assert second["content"] == "" and "reasoning_content" not in second
    assert STRICT["chat"](single) == ""


@every_api
def test_what_the_person_wants_leaves_the_answers_of_the_history_as_they_came(api: str) -> None:
    wanted, plain = (sent(api, Request(TWO_CALLS, (LOOK,)), one_call=one_call) for one_call in (True, False))
    for name in FIELDS:
        wanted.pop(name, None)
    assert wanted == plain


@every_api
@given(history=histories())
def test_every_history_of_single_calls_is_one_its_provider_takes(api: str, history: list[Message]) -> None:
    body = sent(api, Request(history, (LOOK,)), parallel=False)
    assert STRICT[api](body) == ""
    if api == "chat":
        assert all(len(one.get("tool_calls", ())) <= 1 for one in body["messages"])


@given(history=histories())
def test_nothing_is_lost_on_the_way_to_single_calls(history: list[Message]) -> None:
    def parts(messages: Sequence[Message]) -> list[object]:
        return [
            part
            for one in messages
            for part in (
                [one.text, one.reasoning, *one.calls] if isinstance(one, AssistantMessage) else [one]
            )
            if part != ""
        ]

    single = one_by_one(history)
    assert sorted(map(repr, parts(single))) == sorted(map(repr, parts(history)))
    assert one_by_one(single) == single


def test_what_was_sent_stays_the_beginning_of_what_is_sent_next() -> None:
    more = (*TWO_CALLS, AssistantMessage("7000 and 5432."), UserMessage("thanks"))
    one, two = (
        sent("chat", Request(each, (LOOK,)), parallel=False)["messages"] for each in (TWO_CALLS, more)
    )
    assert two[: len(one)] == one


# ------------------------------------------------------------- what is learned


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, "This model only supports single tool-calls at once!"),
        (400, "This model only supports single tool-calls at once! None"),
        (400, "Multiple tool calls are not supported by this model."),
        (422, "This endpoint does not support parallel tool calls"),
        (400, "Parallel tool calls are not supported by this model, set parallel_tool_calls to false."),
        (400, "only one tool call per message; parallel_tool_calls is off"),
        (400, "Only one tool call is supported per message."),
        (400, "Conversation history contains parallel tool calls, which are not supported"),
        (400, "messages[2].tool_calls: array too long. Expected an array with maximum length 1, but got 2"),
    ],
)
async def test_a_template_that_takes_one_call_at_a_time_is_learned_once_and_told(
    status: int, words: str
) -> None:
    async def llama(exchange: Exchange, spelling: Spelling) -> None:
        if any(len(one.get("tool_calls", ())) > 1 for one in exchange.json["messages"]):
            await exchange.answer(status, {"error": {"message": words}})
        else:
            await playing(Script((Say("Done."),)))(exchange, spelling)

    async with at("chat", llama) as (model, endpoint):
        first = (await parts_of(model, TWO_CALLS, tools=(LOOK,)))[-1]
        second = (await parts_of(model, TWO_CALLS, tools=(LOOK,)))[-1]
    assert isinstance(first, Finish) and isinstance(second, Finish)
    assert first.message.text == "Done."
    assert "one call at a time" in " ".join(first.notes) and not second.notes
    assert [body.get("parallel_tool_calls") for body in endpoint.requests] == [None, False, False]


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
async def test_a_server_that_does_not_know_the_field_is_asked_without_it_from_then_on(api: str) -> None:
    name = "tool_choice" if api == "messages" else "parallel_tool_calls"
    words = {"messages": "tool_choice.auto.disable_parallel_tool_use: Extra inputs are not permitted"}.get(
        api, "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
    )

    async def strict(exchange: Exchange, spelling: Spelling) -> None:
        if name in exchange.json:
            await exchange.answer(400, {"error": {"message": words, "type": "invalid_request_error"}})
        else:
            await playing(Script((Say("Done."),)))(exchange, spelling)

    async with at(api, strict, one_call=True) as (model, endpoint):
        for _ in range(2):
            last = (await parts_of(model, tools=(LOOK,)))[-1]
            assert isinstance(last, Finish) and last.message.text == "Done." and not last.notes
    assert [name in body for body in endpoint.requests] == [True, False, False]


async def test_words_of_calls_that_were_not_about_them_change_nothing() -> None:
    async def other(exchange: Exchange, _spelling: Spelling) -> None:
        await exchange.answer(400, {"error": {"message": "parallel_tool_calls: see the guide; bad model"}})

    async with at("chat", other) as (model, endpoint):
        with pytest.raises(Exception, match="bad model"):
            await parts_of(model, tools=(LOOK,))
    assert len(endpoint.requests) == 1


@every_api
async def test_several_calls_come_whole_even_from_one_that_was_asked_for_one(api: str) -> None:
    script = Script((Call("look", '{"service": "api"}', "a"), Call("look", '{"service": "db"}', "b")))
    async with at(api, playing(script), parallel=False) as (model, _):
        last = (await parts_of(model, tools=(LOOK,)))[-1]
    assert isinstance(last, Finish)
    assert [json.loads(call.arguments) for call in last.message.calls] == [
        {"service": "api"},
        {"service": "db"},
    ]


def test_the_persons_word_comes_before_the_engines() -> None:
    info = info_of("chat", "http://127.0.0.1/v1")
    told = Listed("m", parallel=True)
    assert told_by(info, told).parallel is True
    assert told_by(replace(info, parallel=True), Listed("m", parallel=False)).parallel is True
