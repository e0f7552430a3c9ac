"""A provider says that a request is too long: what it said is remembered, and the request made shorter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.context.summary import HEADINGS
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, fail, mode, say
from tests.rig import Driver

Open = Callable[..., Driver]
Json = dict[str, Any]
LONG = "words and more words " * 300
"""Some 1,500 tokens."""


def size(body: Json) -> int:
    return len(json.dumps(body)) // 4


def refusing(limit: int, named: bool, *replies: Reply) -> Callable[[Json], Json]:
    """A model that takes requests of `limit` tokens, and says so if `named`."""
    left = list(replies)

    def answer(body: Json) -> Json:
        if size(body) > limit:
            words = f"maximum context length is {limit} tokens" if named else "the prompt is too long"
            return fail(400, f"This model's {words}.", code="context_length_exceeded")
        if HEADINGS[0] in str(body["messages"][-1]["content"]):
            return say("a summary of it all")
        reply = left.pop(0) if left else say("done")
        return reply(body) if callable(reply) else reply

    return answer


def look(number: int) -> Json:
    return call("read_file", {"path": f"{number}.txt"})


@pytest.fixture
def project(project: Path) -> Path:
    for number in range(9):
        (project / f"{number}.txt").write_text(f"line {number} of a file\n" * (550 if number % 2 else 40))
    return project


@pytest.mark.parametrize("named", [True, False])
def test_the_largest_results_are_shortened_first_and_the_request_is_made_again(
    play: Open, model: ScriptedModel, named: bool
) -> None:
    answer = refusing(6_000, named, *[look(number) for number in (0, 1, 3, 5, 2)], say("read"))
    with play(*[answer] * 30, servers={}, tools=("read_file",)) as driver:
        assert driver.ask("read them").reason == "done"
        first = driver.of(p.Compacted)[0]
        detail = driver.core.compaction(first.number)
        assert driver.ask("and on").reason == "done"
    assert first.shortened and not first.dropped and not first.problem
    assert detail is not None and min(one.before for one in detail.results) > 8_000
    assert sum(size(body) > 6_000 for body in model.requests) <= 3
    assert "line 2 of a file\\nline 2 of a file" in json.dumps(model.requests[-1])


def test_the_limit_that_was_named_is_known_from_then_on(play: Open, model: ScriptedModel) -> None:
    answer = refusing(6_000, True)
    with play(*[answer] * 40, servers={}, tools=("read_file",)) as driver:
        for number in range(12):
            assert driver.ask(f"{number} {LONG}").reason == "done"
        assert driver.of(p.UsageChanged)[-1].window == 6_000
        picture = driver.core.context()
    assert picture is not None and picture.learned and picture.window == 6_000
    assert sum(size(body) > 6_000 for body in model.requests) == 1


def test_without_a_known_window_only_the_provider_says_when(play: Open, model: ScriptedModel) -> None:
    with play(*[say("done")] * 20, servers={}, tools=("read_file",)) as driver:
        for number in range(20):
            driver.ask(f"{number} {LONG}")
        assert not driver.of(p.Compacted)
    assert size(model.requests[-1]) > 30_000


def test_a_limit_of_bytes_is_no_window(play: Open, model: ScriptedModel) -> None:
    def answer(body: Json) -> Json:
        return fail(413, "Request Entity Too Large") if size(body) > 6_000 else say("done " * 50)

    with play(*[answer] * 60, servers={}, tools=("read_file",)) as driver:
        for number in range(8):
            assert driver.ask(f"{number} {LONG}").reason == "done"
        assert driver.of(p.Compacted)
        assert driver.of(p.UsageChanged)[-1].window == 0
        picture = driver.core.context()
        end = driver.ask(LONG * 20)
    assert picture is not None and not picture.learned and picture.window == 0
    assert end.reason == "failed" and "more bytes than the server" in end.message


def test_what_can_be_shortened_no_more_ends_the_turn_after_few_tries(
    play: Open, model: ScriptedModel
) -> None:
    with play(*[mode("context-length")] * 60, servers={}) as driver:
        for number in range(3):
            end = driver.ask(f"{number} {LONG}")
            assert (end.reason, "context length" in end.message) == ("failed", True)
    assert len(model.requests) <= 3 * 12


def test_a_message_that_is_too_long_by_itself_is_said_to_be(play: Open, model: ScriptedModel) -> None:
    answer = refusing(6_000, True)
    with play(*[answer] * 30, servers={}) as driver:
        end = driver.ask(LONG * 20)
        assert end.reason == "failed" and "context length" in end.message
        assert driver.ask("short").reason in ("done", "failed")
    assert len(model.requests) < 14


def test_a_summary_that_is_itself_too_long_to_ask_for_is_asked_for_with_less(
    play: Open, model: ScriptedModel
) -> None:
    def answer(body: Json) -> Json:
        if size(body) > 5_000:
            return fail(400, "prompt is too long", code="context_length_exceeded")
        return say("short" if HEADINGS[0] in str(body["messages"][-1]["content"]) else "done " * 300)

    with play(*[answer] * 60, servers={}, tools=("read_file",)) as driver:
        for number in range(12):
            assert driver.ask(f"{number} {LONG}").reason == "done"
        assert any(event.summarised for event in driver.of(p.Compacted))
    assert len(model.requests) < 50


def test_what_one_reply_brings_may_be_more_than_the_window(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    reads = {"calls": [one for number in (1, 3, 5, 7) for one in look(number)["calls"]]}
    answer = refusing(6_000, True, reads, say("read"))
    with play(*[answer] * 30, servers={}, tools=("read_file",)) as driver:
        assert driver.ask("read all").reason == "done"
    last = model.requests[-1]["messages"]
    assert [message["role"] for message in last][-4:] == ["tool"] * 4
    assert all("[Cut here." in message["content"] for message in last[-4:-1])
