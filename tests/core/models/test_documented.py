"""The wire shapes that providers show on their pages, event by event, with every field they have there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hel_tui.core.models.types import Finish, Request, Usage
from hel_tui.core.vocabulary import ToolCall, ToolMessage, UserMessage
from tests.core.models.apis import HELLO, at, fault_of, parts_of, sent, text_of, thought_of
from tests.fixtures.models.endpoint import Exchange
from tests.fixtures.models.spelling import Spelling


def plays(stream: str) -> Any:
    async def play(exchange: Exchange, _: Spelling) -> None:
        await exchange.start()
        await exchange.write(stream.encode())
        await exchange.end()

    return play


async def answered(api: str, stream: str) -> tuple[Finish, str]:
    """The last part, and the reasoning that came in parts."""
    async with at(api, plays(stream)) as (model, _):
        parts = await parts_of(model)
    last = parts[-1]
    assert isinstance(last, Finish)
    assert text_of(parts) == last.message.text
    return last, thought_of(parts)


# platform.claude.com, "Streaming messages": tool use behind text, pings between, the last usage cumulative
ANTHROPIC_TOOLS = """\
event: message_start
data: {"type":"message_start","message":{"id":"msg_014p7","type":"message","role":"assistant",\
"model":"claude-opus-5-5","stop_sequence":null,"usage":{"input_tokens":472,"output_tokens":2},"content":[],\
"stop_reason":null}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look up"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the port:"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01T1x",\
"name":"lookup_port","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"service\\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \\"api\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

"""

# "Extended thinking", streaming; "Redacted thinking"; "Controlling thinking display": a thought without words
ANTHROPIC_THOUGHTS = """\
event: message_start
data: {"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant", "content": [],\
 "model": "claude-sonnet-5-5", "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 12,\
 "cache_creation_input_tokens": 300, "cache_read_input_tokens": 9000,\
 "cache_creation": {"ephemeral_5m_input_tokens": 300}}}}

event: content_block_start
data: {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "",\
 "signature": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "First,"}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": " the port."}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQBCgIYAhIM"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 0}

event: content_block_start
data: {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "EmwKAhgB"}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 1}

event: content_block_start
data: {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "7000."}}

event: content_block_stop
data: {"type": "content_block_stop", "index": 2}

event: message_delta
data: {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},\
 "usage": {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}}}

event: message_stop
data: {"type": "message_stop"}

