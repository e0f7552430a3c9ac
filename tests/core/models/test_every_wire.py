"""What goes to each API: valid by its provider's own rules whatever the history, thoughts unchanged."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.agent.repair import repaired
from hel_tui.core.models.adapter import adapter_for
from hel_tui.core.models.profiles import PROFILES
from hel_tui.core.models.types import Finish, ModelFault, ModelInfo, Request
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
from tests.core.models.apis import HELLO, at, every_api, parts_of, sent
from tests.fixtures.models.endpoint import Exchange
from tests.fixtures.models.spelling import Call, Say, Script, Spelling, Think
from tests.fixtures.models.spelling.gemini import SIGNATURE as GEMINI_SIGNATURE
from tests.fixtures.models.spelling.messages import SIGNATURE
from tests.fixtures.models.spelling.responses import ENCRYPTED
from tests.fixtures.models.strict_apis import STRICT

TOOL = ToolDefinition("look", "Looks.", {"type": "object", "properties": {"service": {"type": "string"}}})
PNG = Image("image/png", b"\x89PNG", width=1, height=1)


def ids() -> st.SearchStrategy[str]:
    """Ids of other providers, too: long, with characters that some refuse, alike but for those."""
    odd = st.sampled_from(["call.1", "call:1", "call_1", "functions.look:0", "x" * 80, "호출", "a b"])
    return st.text("abc_-.:/ ", min_size=1, max_size=90) | odd


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """What may be in a history: interrupted, resumed, from another model, shortened."""
    out: list[Message] = []
    texts = st.sampled_from(["", " ", "hello", "{}", "포트\n"])
    told = st.sampled_from(["(no output)", "포트\n"])
    for _ in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["user", "answer", "results", "stray"]))
        if kind == "user":
            out.append(
                UserMessage(draw(st.sampled_from(["hi", "go on"])), draw(st.sampled_from([(), (PNG,)])))
            )
            continue
        if kind == "stray":
            out.append(ToolMessage(draw(ids()), "look", "7000"))
            continue
        keys = draw(st.lists(ids(), max_size=3, unique=True))
        names = {
            id: draw(st.sampled_from(["look", "look at", "9lives", "functions.look", "찾기"])) for id in keys
        }
        arguments = st.sampled_from(["{}", '{"service": "api"}', "", "not json", "[1]"])
        calls = tuple(ToolCall(id, name, draw(arguments)) for id, name in names.items())
        out.append(AssistantMessage(draw(texts), draw(texts), calls))
        if kind == "results":
            out += [
                ToolMessage(id, name, draw(told), draw(st.booleans()), draw(st.sampled_from([(), (PNG,)])))
                for id, name in names.items()
            ]
    return [SystemMessage("Be brief."), *repaired([*out, UserMessage("hi")])]


@every_api
@given(history=histories(), sees=st.booleans(), effort=st.sampled_from(["", "none", "high"]))
def test_every_history_makes_a_request_its_provider_takes(
    api: str, history: list[Message], sees: bool, effort: str
) -> None:
    body = sent(api, Request(history, (TOOL,), effort=effort), sees=sees)
    assert STRICT[api](body) == ""
    assert ("image" in json.dumps(body)) == (sees and any(getattr(one, "images", ()) for one in history))


@every_api
def test_a_number_that_json_does_not_have_is_told(api: str) -> None:
    tool = ToolDefinition("look", "", {"type": "object", "default": float("nan")})
    with pytest.raises(ModelFault, match="NaN"):
        sent(api, Request(HELLO, (tool,)))


@every_api
def test_the_prefix_of_a_request_stays_the_same_from_step_to_step(api: str) -> None:
    """What was sent is sent again byte for byte, cache markers and the end aside."""
    first: list[Message] = [*HELLO]
    second = [
        *first,
        AssistantMessage("", "Hm.", (ToolCall("a", "look", "{}"),)),
        ToolMessage("a", "look", "7"),
    ]
    one, two = (_bare(sent(api, Request(each, (TOOL,)))) for each in (first, second))
    shared = next(n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    assert one[shared:].strip('"]},') == "" or one[shared:].startswith(("]", "}"))


def _bare(body: dict[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False)
    return text.replace(', "cache_control": {"type": "ephemeral"}', "")


# ---------------------------------------------------------------- what goes back


async def answers(api: str, script: Script) -> list[Message]:
    """A history with one answer of this API's model."""

    async def play(exchange: Exchange, spelling: Spelling) -> None:
        await exchange.start()
        for data in spelling.events(script):
            await exchange.write(data)
        await exchange.end()

    async with at(api, play) as (model, _):
        last = (await parts_of(model))[-1]
    assert isinstance(last, Finish)
    results = [ToolMessage(call.id, call.name, "7000") for call in last.message.calls]
    return [*HELLO, last.message, *results]


THOUGHTFUL = Script(
    [
        Think("First "),
        Think("this."),
        Say("I look."),
        Think("Then that."),
        Call("look", ('{"service": "api"}',), "call_a"),
        Call("look", ('{"service": "worker"}',), "call_b"),
    ],
    "calls",
)


