"""What goes to a server: valid history, valid JSON, nothing a stranger would refuse."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from hel_tui.core.models.profiles import Dialect, ReasoningBack
from hel_tui.core.models.types import ModelFault, ModelInfo, Request
from hel_tui.core.models.wire import body, fresh_ids
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)

INFO = ModelInfo("test", "m", "http://127.0.0.1/v1")
PLAIN = Dialect()


def sent(
    *messages: Message, dialect: Dialect = PLAIN, tools: tuple[ToolDefinition, ...] = ()
) -> dict[str, Any]:
    value = json.loads(body(Request(messages, tools), INFO, dialect))
    assert isinstance(value, dict)
    return value


def test_tools_go_without_strict_and_empty_parameters_are_left_out() -> None:
    tools = sent(tools=(ToolDefinition("list", "Lists.", {}),))["tools"]
    assert tools == [{"type": "function", "function": {"name": "list", "description": "Lists."}}]
    assert "tools" not in sent(UserMessage("hi"))


def test_calls_and_results_are_paired_by_id() -> None:
    calls = (ToolCall("a", "look", '{"x": 1}'),)
    messages = sent(AssistantMessage("", "", calls), ToolMessage("a", "look", "7"))["messages"]
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"x": 1}'}}
    assert messages == [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "7"},
    ]


@pytest.mark.parametrize("text", ['{"x": ', "[1]", '{"x": NaN}', "[" * 100_000])
def test_arguments_that_no_server_could_parse_are_sent_as_valid_json(text: str) -> None:
    message = sent(AssistantMessage("", "", (ToolCall("a", "look", text),)))["messages"][0]
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"not_valid_json": text}


@pytest.mark.parametrize(
    ("way", "with_thought", "without"),
    [("none", None, None), ("back", "hm", None), ("always", "hm", "")],
)
def test_reasoning_goes_back_as_the_dialect_says(
    way: ReasoningBack, with_thought: str | None, without: str | None
) -> None:
    messages = sent(AssistantMessage("a", "hm"), AssistantMessage("b"), dialect=Dialect(way))["messages"]
    assert [message.get("reasoning_content") for message in messages] == [with_thought, without]


@pytest.mark.parametrize(("provider", "goes"), [("test", True), ("other", False)])
def test_what_a_provider_added_goes_back_to_it_alone(provider: str, goes: bool) -> None:
    extra = {"provider": provider, "reasoning_details": [{"type": "x"}], "calls": {"a": {"google": 1}}}
    message = sent(AssistantMessage("", "", (ToolCall("a", "look", "{}"),), extra))["messages"][0]
    assert ("reasoning_details" in message) is goes
    assert ("extra_content" in message["tool_calls"][0]) is goes


def test_half_a_character_does_not_stop_a_request() -> None:
    assert sent(UserMessage("a\ud800b"))["messages"][0]["content"] == "a?b"


def test_a_number_json_does_not_have_is_told() -> None:
    with pytest.raises(ModelFault, match="NaN"):
        sent(tools=(ToolDefinition("t", "", {"default": float("nan")}),))


def test_made_up_ids_are_new_in_the_session() -> None:
    history: list[Message] = [
        AssistantMessage("", "", (ToolCall("call_1", "a", "{}"),)),
        ToolMessage("call_2", "b", ""),
    ]
    new_id = fresh_ids(history)
    assert [new_id(), new_id()] == ["call_3", "call_4"]


SEEING = replace(INFO, sees=True)
PNG = Image("image/png", b"png", None, 3, 2)
GIF = Image("image/gif", b"gif", None, 5, 4)


def messages_sent(*messages: Message, info: ModelInfo = SEEING, unwanted: set[Image] | None = None) -> Any:
    return json.loads(body(Request(messages), info, PLAIN, unwanted or set()))["messages"]


def part(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{data}"}}


def test_images_of_a_message_go_as_parts_to_a_model_that_sees_and_to_no_other() -> None:
    asked = UserMessage("look [image]", (PNG,))
    text = {"type": "text", "text": "look [image]"}
    assert messages_sent(asked) == [{"role": "user", "content": [text, part(PNG)]}]
    for sees in (False, None):
        assert messages_sent(asked, info=replace(INFO, sees=sees)) == [
            {"role": "user", "content": "look [image]"}
        ]
    assert messages_sent(UserMessage("plain")) == [{"role": "user", "content": "plain"}]
    assert messages_sent(UserMessage(" ", (PNG,))) == [{"role": "user", "content": [part(PNG)]}]


def test_images_of_tools_follow_the_results_of_their_batch_in_one_message() -> None:
    calls = (ToolCall("a", "shot", "{}"), ToolCall("b", "draw", "{}"))
    batch = (
        AssistantMessage("", "", calls),
        ToolMessage("a", "shot", "one", images=(PNG,)),
        ToolMessage("b", "draw", "two", images=(GIF,)),
    )
    last = messages_sent(*batch)[-1]
    assert [one["role"] for one in messages_sent(*batch)] == ["assistant", "tool", "tool", "user"]
    assert last["content"][1:] == [part(PNG), part(GIF)]
    assert last["content"][0]["text"].startswith("Images returned by the tools above")
    assert "shot (png 3×2), draw (gif 5×4)" in last["content"][0]["text"]
    answered = messages_sent(*batch, AssistantMessage("seen"))
    assert [one["role"] for one in answered] == ["assistant", "tool", "tool", "user", "assistant"]
    told = messages_sent(*batch, UserMessage("and now?"))
    assert [one["role"] for one in told] == ["assistant", "tool", "tool", "user"]
    assert told[-1]["content"][1:] == [part(PNG), part(GIF), {"type": "text", "text": "and now?"}]


def test_images_that_were_refused_are_left_out() -> None:
    call = AssistantMessage("", "", (ToolCall("a", "shot", "{}"),))
    shot = ToolMessage("a", "shot", "one", images=(PNG,))
    assert [one["role"] for one in messages_sent(call, shot, unwanted={PNG})] == ["assistant", "tool"]
    sent_parts = messages_sent(UserMessage("x", (PNG, GIF)), unwanted={PNG})[0]["content"]
    assert sent_parts == [{"type": "text", "text": "x"}, part(GIF)]
