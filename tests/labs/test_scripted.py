"""The scripted model of a lab: the request alone decides which step comes, values come from results."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.labs import scripted
from hel_tui.labs.lab import ScriptedCall, ScriptedStep
from hel_tui.labs.scripted import OVER, answer

STEPS = (
    ScriptedStep("I look.", (ScriptedCall("look", {}, r"port (?P<port>\d+)"), ScriptedCall("list", {}))),
    ScriptedStep("", (ScriptedCall("set", {"to": ["<port>"], "as": "<unknown>"}),)),
    ScriptedStep("It is <port>."),
)


def asked(*turn: Any) -> dict[str, Any]:
    """A request: the question, then texts of results, a tuple for each answer with calls."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
    for number, results in enumerate(turn):
        ids = [f"{number}.{index}" for index in range(len(results))]
        messages.append({"role": "assistant", "tool_calls": [{"id": one} for one in ids]})
        messages += [
            {"role": "tool", "tool_call_id": one, "content": text}
            for one, text in zip(ids, results, strict=True)
        ]
    return {"messages": messages}


def test_each_request_gets_the_step_behind_those_it_holds_and_the_same_one_when_it_comes_again() -> None:
    first = asked()
    assert answer(STEPS, first) == answer(STEPS, first)
    assert answer(STEPS, first).calls == (("look", {}), ("list", {}))
    assert answer(STEPS, first).say == "I look."


def test_values_come_from_the_results_into_later_arguments_and_words() -> None:
    found = ("the port 8437 it is", "a, b")
    assert answer(STEPS, asked(found)).calls == (("set", {"to": ["8437"], "as": "<unknown>"}),)
    assert answer(STEPS, asked(found, ("ok",))).say == "It is 8437."


def test_it_stops_where_a_result_does_not_show_what_it_needs() -> None:
    line = answer(STEPS, asked(("nobody knows", "a")))
    assert (line.say, line.calls) == ("I stop here: look did not show what I need.", ())


def test_a_script_that_is_over_says_so() -> None:
    assert answer(STEPS, asked(("port 1", ""), ("",), ())).say == OVER


def test_a_new_question_begins_the_script_anew() -> None:
    body = asked(("port 1", ""))
    body["messages"].append({"role": "user", "content": "again"})
    assert answer(STEPS, body).say == "I look."


def test_a_pattern_that_takes_for_ever_ends_the_script_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "PATTERN_TIME", 0.1)
    steps = (ScriptedStep("I look.", (ScriptedCall("look", {}, r"(a|aa)+$"),)), ScriptedStep("never"))
    line = answer(steps, asked(("a" * 200 + "b",)))
    assert line.say.startswith("I stop here: the pattern (a|aa)+$ takes too long")


def test_what_a_result_said_is_no_pattern_in_what_the_next_one_has_to_show() -> None:
    steps = (
        ScriptedStep("", (ScriptedCall("look", {}, r"name: (?P<name>.+)"),)),
        ScriptedStep("", (ScriptedCall("again", {}, r"^<name>$"),)),
        ScriptedStep("It is <name>."),
    )
    assert answer(steps, asked(("name: a(b*",), ("a(b*",))).say == "It is a(b*."
    assert answer(steps, asked(("name: .*",), ("other",))).say.startswith("I stop here")