def begins_anew() -> list[Message]:
    """A conversation with a server that gives its ids anew with each answer."""
    history: list[Message] = [SystemMessage("Be brief."), UserMessage("go")]
    for text in ("1", "2", "3"):
        history += [AssistantMessage("", calls=(ToolCall("call_1", "look", "{}"),))]
        history += [ToolMessage("call_1", "look", text)]
    return history


def test_openai_can_tell_which_call_each_output_is_of() -> None:
    items = sent("responses", Request(begins_anew()))["input"][1:]
    assert [item["call_id"] for item in items] == [
        *("call_1", "call_1", "call_1_2", "call_1_2", "call_1_3", "call_1_3")
    ]
    assert [item["output"] for item in items[1::2]] == ["1", "2", "3"]


def test_anthropic_never_gets_an_id_twice() -> None:
    history = begins_anew()
    body = sent("messages", Request(history))
    assert not STRICT["messages"](body)
    blocks = [block for one in body["messages"][1:] for block in one["content"]]
    assert [block.get("id") or block["tool_use_id"] for block in blocks] == [
        *("call_1", "call_1", "call_1_2", "call_1_2", "call_1_3", "call_1_3")
    ]
    assert [block["content"][0]["text"] for block in blocks[1::2]] == ["1", "2", "3"]


async def test_anthropics_thoughts_go_back_unchanged_and_in_their_places() -> None:
    history = await answers("messages", THOUGHTFUL)
    body = sent("messages", Request(history, (TOOL,)))
    thought = {"type": "thinking", "signature": SIGNATURE}
    assert body["messages"][1]["content"] == [
        thought | {"thinking": "First this."},
        {"type": "text", "text": "I look."},
        thought | {"thinking": "Then that."},
        {"type": "tool_use", "id": "call_a", "name": "look", "input": {"service": "api"}},
        {"type": "tool_use", "id": "call_b", "name": "look", "input": {"service": "worker"}},
    ]
    assert STRICT["messages"](body) == ""


async def test_openais_reasoning_goes_back_encrypted_in_front_of_what_followed_it() -> None:
    history = await answers("responses", THOUGHTFUL)
    body = sent("responses", Request(history, (TOOL,)))
    kinds = [item.get("type", item.get("role")) for item in body["input"]]
    assert kinds == [
        "user",
        "reasoning",
        "message",
        "reasoning",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]
    assert body["input"][1]["encrypted_content"] == ENCRYPTED
    assert body["input"][1]["id"] == "rs_0"
    assert body["include"] == ["reasoning.encrypted_content"]
    assert STRICT["responses"](body) == ""


async def test_geminis_signature_goes_back_on_the_call_it_came_on() -> None:
    history = await answers("gemini", THOUGHTFUL)
    parts = sent("gemini", Request(history, (TOOL,)))["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, GEMINI_SIGNATURE, None]
    assert parts[1]["functionCall"] == {"name": "look", "args": {"service": "api"}, "id": "call_a"}


async def test_gemini_gets_its_own_ids_back_and_no_made_up_ones() -> None:
    own = await answers("gemini", Script([Call("look", ("{}",), "abc123")], "calls"))
    made_up = await answers("gemini", Script([Call("look", ("{}",), None)], "calls"))
    for history, id in ((own, "abc123"), (made_up, None)):
        contents = sent("gemini", Request(history))["contents"]
        assert contents[1]["parts"][0]["functionCall"].get("id") == id
        assert contents[2]["parts"][0]["functionResponse"].get("id") == id


@every_api
async def test_another_provider_does_not_get_what_one_kept_for_itself(api: str) -> None:
    for other in STRICT:
        if other == api:
            continue
        body = sent(other, Request(await answers(api, THOUGHTFUL), (TOOL,), effort="high"))
        text = json.dumps(body)
        assert not any(own in text for own in (SIGNATURE, ENCRYPTED, GEMINI_SIGNATURE))
        assert STRICT[other](body) == ""


async def test_another_provider_of_the_same_api_does_not_get_them_either() -> None:
    for api, own in (("messages", SIGNATURE), ("responses", ENCRYPTED), ("gemini", GEMINI_SIGNATURE)):
        body = sent(api, Request(await answers(api, THOUGHTFUL), (TOOL,)), provider="another")
        assert own not in json.dumps(body)
        assert STRICT[api](body) == ""


async def test_another_model_of_openai_does_not_get_what_this_one_encrypted() -> None:
    body = sent("responses", Request(await answers("responses", THOUGHTFUL)), name="another")
    assert not any(item.get("type") == "reasoning" for item in body["input"])
    assert STRICT["responses"](body) == ""


async def test_reasoning_whose_call_was_cut_off_does_not_go_back_alone() -> None:
    script = Script([Think("A."), Say("Text."), Think("B."), Call("look", ('{"serv',))], "length")
    body = sent("responses", Request([*await answers("responses", script), UserMessage("go on")]))
    assert STRICT["responses"](body) == ""


@every_api
async def test_a_call_that_hooks_or_repair_removed_is_removed_from_what_goes_back(api: str) -> None:
    history = await answers(api, THOUGHTFUL)
    answer = history[len(HELLO)]
    assert isinstance(answer, AssistantMessage)
    less = [*HELLO, replace(answer, calls=answer.calls[:1]), ToolMessage("call_a", "look", "7")]
    body = sent(api, Request(less, (TOOL,)))
    assert "call_b" not in json.dumps(body)
    assert STRICT[api](body) == ""


def test_a_result_that_failed_is_marked_as_one_where_the_api_can_say_so() -> None:
    call = AssistantMessage("", "", (ToolCall("a", "look", "{}"),))
    for failed in (True, False):
        request = Request([*HELLO, call, ToolMessage("a", "look", "no such file", failed=failed)])
        block = sent("messages", request)["messages"][2]["content"][0]
        assert block.get("is_error", False) is failed
        response = sent("gemini", request)["contents"][2]["parts"][0]["functionResponse"]["response"]
        assert response == {"error" if failed else "output": "no such file"}


# -------------------------------------------------------------------- images


def pictured() -> list[Message]:
    call = AssistantMessage("", "", (ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}")))
    results = [ToolMessage("a", "look", "one", images=(PNG,)), ToolMessage("b", "look", "two")]
    return [*HELLO, call, *results, UserMessage("and this?", (PNG,))]


@every_api
def test_images_go_with_the_results_they_belong_to(api: str) -> None:
    body = sent(api, Request(pictured()), sees=True)
    data = base64.b64encode(PNG.data).decode()
    assert json.dumps(body).count(data) == 2
    assert STRICT[api](body) == ""


@every_api
@pytest.mark.parametrize("sees", [False, None])
def test_a_model_that_does_not_see_gets_the_words_alone(api: str, sees: bool | None) -> None:
    body = sent(api, Request(pictured()), sees=sees)
    assert base64.b64encode(PNG.data).decode() not in json.dumps(body)
    assert all(f'"{words}"' in json.dumps(body) for words in ("one", "two", "and this?"))
    assert STRICT[api](body) == ""


def test_anthropic_gets_a_tools_image_inside_its_result() -> None:
    content = sent("messages", Request(pictured()), sees=True)["messages"][2]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "text", "image"]
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG.data).decode()}
    assert content[0]["content"] == [{"type": "text", "text": "one"}, {"type": "image", "source": source}]


