"""Events that are lost, doubled, swapped or cut, in every API: never an exception, and what comes of it can
go back and be kept.
"""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.core.agent.repair import repaired
from hel_tui.core.models.adapter import adapter_for
from hel_tui.core.models.faults import Failure
from hel_tui.core.models.reading import Reading
from hel_tui.core.models.types import Finish, Part, Request
from hel_tui.core.models.wire import fresh_ids
from hel_tui.core.vocabulary import AssistantMessage, ToolMessage, UserMessage
from tests.core.models.apis import HELLO, dialect_of, every_api, info_of
from tests.fixtures.models.spelling import SPELLINGS, Call, Say, Script, Step, Think
from tests.fixtures.models.strict_apis import STRICT


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from([Say, Think, Call]))
        if kind is Call:
            arguments = draw(
                st.sampled_from([("{}",), ('{"a":', " 1}"), ('{"a":',), (), None, {"a": 1}, "x"])
            )
            steps.append(
                Call(draw(st.sampled_from(["look", "a b", ""])), arguments, draw(st.sampled_from(IDS)))
            )
        else:
            steps.append(kind(draw(st.sampled_from(["Hm.", " ", "포트 🙂", "<think>", "</think>"]))))
    return Script(steps, draw(st.sampled_from([None, "stop", "calls", "length", "filter"])))


IDS = ["call_a", "call_b", None, "x" * 90, "a.b:c"]


def read(api: str, data: bytes) -> tuple[list[Part], Finish | None]:
    """What a client makes of these bytes, without the network."""
    info = info_of(api, "http://127.0.0.1/v1")
    assembler = adapter_for(dialect_of(api).api).assembler(fresh_ids(HELLO), info)
    reading = Reading(assembler, "acme", "")
    parts: list[Part] = []
    try:
        parts += reading.feed(data)
        if reading.failure is None:
            parts += reading.finish()
    except Failure:
        return parts, None
    return parts, next((part for part in parts if isinstance(part, Finish)), None)


@every_api
@settings(max_examples=150)
@given(script=scripts(), data=st.data())
def test_whatever_becomes_of_the_events_the_answer_can_go_back_and_be_kept(
    api: str, script: Script, data: st.DataObject
) -> None:
    events = SPELLINGS[api].events(script)
    mixed = st.lists(st.sampled_from(events), max_size=len(events) + 3) if events else st.just([])
    chosen = data.draw(mixed | st.just(events))
    whole = b"".join(chosen)
    cut = data.draw(st.sampled_from([len(whole), len(whole) // 2, max(0, len(whole) - 7)]))
    _, finish = read(api, whole[:cut])
    if finish is None:
        return
    message = finish.message
    assert len({call.id for call in message.calls}) == len(message.calls)
    assert all(call.id and call.name for call in message.calls)
    kept = AssistantMessage(
        message.text, message.reasoning, message.calls, json.loads(json.dumps(dict(message.extra)))
    )
    results = [ToolMessage(call.id, call.name, "7000") for call in message.calls]
    history = repaired([*HELLO, kept, *results, UserMessage("go on")])
    for target, strict in STRICT.items():
        info = info_of(target, "http://127.0.0.1/v1")
        body = adapter_for(dialect_of(target).api).body(Request(history), info, dialect_of(target))
        assert strict(json.loads(body)) == "", target


@every_api
@given(script=scripts())
def test_parts_add_up_to_the_message(api: str, script: Script) -> None:
    parts, finish = read(api, b"".join(SPELLINGS[api].events(script)))
    if finish is None:
        return
    texts = "".join(part.text for part in parts if type(part).__name__ == "TextPart")
    thoughts = "".join(part.text for part in parts if type(part).__name__ == "ReasoningPart")
    assert (texts, thoughts) == (finish.message.text, finish.message.reasoning)
