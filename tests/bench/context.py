"""Context: what the meter, a picture and a summary cost in long conversations, and how much of a request is old.

The endpoint runs in a thread of its own, and only the client's thread is counted.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure
from tests.fixtures.models.endpoint import ScriptedModel, call, say

LENGTHS = (100, 1_000, 10_000)
"""Messages of a conversation."""
SHORTEST = 10
SYSTEM = "You are hel. " * 40
TURNS = 50


def measure(quick: bool) -> list[Figure]:
    """The meter and the picture by themselves, a summary through the client, requests of a whole session."""
    lengths, runs = ((20, 40), 2) if quick else (LENGTHS, 15)
    figures = [*_meter(lengths, runs), *_picture(lengths, runs)]
    figures += asyncio.run(_summaries(lengths, max(runs // 3, 2)))
    return [*figures, _prefix(6 if quick else TURNS)]


def history(length: int) -> list[Any]:
    """Steps of a person, an answer with a call, its result; some 130 tokens a message."""
    from hel_tui.core.vocabulary import AssistantMessage, ToolCall, ToolMessage, UserMessage

    out: list[Any] = []
    for number in range(length // 3 + 1):
        asked = ToolCall(f"c{number}", "read_file", '{"path": "notes.txt"}')
        out += [
            UserMessage(f"question {number} " + "words " * 30),
            AssistantMessage("looking " * 60, calls=(asked,)),
            ToolMessage(asked.id, asked.name, "a line of a file\n" * 60),
        ]
    return out[:length]


def tools() -> tuple[Any, ...]:
    from hel_tui.core.vocabulary import ToolDefinition

    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("path", "text", "mode")}}
    return tuple(ToolDefinition(f"tool_{n}", "Does a thing with a file. " * 3, schema) for n in range(30))


def _took(work: Callable[[], object], times: int) -> float:
    """Processor seconds of one of so many."""
    began = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - began) / times


def _meter(lengths: tuple[int, ...], runs: int) -> list[Figure]:
    """One more message, then an estimate: what each request and each result costs."""
    from hel_tui.core.context.meter import Meter
    from hel_tui.core.vocabulary import UserMessage

    definitions = tools()

    def one(length: int) -> Callable[[], object]:
        messages, meter = history(length), Meter()
        meter.estimate(SYSTEM, messages, definitions)
        meter.report(100 * length, length, system=SYSTEM, history=messages, tools=definitions)

        def work() -> object:
            messages.append(UserMessage("words " * 30))
            return meter.estimate(SYSTEM, messages, definitions)

        return work

    shortest = one(SHORTEST)
    made = {length: one(length) for length in lengths}
    base: dict[int, list[float]] = {length: [] for length in lengths}
    took: dict[int, list[float]] = {length: [] for length in lengths}
    for length, _ in itertools.product(lengths, range(runs)):
        base[length].append(_took(shortest, 100) * 1e6)
        took[length].append(_took(made[length], 100) * 1e6)
    return [
        Figure(
            f"context: meter, one more of {length:,} messages",
            "µs",
            tuple(took[length]),
            tuple(base[length]),
            aim="flat: about 1",
            note=f"baseline: of {SHORTEST}",
        )
        for length in lengths
    ]


def _picture(lengths: tuple[int, ...], runs: int) -> list[Figure]:
    """What /context reads, against a pass that only adds up the characters."""
    from hel_tui.core.context.meter import Meter
    from hel_tui.core.context.picture import parts_of, scaled

    definitions = tools()
    out = []
    for length in lengths:
        messages = history(length)

        def draw(messages: list[Any] = messages) -> object:
            whole = Meter().estimate(SYSTEM, messages, definitions).whole
            return scaled(parts_of(SYSTEM, messages, definitions, lambda _name: ""), whole)

        def plain(messages: list[Any] = messages) -> object:
            return json.dumps([message.text for message in messages])

        pairs = [(_took(draw, 1) * 1e3, _took(plain, 1) * 1e3) for _ in range(runs)]
        out.append(
            Figure(
                f"context: picture of {length:,} messages",
                "ms",
                tuple(one for one, _ in pairs),
                tuple(other for _, other in pairs),
                aim="linear",
                note="baseline: the texts as JSON",
            )
        )
    return out


async def _summaries(lengths: tuple[int, ...], runs: int) -> list[Figure]:
    """A summary that takes the place of all but the newest messages, against one plain request of the same."""
    from hel_tui.core.agent.compaction import Compactor
    from hel_tui.core.agent.history import History
    from hel_tui.core.agent.shortening import Steps
    from hel_tui.core.agent.spending import Accounts
    from hel_tui.core.agent.summarising import Asking, Summariser
    from hel_tui.core.context.meter import Meter
    from hel_tui.core.models.types import Finish
    from tests.core.models.apis import client_at

    class Quiet:
        def write(self, _kind: str, **_facts: Any) -> None: ...

    told: list[Any] = []
    took: dict[int, list[float]] = {length: [] for length in lengths}
    base: dict[int, list[float]] = {length: [] for length in lengths}
    notes: dict[int, str] = {}
    with ScriptedModel() as endpoint:
        client = client_at(endpoint.url, "chat")
        for length, run in itertools.product(lengths, range(runs + 1)):
            messages, meter = History(), Meter()
            messages.restore(history(length))
            asking = Asking(client, SYSTEM, tools())
            meter.estimate(SYSTEM, messages, asking.tools)
            steps = Steps(
                history=messages, meter=meter, summariser=Summariser(told.append, Quiet(), Accounts())
            )
            endpoint.replies[:] = [say("done"), say("what was said before")]
            began = time.thread_time()
            async for part in client.stream(asking.request(messages)):
                assert not isinstance(part, Finish) or part.message.text == "done"
            plain = time.thread_time() - began
            began = time.thread_time()
            await Compactor(steps, told.append, Quiet()).by_hand(1, asking, "")
            whole = time.thread_time() - began
            if run:  # the first one imports
                base[length].append(plain * 1e3)
                took[length].append(whole * 1e3)
            before, after = (json.dumps(body["messages"]) for body in endpoint.requests[-2:])
            same = len(
                list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
            )
            notes[length] = f"{same / len(after):.1%} of its request are bytes of the one before"
        await client.aclose()
    return [
        Figure(
            f"context: a summary of {length:,} messages",
            "ms",
            tuple(took[length]),
            tuple(base[length]),
            aim="linear",
            note=f"baseline: one plain request; {notes[length]}",
        )
        for length in lengths
    ]


def _prefix(turns: int) -> Figure:
    """How much of each request's bytes the one after it begins with, over a session with calls."""
    from hel_tui.core.options import Options
    from tests.bench.parts import place
    from tests.rig import Driver, environment

    with (
        tempfile.TemporaryDirectory(prefix="hel-bench.") as folder,
        ScriptedModel() as endpoint,
        place() as at,
    ):
        (at.project / "notes.txt").write_text("a line\n" * 40)
        look = call("read_file", {"path": "notes.txt"})
        endpoint.replies[:] = [reply for n in range(turns) for reply in (look, say(f"turn {n}"))]
        environ = environment(Path(folder), HEL_API_KEY="sk-bench-0123456789")
        options = Options(at.project, environ, "scripted/scripted", endpoint.url, mcp=False)
        with Driver(options) as driver:
            for number in range(turns):
                assert driver.ask(f"turn {number}").reason == "done"
        bodies = [_spelled(body) for body in endpoint.requests]
    kept = [_common(one, other) / len(one) for one, other in itertools.pairwise(bodies)]
    return Figure(
        f"context: bytes of a request that the next begins with, {turns} turns",
        "%",
        tuple(100 * share for share in kept),
        aim="100",
        note=f"least {100 * min(kept):.1f} %; {sum(map(len, bodies)) / 1024:.0f} KiB sent in all",
    )


def _spelled(body: dict[str, Any]) -> bytes:
    """A request up to the bracket that ends its messages."""
    return (json.dumps(body.get("tools", [])) + json.dumps(body["messages"])[:-1]).encode()


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    if other.startswith(one):
        return len(one)
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