def test_openai_gets_a_tools_image_inside_its_output() -> None:
    items = sent("responses", Request(pictured()), sees=True)["input"]
    assert [part["type"] for part in items[3]["output"]] == ["input_text", "input_image"]
    assert items[4]["output"] == "two"


# ------------------------------------------------------------------- markers


def test_anthropic_is_shown_four_places_that_stay() -> None:
    """The tools, the system prompt and the two newest user messages: the older was the end of the last request."""
    history = [
        *HELLO,
        AssistantMessage("yes"),
        UserMessage("more"),
        AssistantMessage("ok"),
        UserMessage("again"),
    ]
    body = sent("messages", Request(history, (TOOL, TOOL)))
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    assert "cache_control" in body["system"][0]
    marked = ["cache_control" in one["content"][-1] for one in body["messages"]]
    assert marked == [False, False, True, False, True]


def test_a_gateway_to_anthropics_models_gets_markers_in_text_parts() -> None:
    dialect = replace(PROFILES["openrouter"].dialect, cache_markers=True)
    info = ModelInfo("openrouter", "anthropic/claude-sonnet-5.5", "http://127.0.0.1/v1")
    history = [
        *HELLO,
        AssistantMessage("", "", (ToolCall("a", "look", "{}"),)),
        ToolMessage("a", "look", "7"),
    ]
    body = json.loads(adapter_for("chat").body(Request(history, (TOOL,)), info, dialect))
    marked = [one["role"] for one in body["messages"] if "cache_control" in json.dumps(one)]
    assert marked == ["system", "user", "tool"]


# ------------------------------------------------------------- limits and names


@every_api
def test_the_output_limit_has_each_apis_name(api: str) -> None:
    body = sent(api, Request(HELLO, max_output=100))
    body |= body.get("generationConfig", {})
    names = {"chat": "max_tokens", "responses": "max_output_tokens", "messages": "max_tokens"}
    assert body[names.get(api, "maxOutputTokens")] == 100


@pytest.mark.parametrize(
    ("most", "effort", "room"),
    [(0, "", 8_192), (8_192, "", 8_192), (128_000, "", 32_000), (128_000, "max", 64_000)],
)
def test_anthropic_is_told_a_limit_that_its_model_has(most: int, effort: str, room: int) -> None:
    assert sent("messages", Request(HELLO, effort=effort), max_output=most)["max_tokens"] == room


def test_openai_functions_are_not_strict_unless_asked() -> None:
    assert sent("responses", Request(HELLO, (TOOL,)))["tools"][0]["strict"] is False


def test_geminis_model_stands_in_the_path() -> None:
    path = adapter_for("gemini").path(ModelInfo("gemini", "gemini-3 flash", "http://x"))
    assert path == "/models/gemini-3%20flash:streamGenerateContent?alt=sse"
