"""Assembly of chunks to messages: every shape of call, and what counts as an end."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.models.assemble import Assembler, read_usage
from hel_tui.core.models.ending import TEXT_CALL, TEXT_RESULT
from hel_tui.core.models.types import CallPart, Finish, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, ToolCall
from tests.fixtures.models.endpoint import Exchange, chunk
from tests.fixtures.models.modes import MODES


def assemble(chunks: list[dict[str, Any]], *, ended: bool = True) -> tuple[list[Part], Finish]:
    numbers = itertools.count(1)
    assembler = Assembler(lambda: f"call_{next(numbers)}", "test")
    parts = [part for one in chunks for part in assembler.feed(one)]
    return parts + assembler.held(), assembler.finish(ended)


class Recorder(Exchange):
    """Keeps what a mode would send instead of sending it."""

    def __init__(self) -> None:
        self.chunks: list[dict[str, Any]] = []
        self.ended = False
        self.number = 1

    async def start(self, *_: Any, **__: Any) -> None:
        return None

    async def write(self, data: bytes) -> None:
        for line in data.splitlines():
            text = line.decode().removeprefix("data: ")
            if text == "[DONE]":
                self.ended = True
            elif text:
                self.chunks.append(json.loads(text))

    async def end(self) -> None:
        return None


def played(mode: str) -> tuple[list[Part], Finish]:
    recorder = Recorder()
    asyncio.run(MODES[mode](recorder))  # type: ignore[arg-type]
    return assemble(recorder.chunks, ended=recorder.ended)


API, WORKER = '{"service": "api"}', '{"service": "worker"}'
TWO = (ToolCall("a", "look", API), ToolCall("b", "look", WORKER))


@pytest.mark.parametrize(
    "mode",
    [
        "no-index",
        "same-index",
        "index-jump",
        "interleaved",
        "two-in-one-delta",
        "same-index-one-chunk",
        "name-repeated",
    ],
)
def test_two_calls_stay_two_calls_however_they_are_numbered(mode: str) -> None:
    parts, finish = played(mode)
    assert finish.message.calls == TWO
    assert [part for part in parts if isinstance(part, CallPart)] == [CallPart("look"), CallPart("look")]


@pytest.mark.parametrize("mode", ["no-ids", "no-ids-no-index"])
def test_calls_without_ids_get_ids_of_their_own(mode: str) -> None:
    _, finish = played(mode)
    assert finish.message.calls == (ToolCall("call_1", "look", API), ToolCall("call_2", "look", WORKER))


@pytest.mark.parametrize("mode", ["empty-args", "null-args"])
def test_no_arguments_in_any_spelling_are_an_empty_object(mode: str) -> None:
    _, finish = played(mode)
    assert {call.arguments for call in finish.message.calls} == {"{}"}


@pytest.mark.parametrize("mode", ["args-object", "args-twice-encoded"])
def test_arguments_that_are_no_plain_text_become_it(mode: str) -> None:
    _, finish = played(mode)
    assert [json.loads(call.arguments) for call in finish.message.calls] == [{"service": "api"}]


def test_an_empty_object_before_the_real_one_is_dropped() -> None:
    fragments = [{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}]
    more = [{"index": 0, "function": {"arguments": API}}]
    _, finish = assemble([chunk({"tool_calls": fragments}), chunk({"tool_calls": more}, "tool_calls")])
    assert finish.message.calls == (ToolCall("a", "look", API),)


@pytest.mark.parametrize(("mode", "text"), [("duplicate-keys", "api"), ("bad-args", '{"service": api}')])
def test_strange_arguments_are_kept_as_they_came(mode: str, text: str) -> None:
    _, finish = played(mode)
    assert text in finish.message.calls[0].arguments
    assert finish.reason == "tool_calls"


def test_a_hundred_calls_stay_a_hundred() -> None:
    _, finish = played("many-calls")
    assert [call.id for call in finish.message.calls] == [f"call_{n}" for n in range(100)]


def test_the_old_form_of_a_call_is_read_too() -> None:
    _, finish = played("legacy-function-call")
    assert finish.message.calls == (ToolCall("call_1", "look", API),)


def test_calls_count_whatever_the_finish_reason_says() -> None:
    _, finish = played("finish-stop-with-tools")
    assert finish.reason == "tool_calls"
    assert finish.notes == ()


def test_a_call_cut_off_by_the_output_limit_is_not_run() -> None:
    _, finish = played("cut-arguments")
    assert finish.message.calls == ()
    assert finish.reason == "length"
    assert any("look was cut off" in note for note in finish.notes)


@pytest.mark.parametrize("ended", [True, False])
def test_a_call_cut_off_without_a_finish_reason_is_not_run(ended: bool) -> None:
    fragment = {"index": 0, "id": "a", "function": {"name": "look", "arguments": '{"service": "a'}}
    _, finish = assemble([chunk({"tool_calls": [fragment]})], ended=ended)
    assert (finish.message.calls, finish.reason) == ((), "length")


@pytest.mark.parametrize(("ended", "runs"), [(True, True), (False, False)])
def test_missing_arguments_are_none_only_if_the_stream_ended_in_order(ended: bool, runs: bool) -> None:
    fragment = {"index": 0, "id": "a", "function": {"name": "list", "arguments": ""}}
    _, finish = assemble([chunk({"tool_calls": [fragment]})], ended=ended)
    assert bool(finish.message.calls) is runs


def test_whole_calls_before_a_cut_off_one_still_run() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "look", "arguments": API}}
    second = {"index": 1, "id": "b", "function": {"name": "write", "arguments": '{"x'}}
    _, finish = assemble([chunk({"tool_calls": [first, second]}, "length")])
    assert finish.message.calls == (ToolCall("a", "look", API),)
    assert finish.reason == "tool_calls"


@pytest.mark.parametrize(
    ("mode", "reason"),
    [("cut-text", "length"), ("filtered", "filter"), ("refusal", "refusal"), ("ok-text", "stop")],
)
def test_finish_reasons_keep_their_meaning(mode: str, reason: str) -> None:
    assert played(mode)[1].reason == reason


def test_text_without_a_finish_reason_is_a_good_answer_with_a_note() -> None:
    _, finish = played("no-done-text")
    assert (finish.message.text, finish.reason, finish.notes) == (
        "Good answer.",
        "stop",
        ("no finish reason",),
    )


def test_a_reason_nobody_knows_is_told() -> None:
    _, finish = assemble([chunk({"content": "x"}, "insufficient_system_resource")])
    assert "insufficient_system_resource" in finish.notes[0]


def test_a_call_written_as_text_is_no_call_and_is_pointed_out() -> None:
    _, finish = played("text-tool-call")
    assert finish.message.calls == ()
    assert TEXT_CALL in finish.notes


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call>',
        "<tool_call>\n<function=look>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>look\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
        '[TOOL_CALLS] [{"name": "look", "arguments": {}}]',
        "[TOOL_CALLS]look{}",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n{}\n```",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look">\n</｜DSML｜invoke>',
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}",
        '<|python_tag|>{"name": "look", "parameters": {}}',
        "<|channel|>commentary to=functions.look <|constrain|>json<|message|>{}",
        '<minimax:tool_call>\n<invoke name="look">\n</invoke>',
        '<function_calls>\n<invoke name="look">\n</invoke>\n</function_calls>',
        "<|tool_call>call:look{a:1}<tool_call|>",
        '{"name": "look", "arguments": {"a": 1}}',
        '```json\n{"name": "look", "parameters": {}}\n```',
        'I look now.\n<tool_call>{"name": "look", "arguments": {}}',
    ],
)
def test_calls_in_text_are_recognised_in_the_words_of_every_template(text: str) -> None:
    _, finish = assemble([chunk({"content": text}, "stop")])
    assert finish.written_call == "look"
    assert TEXT_CALL in finish.notes


@pytest.mark.parametrize(
    "text",
    ["It is 7000.", '{"name": "api", "port": 7000}', "Use <b>look</b>.", "call(look)", "a function=look"],
)
def test_other_texts_are_no_calls(text: str) -> None:
    _, finish = assemble([chunk({"content": text}, "stop")])
    assert (finish.written_call, finish.notes) == ("", ())


def test_a_result_the_model_made_up_is_pointed_out() -> None:
    assert TEXT_RESULT in played("invented-result")[1].notes


def test_a_whole_message_repeated_beside_the_last_delta_is_not_read_twice() -> None:
    last = chunk({}, "stop")
    last["choices"][0]["message"] = {"role": "assistant", "content": "Once."}
    _, finish = assemble([chunk({"content": "Once."}), last])
    assert finish.message.text == "Once."


# -------------------------------------------------------------- reasoning


def test_thoughts_in_tags_are_told_apart_and_later_tags_are_text() -> None:
    parts, finish = played("think-tags")
    assert finish.message == AssistantMessage("Done with <think> tags.", "Let me think.")
    assert "".join(p.text for p in parts if isinstance(p, TextPart)) == finish.message.text


@given(st.data())
def test_splits_never_move_the_border_between_thought_and_text(data: st.DataObject) -> None:
    thought = data.draw(st.text("a<>/think \n", max_size=12).filter(lambda t: "</think>" not in t))
    answer = data.draw(st.text("a<>/think ", max_size=12)).strip()
    whole = f" <think>{thought}</think>\n{answer}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in itertools.pairwise([0, *cuts, len(whole)])]
    _, finish = assemble([chunk({"content": piece}) for piece in pieces])
    assert (finish.message.reasoning, finish.message.text) == (thought, answer)


def test_a_beginning_that_only_looks_like_a_tag_is_not_lost() -> None:
    _, finish = assemble([chunk({"content": "<thi"})])
    assert finish.message.text == "<thi"


def test_a_thought_that_never_ends_stays_a_thought() -> None:
    _, finish = assemble([chunk({"content": "<think>so </thi"})])
    assert (finish.message.reasoning, finish.message.text) == ("so </thi", "")


def test_reasoning_under_two_names_at_once_is_read_once() -> None:
    parts, _ = assemble([chunk({"reasoning_content": "hm", "reasoning": "hm"})])
    assert parts == [ReasoningPart("hm")]


def test_what_a_provider_wants_back_is_kept_with_its_name() -> None:
    details = [{"type": "reasoning.text", "index": 0, "text": "a"}]
    more = [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]
    fragment = {
        "index": 0,
        "id": "x",
        "function": {"name": "look", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "sig"}},
    }
    chunks = [
        chunk({"reasoning_details": details}),
        chunk({"reasoning_details": more}),
        chunk({"tool_calls": [fragment]}, "tool_calls"),
    ]
    assert assemble(chunks)[1].message.extra == {
        "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}],
        "calls": {"x": {"google": {"thought_signature": "sig"}}},
        "provider": "test",
    }


# ------------------------------------------------------------------ the rest


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, Usage(9, 3, 0)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 0, 4)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Usage(9, 0, 5)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9, 0, 0)),
        ({"prompt_tokens": "many", "completion_tokens": -1}, None),
        ({}, None),
    ],
)
def test_usage_is_read_in_all_spellings(usage: dict[str, Any], read: Usage | None) -> None:
    assert read_usage(usage) == read


KEYS = st.sampled_from(
    [
        "choices",
        "delta",
        "tool_calls",
        "index",
        "id",
        "function",
        "name",
        "arguments",
        "content",
        "usage",
        "finish_reason",
        "reasoning",
        "reasoning_details",
        "type",
        "text",
        "extra_content",
        "function_call",
        "prompt_tokens",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(KEYS, json_values, max_size=4)


@given(st.lists(objects, max_size=4), objects, st.lists(json_values, max_size=3))
def test_no_shape_of_chunk_breaks_assembly(
    chunks: list[dict[str, Any]], delta: dict[str, Any], fragments: list[Any]
) -> None:
    _, finish = assemble([*chunks, chunk(delta), chunk({"tool_calls": fragments})])
    assert isinstance(finish, Finish)


def test_calls_of_one_id_under_different_indexes_stay_apart_and_get_ids_of_their_own() -> None:
    fragments = [
        {"index": at, "id": "same", "function": {"name": "look", "arguments": f'{{"n": {at}}}'}}
        for at in range(200)
    ]
    _, finish = assemble([chunk({"tool_calls": [fragment]}) for fragment in fragments])
    assert [call.arguments for call in finish.message.calls] == [f'{{"n": {at}}}' for at in range(200)]
    assert len({call.id for call in finish.message.calls}) == 200


def test_later_fragments_of_a_shared_id_follow_their_index() -> None:
    heads = [{"index": at, "id": "same", "function": {"name": "look", "arguments": ""}} for at in (0, 1)]
    rests = [
        {"index": at, "id": "same", "function": {"arguments": text}} for at, text in enumerate((API, WORKER))
    ]
    _, finish = assemble([chunk({"tool_calls": fragments}) for fragments in (heads, rests)])
    assert [call.arguments for call in finish.message.calls] == [API, WORKER]
