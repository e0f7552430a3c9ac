"""Whatever a conversation, a window and a model's summaries are like: what is left is valid, and nothing loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.core.agent.compaction import Compactor
from hel_tui.core.agent.history import History
from hel_tui.core.agent.repair import repaired
from hel_tui.core.agent.shortening import Steps
from hel_tui.core.agent.spending import Accounts
from hel_tui.core.agent.summarising import TRIES, Asking, Summariser
from hel_tui.core.context.meter import Meter
from hel_tui.core.context.summary import is_summary, newest_words
from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.types import Finish, FinishReason, ModelFault, ModelInfo, Part, Request, Usage
from hel_tui.core.protocol import Compacted, Event
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from tests.core.agent.test_repair import is_strictly_valid

TOOL = ToolDefinition("look", "Looks.", {})


@dataclass
class Summing:
    """A model that gives one summary again and again, or refuses what is longer than `limit` tokens."""

    info: ModelInfo
    text: str = "a summary"
    reason: FinishReason = "stop"
    calls: tuple[ToolCall, ...] = ()
    limit: int = 0
    requests: list[Request] = field(default_factory=list)
    schemas: SchemaProfile = field(default_factory=lambda: SchemaProfile("none"))

    def learn(self, schemas: SchemaProfile) -> None: ...

    async def sight(self) -> bool:
        return False

    async def look_up(self) -> bool:
        return False

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        return True

    async def aclose(self) -> None: ...

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        self.requests.append(request)
        assert is_strictly_valid(list(request.messages[1:]))
        assert list(request.tools) == [TOOL], "the same tools are on offer"
        if self.limit and sum(len(one.text) for one in request.messages) // 4 > self.limit:
            raise ModelFault("context", "too long", 400, limit=self.limit)
        yield Finish(AssistantMessage(self.text, calls=self.calls), self.reason, Usage(10, 1))


class Quiet:
    def write(self, _kind: str, **_facts: Any) -> None: ...


@dataclass
class Rig:
    model: Summing
    history: History = field(default_factory=History)
    told: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.meter = Meter()
        summariser = Summariser(self.told.append, Quiet(), Accounts())
        self.steps = Steps(history=self.history, meter=self.meter, summariser=summariser)
        self.compactor = Compactor(self.steps, self.told.append, Quiet())
        self.asking = Asking(self.model, "You are hel.", (TOOL,))

    @property
    def compacted(self) -> list[Compacted]:
        return [event for event in self.told if isinstance(event, Compacted)]


sizes = st.one_of(st.integers(0, 400), st.integers(0, 30_000))


def step(number: int, results: Sequence[int]) -> list[Message]:
    calls = tuple(ToolCall(f"c{number}-{n}", "look", "{}") for n in range(len(results)))
    return [
        AssistantMessage("looking", calls=calls),
        *(ToolMessage(f"c{number}-{n}", "look", "r" * size) for n, size in enumerate(results)),
    ]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """A conversation that ends where a model is asked."""
    out: list[Message] = [UserMessage("first wish " + "w" * draw(sizes))]
    for number in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            out += step(number, draw(st.lists(sizes, min_size=1, max_size=3)))
        else:
            out += [AssistantMessage("answer " + "a" * draw(sizes)), UserMessage("wish " + "w" * draw(sizes))]
    return out


summaries = st.sampled_from(
    [
        {},
        {"text": " "},
        {"text": "long " * 40_000},
        {"reason": "length"},
        {"reason": "refusal"},
        {"calls": (ToolCall("x", "look", "{}"),), "reason": "tool_calls"},
        {"limit": 700},
        {"limit": 3_000},
    ]
)
windows = st.sampled_from([2_048, 8_192, 32_768, 128_000])


@settings(max_examples=150, deadline=None)
@given(histories(), windows, summaries)
def test_before_a_request(messages: list[Message], window: int, summary: dict[str, Any]) -> None:
    rig = Rig(Summing(ModelInfo("m", "m", "", window=window), **summary))
    rig.history.restore(messages)
    bounds = rig.compactor.limits(rig.model.info)
    size = rig.steps.size(rig.asking)
    wish = newest_words(messages)
    asyncio.run(rig.compactor.before_request(1, rig.asking))
    after = rig.steps.size(rig.asking)
    assert is_strictly_valid(repaired(rig.history))
    assert not isinstance(rig.history[0], ToolMessage)
    assert newest_words(rig.history)[:3_000] == wish[:3_000], "the newest wish is never lost"
    assert len(rig.model.requests) <= TRIES and len(rig.compacted) <= 1
    if size <= bounds.start:
        assert list(rig.history) == messages and not rig.told
    else:
        assert after <= size
        fits = after <= bounds.most
        assert fits or len(rig.history) <= 5, "only the newest message or step may be too large by itself"
    asked = len(rig.model.requests)
    asyncio.run(rig.compactor.before_request(1, rig.asking))
    assert len(rig.model.requests) <= asked + (after <= bounds.start), "what did not help is not tried again"


@settings(max_examples=100, deadline=None)
@given(histories(), st.integers(300, 20_000), st.booleans(), summaries)
def test_after_refusals(messages: list[Message], limit: int, named: bool, summary: dict[str, Any]) -> None:
    rig = Rig(Summing(ModelInfo("m", "m", ""), **summary))
    rig.history.restore(messages)
    fault = ModelFault("context", "too long", 400, limit=limit if named else 0)
    tries = 0
    while rig.steps.size(rig.asking) > limit and tries < 20:
        tries += 1
        before = rig.steps.size(rig.asking)
        if not asyncio.run(rig.compactor.after_refusal(1, rig.asking, fault)):
            break
        assert rig.steps.size(rig.asking) < before or rig.meter.scale > 1
        assert is_strictly_valid(repaired(rig.history))
        assert not isinstance(rig.history[0], ToolMessage)
    assert tries < 20, "it comes to an end"
    assert sum(is_summary(one.text) for one in rig.history) <= 1


def test_a_summary_that_was_cancelled_changes_nothing_and_says_that_it_is_over() -> None:
    asked = asyncio.Event()

    class Slow(Summing):
        async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
            self.requests.append(request)
            asked.set()
            await asyncio.Event().wait()
            yield Finish(AssistantMessage(""), "stop")

    rig = Rig(Slow(ModelInfo("m", "m", "", window=2_048)))
    messages: list[Message] = []
    for number in range(20):
        messages += [UserMessage(f"{number} " + "w" * 400), AssistantMessage("a" * 400)]
    rig.history.restore([*messages, UserMessage("and?")])

    async def cancelled() -> None:
        task = asyncio.ensure_future(rig.compactor.before_request(1, rig.asking))
        await asked.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(cancelled())
    assert list(rig.history) == [*messages, UserMessage("and?")]
    assert [getattr(event, "on", None) for event in rig.told] == [True, False]


def test_what_did_not_help_in_one_window_is_tried_again_in_a_smaller_one() -> None:
    rig = Rig(Summing(ModelInfo("large", "large", "", window=128_000), reason="length"))
    rig.history.restore([UserMessage("w" * 300_000), AssistantMessage("I see."), UserMessage("and?")])
    asyncio.run(rig.compactor.before_request(1, rig.asking))
    asyncio.run(rig.compactor.before_request(2, rig.asking))
    assert len(rig.model.requests) == 1, "it is not tried again with every request"
    assert len(rig.history) == 3
    smaller = Asking(
        Summing(ModelInfo("small", "small", "", window=32_768), reason="length"), "You are hel.", (TOOL,)
    )
    asyncio.run(rig.compactor.before_request(3, smaller))
    assert rig.steps.size(smaller) < 32_768
    assert rig.history[-1].text == "and?"