"""


async def test_anthropics_tool_use() -> None:
    finish, _ = await answered("messages", ANTHROPIC_TOOLS)
    assert finish.message.text == "I look up the port:"
    assert finish.message.calls == (ToolCall("toolu_01T1x", "lookup_port", '{"service": "api"}'),)
    assert (finish.usage, finish.notes) == (Usage(472, 89), ())


async def test_anthropics_thoughts_redacted_ones_included() -> None:
    finish, thought = await answered("messages", ANTHROPIC_THOUGHTS)
    assert (thought, finish.message.text) == ("First, the port.", "7000.")
    assert finish.message.extra["blocks"] == [
        {"type": "thinking", "thinking": "First, the port.", "signature": "EqQBCgIYAhIM"},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "text", "text": "7000."},
    ]
    assert finish.usage == Usage(9_312, 40, 9_000, 300, 30)


async def test_calls_keep_their_order_when_an_id_comes_again_without_a_name() -> None:
    blocks = [("call_b", "look"), ("call_a", "look"), ("call_b", "")]
    stream = "".join(
        f"data: {json.dumps(event)}\n\n"
        for index, (id, name) in enumerate(blocks)
        for event in (
            {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}},
            },
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": "{}"},
            },
        )
    )
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
    stream += f"data: {json.dumps({'type': 'content_block_start', 'index': 9, 'content_block': thought})}\n\n"
    finish, _ = await answered("messages", stream)
    results = [ToolMessage(call.id, call.name, "7") for call in finish.message.calls]
    said = sent("messages", Request([*HELLO, finish.message, *results]))["messages"]
    used = [block["id"] for block in said[1]["content"]]
    assert used == ["call_b", "call_a"] == [block["tool_use_id"] for block in said[2]["content"]]


async def test_a_gateway_to_anthropic_that_counts_no_input_at_the_end_takes_none_of_it_back() -> None:
    stream = (
        'data: {"type":"message_start","message":{"usage":{"input_tokens":312,"cache_read_input_tokens":9000}}}\n\n'
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"7000."}}\n\n'
        'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},'
        '"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4}}\n\n'
        'data: {"type":"message_stop"}\n\n'
    )
    finish, _ = await answered("messages", stream)
    assert finish.usage == Usage(9_312, 4, 9_000)


async def test_anthropics_error_event() -> None:
    stream = 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    fault = await fault_of("messages", plays(stream))
    assert (fault.kind, "Overloaded" in fault.sentence) == ("server", True)


async def test_anthropics_refusal_with_its_explanation() -> None:
    stream = (
        'data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n'
        'data: {"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal",'
        '"category":"cyber","explanation":"Not this."}},"usage":{"output_tokens":1}}\n\n'
        'data: {"type":"message_stop"}\n\n'
    )
    finish, _ = await answered("messages", stream)
    assert finish.reason == "refusal"
    assert finish.notes == ("The provider says: Not this.",)


# developers.openai.com, API reference "Streaming events", guides "Function calling" and "Reasoning models"
OPENAI: list[dict[str, Any]] = [
    {
        "type": "response.created",
        "sequence_number": 0,
        "response": {
            "id": "resp_67",
            "object": "response",
            "status": "in_progress",
            "error": None,
            "output": [],
        },
    },
    {
        "type": "response.output_item.added",
        "sequence_number": 1,
        "output_index": 0,
        "item": {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA", "summary": []},
    },
    {
        "type": "response.reasoning_summary_part.added",
        "sequence_number": 2,
        "item_id": "rs_1",
        "output_index": 0,
        "summary_index": 0,
        "part": {"type": "summary_text", "text": ""},
    },
    {
        "type": "response.reasoning_summary_text.delta",
        "sequence_number": 3,
        "item_id": "rs_1",
        "output_index": 0,
        "summary_index": 0,
        "delta": "**Looking up**",
        "obfuscation": "ab3",
    },
    {
        "type": "response.reasoning_summary_text.delta",
        "sequence_number": 4,
        "item_id": "rs_1",
        "output_index": 0,
        "summary_index": 1,
        "delta": "The port.",
    },
    {
        "type": "response.output_item.done",
        "sequence_number": 5,
        "output_index": 0,
        "item": {
            "id": "rs_1",
            "type": "reasoning",
            "encrypted_content": "gAAAAABpZ",
            "summary": [
                {"type": "summary_text", "text": "**Looking up**"},
                {"type": "summary_text", "text": "The port."},
            ],
        },
    },
    {
        "type": "response.output_item.added",
        "sequence_number": 6,
        "output_index": 1,
        "item": {
            "id": "msg_1",
            "type": "message",
            "status": "in_progress",
            "content": [],
            "phase": "commentary",
            "role": "assistant",
        },
    },
    {
        "type": "response.content_part.added",
        "sequence_number": 7,
        "item_id": "msg_1",
        "output_index": 1,
        "content_index": 0,
        "part": {"type": "output_text", "annotations": [], "logprobs": [], "text": ""},
    },
    {
        "type": "response.output_text.delta",
        "sequence_number": 8,
        "item_id": "msg_1",
        "output_index": 1,
        "content_index": 0,
        "delta": "I look.",
        "logprobs": [],
    },
    {
        "type": "response.output_text.done",
        "sequence_number": 9,
        "item_id": "msg_1",
        "output_index": 1,
        "content_index": 0,
        "text": "I look.",
    },
    {
        "type": "response.output_item.done",
        "sequence_number": 10,
        "output_index": 1,
        "item": {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "content": [{"type": "output_text", "annotations": [], "text": "I look."}],
            "phase": "commentary",
            "role": "assistant",
        },
    },
    {
        "type": "response.output_item.added",
        "sequence_number": 11,
        "output_index": 2,
        "item": {
            "id": "fc_1",
            "type": "function_call",
            "status": "in_progress",
            "arguments": "",
            "call_id": "call_Q9",
            "name": "lookup_port",
        },
    },
    {
        "type": "response.function_call_arguments.delta",
        "sequence_number": 12,
        "item_id": "fc_1",
        "output_index": 2,
        "delta": '{"service":',
    },
    {
        "type": "response.function_call_arguments.delta",
        "sequence_number": 13,
        "item_id": "fc_1",
        "output_index": 2,
        "delta": '"api"}',
    },
    {
        "type": "response.function_call_arguments.done",
        "sequence_number": 14,
        "item_id": "fc_1",
        "output_index": 2,
        "arguments": '{"service":"api"}',
    },
    {
        "type": "response.output_item.done",
        "sequence_number": 15,
        "output_index": 2,
        "item": {
            "id": "fc_1",
            "type": "function_call",
            "status": "completed",
            "arguments": '{"service":"api"}',
            "call_id": "call_Q9",
            "name": "lookup_port",
        },
    },
    {
        "type": "response.completed",
        "sequence_number": 16,
        "response": {
            "id": "resp_67",
            "object": "response",
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "output": [],
            "usage": {
                "input_tokens": 328,
                "input_tokens_details": {"cached_tokens": 256, "cache_write_tokens": 0},
                "output_tokens": 52,
                "output_tokens_details": {"reasoning_tokens": 32},
                "total_tokens": 380,
            },
        },
    },
]


def openai_stream(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)


async def test_openais_reasoning_remark_and_function_call() -> None:
    finish, thought = await answered("responses", openai_stream(OPENAI))
    assert thought == "**Looking up**\n\nThe port."
    assert finish.message.text == "I look."
    assert finish.message.calls == (ToolCall("call_Q9", "lookup_port", '{"service":"api"}'),)
    assert (finish.usage, finish.notes) == (Usage(328, 52, 256, 0, 32), ())
    items = finish.message.extra["items"]
    assert items[0]["encrypted_content"] == "gAAAAABpZ"  # of the end: that of the beginning may be incomplete
    assert items[1:] == [
        {"type": "message", "text": "I look.", "phase": "commentary"},
        {"type": "function_call", "call_id": "call_Q9"},
    ]


async def test_two_items_at_one_place_of_openais_output_are_two() -> None:
    events: list[dict[str, Any]] = []
    for number, service in enumerate(("api", "worker")):
        item = {"id": f"fc_{number}", "type": "function_call", "name": "look", "call_id": f"call_{number}"}
        whole = item | {"arguments": json.dumps({"service": service})}
        thought = {
            "id": f"rs_{number}",
            "type": "reasoning",
            "summary": [],
            "encrypted_content": f"g{number}",
        }
        for place, begun, done in ((0, item, whole), (1, thought, thought)):
            events.append({"type": "response.output_item.added", "output_index": place, "item": begun})
            events.append({"type": "response.output_item.done", "output_index": place, "item": done})
    finish, _ = await answered("responses", openai_stream([*events, OPENAI[-1]]))
    assert [json.loads(call.arguments)["service"] for call in finish.message.calls] == ["api", "worker"]
    kinds = [item.get("encrypted_content", item["type"]) for item in finish.message.extra["items"]]
    assert kinds == ["function_call", "g0", "function_call", "g1"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [("max_output_tokens", "length"), ("content_filter", "filter"), ("steered", "unknown")],
)
async def test_openais_incomplete_response(reason: str, told: str) -> None:
    last = {
        "type": "response.incomplete",
        "response": {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []},
    }
    finish, _ = await answered("responses", openai_stream([*OPENAI[:1], last]))
    assert finish.reason == told


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "server_error", "message": "It broke", "param": None}, "server"),
        (
            {
                "type": "response.failed",
                "response": {
                    "status": "failed",
                    "error": {"code": "rate_limit_exceeded", "message": "It broke"},
                },
            },
            "rate",
        ),
        (
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "It broke", "code": None},
            },
            "request",
        ),
        (
            {
                "type": "response.failed",
                "response": {
                    "status": "failed",
                    "error": {"code": "context_length_exceeded", "message": "It broke"},
                },
            },
            "context",
        ),
    ],
)
async def test_openais_failed_response(event: dict[str, Any], kind: str) -> None:
    fault = await fault_of("responses", plays(openai_stream([*OPENAI[:1], event])))
    assert (fault.kind, "It broke" in fault.sentence) == (kind, True)


# ai.google.dev: the guides to streaming, function calling, thinking and thought signatures
GEMINI: list[dict[str, Any]] = [
    {
        "candidates": [
            {"content": {"parts": [{"text": "**Looking**\n", "thought": True}], "role": "model"}, "index": 0}
        ],
        "usageMetadata": {
            "promptTokenCount": 28,
            "totalTokenCount": 40,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 28}],
            "thoughtsTokenCount": 12,
        },
        "modelVersion": "gemini-3-flash",
        "responseId": "x1",
    },
    {
        "candidates": [{"content": {"parts": [{"text": "I look."}], "role": "model"}, "index": 0}],
        "modelVersion": "gemini-3-flash",
    },
    {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {
                            "functionCall": {"name": "lookup_port", "args": {"service": "api"}, "id": "8f2b"},
                            "thoughtSignature": "Eg4KDAFy",
                        },
                        {"functionCall": {"name": "lookup_port", "args": {"service": "worker"}}},
                    ],
                    "role": "model",
                },
                "index": 0,
                "finishReason": "STOP",
                "finishMessage": "Model generated function call(s).",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 28,
            "candidatesTokenCount": 20,
            "totalTokenCount": 60,
            "thoughtsTokenCount": 12,
            "cachedContentTokenCount": 16,
        },
    },
]


def gemini_stream(*chunks: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(one)}\r\n\r\n" for one in chunks)


async def test_geminis_thoughts_and_parallel_calls() -> None:
    finish, thought = await answered("gemini", gemini_stream(*GEMINI))
    assert (thought, finish.message.text) == ("**Looking**\n", "I look.")
    assert [json.loads(one.arguments)["service"] for one in finish.message.calls] == ["api", "worker"]
    assert finish.notes == ()
    first, second = finish.message.calls
    assert first.id == "8f2b" and second.id
    assert finish.message.extra["signed"] == {"8f2b": {"signature": "Eg4KDAFy", "id": "8f2b"}}
    assert finish.usage == Usage(28, 32, 16, 0, 12)


async def test_geminis_signature_of_a_text_goes_back_on_the_text() -> None:
    parts = [{"text": "7000."}, {"text": "", "thoughtSignature": "EkgKRgG+"}]
    chunk = {"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]}
    finish, _ = await answered("gemini", gemini_stream(chunk))
    body = sent("gemini", Request([*HELLO, finish.message, UserMessage("and?")]))
    assert body["contents"][1]["parts"] == [{"text": "7000.", "thoughtSignature": "EkgKRgG+"}]


async def test_gemini_may_give_a_finish_reason_in_every_chunk() -> None:
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]}
        for text in ("One, ", "two.")
    ]
    finish, _ = await answered("gemini", gemini_stream(*chunks))
    assert finish.message.text == "One, two."


async def test_geminis_blocked_prompt() -> None:
    chunk = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 8},
    }
    finish, _ = await answered("gemini", gemini_stream(chunk))
    assert finish.reason == "filter"
    assert finish.notes == ("The provider blocked the request: PROHIBITED_CONTENT.",)


@pytest.mark.parametrize(
    ("word", "reason", "words"),
    [
        ("SAFETY", "filter", ""),
        ("RECITATION", "filter", ""),
        ("MAX_TOKENS", "length", ""),
        ("MALFORMED_FUNCTION_CALL", "unknown", "could not read"),
        ("OF_TOMORROW", "unknown", "OF_TOMORROW"),
    ],
)
async def test_geminis_finish_reasons(word: str, reason: str, words: str) -> None:
    chunk = {"candidates": [{"finishReason": word, "index": 0}], "usageMetadata": {"promptTokenCount": 8}}
    finish, _ = await answered("gemini", gemini_stream(chunk))
    assert finish.reason == reason
    assert words in " ".join(finish.notes)
