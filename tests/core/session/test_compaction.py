"""Long conversations in small windows: what is shortened, when, and what the model is sent then."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.context.summary import HEADINGS, LEFT_OUT, PREAMBLE
from hel_tui.core.store.places import find_places
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, fail, mode, say
from tests.rig import KEY, Driver, environment, results

Open = Callable[..., Driver]
Json = dict[str, Any]

SUMMARY = "## What the person wants\nThe long story, and the port 8437."
WORDS = "word " * 800
"""A message of a thousand tokens."""


def is_request_for_summary(body: Json) -> bool:
    return HEADINGS[0] in str(body["messages"][-1]["content"])


def texts(body: Json) -> list[str]:
    return [str(message.get("content") or "") for message in body["messages"]]


def window(home: Path, tokens: int) -> None:
    file = find_places(environment(home)).user_settings
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"context_window = {tokens}\n")


def summarising(*replies: Reply, summary: Reply | None = None) -> Callable[[Json], Json]:
    """A model that answers requests for a summary with `summary` and everything else from `replies`."""
    left = list(replies)

    def answer(body: Json) -> Json:
        if is_request_for_summary(body):
            reply: Reply = summary if summary is not None else say(SUMMARY)
        else:
            reply = left.pop(0) if left else say("done")
        return reply(body) if callable(reply) else reply

    return answer


def talk(driver: Driver, turns: int) -> None:
    for number in range(turns):
        assert driver.ask(f"{number}: {WORDS}").reason == "done"


@pytest.fixture
def small(tmp_path: Path) -> int:
    window(tmp_path, 8192)
    return 8192


def test_a_summary_takes_the_place_of_all_but_the_newest_messages(
    play: Open, model: ScriptedModel, small: int
) -> None:
    answer = summarising()
    with play(*[answer] * 12, servers={}, tools=("read_file",)) as driver:
        talk(driver, 7)
        (done,) = driver.of(p.Compacted)
        detail = driver.core.compaction(done.number)
        usage = driver.of(p.UsageChanged)[-1]
    at = next(n for n, body in enumerate(model.requests) if is_request_for_summary(body))
    asked, before, after = model.requests[at], model.requests[at - 1], model.requests[at + 1]
    assert asked["tools"] == before["tools"] == after["tools"]
    grown = len(before["messages"]) - 1
    assert asked["messages"][:grown] == before["messages"][:grown]
    first = after["messages"][1]["content"]
    assert first.startswith(PREAMBLE) and SUMMARY in first
    assert len(after["messages"]) < len(before["messages"])
    assert after["messages"][0] == before["messages"][0]
    assert done.before > 6144 and done.after < done.before and done.summarised > 0 and not done.problem
    assert detail is not None and detail.summary == first.split("\n\n5: ")[0].split("\n\n6: ")[0]
    assert usage.window == small and usage.context_tokens < small


def test_what_is_on_the_screen_stays_and_the_cost_of_a_summary_is_counted(
    play: Open, model: ScriptedModel, small: int
) -> None:
    answer = summarising()
    with play(*[answer] * 12, servers={}) as driver:
        talk(driver, 7)
        assert driver.of(p.Compacted) and not driver.of(p.Cleared)
        spending = driver.core.spending()
    assert spending is not None
    assert spending.session.requests == len(model.requests)
    assert spending.summaries.requests == 1 and spending.summaries.input_tokens > 0
    assert sum(one.spent.requests for one in spending.turns) == len(model.requests)
    assert spending.session.cost is None and spending.session.unpriced == len(model.requests)


EDGES: dict[str, tuple[Reply, str]] = {
    "empty": (say("  \n"), "empty"),
    "cut": (mode("cut-text"), "output limit"),
    "broken off": (mode("no-done-text"), "broke off"),
    "calls": (call("read_file", {"path": "config.ini"}), "called a tool"),
    "larger": (say("more words " * 8_000), "no smaller"),
    "refused": (mode("refusal"), "refused"),
    "filtered": (mode("filtered"), "content filter"),
    "failed": (fail(400, "That will not do."), "That will not do"),
}


@pytest.mark.parametrize("edge", EDGES)
def test_a_summary_that_is_none_is_rejected_told_and_the_conversation_goes_on(
    play: Open, model: ScriptedModel, small: int, edge: str
) -> None:
    summary, words = EDGES[edge]
    answer = summarising(summary=summary)
    with play(*[answer] * 40, servers={}, tools=("read_file",)) as driver:
        talk(driver, 9)
        told = driver.of(p.Compacted)
        assert words in told[0].problem
        assert not driver.of(p.CallStarted)
    assert not any(PREAMBLE in text for body in model.requests for text in texts(body))
    assert any(text.startswith(LEFT_OUT[:40]) for text in texts(model.requests[-1]))
    assert sum(map(is_request_for_summary, model.requests)) <= 4
    assert all(len(json.dumps(body["messages"])) // 4 < small for body in model.requests)


def test_the_newest_words_of_the_person_outlive_a_summary_in_the_middle_of_a_turn(
    play: Open, model: ScriptedModel, project: Path, small: int
) -> None:
    (project / "long.txt").write_text("a line of a long file\n" * 400)
    look = call("read_file", {"path": "long.txt"})
    answer = summarising(*[look] * 6, say("read"))
    with play(*[answer] * 20, servers={}) as driver:
        assert driver.ask("Find the word PURPLE in long.txt").reason == "done"
        assert any(event.summarised for event in driver.of(p.Compacted))
    last = model.requests[-1]
    assert "Find the word PURPLE" in texts(last)[1]


def test_long_results_are_cut_first_and_the_whole_can_still_be_read(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    window(tmp_path, 16_384)
    (project / "long.txt").write_text("".join(f"line {number}\n" for number in range(1050)))
    look = call("read_file", {"path": "long.txt"})

    def read(body: Json) -> Json:
        cut = next(text for text in texts(body) if "[Cut here." in text)
        path = re.search(r"saved as (\S+\.txt)\. Read", cut)
        assert path is not None
        return call("read_file", {"path": path[1], "start_line": 601, "max_lines": 2})

    replies: Sequence[Reply] = (*[look] * 6, say("six"), read, say("read"))
    with play(*replies, servers={}, tools=("read_file",)) as driver:
        assert driver.ask("look often").reason == "done"
        assert driver.ask("and now read it").reason == "done"
        (done,) = driver.of(p.Compacted)
        detail = driver.core.compaction(done.number)
    assert done.shortened and not done.summarised
    assert detail is not None and {one.tool for one in detail.results} == {"read_file"}
    assert all(one.after < one.before for one in detail.results)
    assert "line 600\nline 601" in results(model.requests[-1])[0]
    assert "line 600\n" in results(model.requests[-3])[-1], "the newest result is whole"


def test_tools_that_were_loaded_stay_loaded(play: Open, model: ScriptedModel, small: int) -> None:
    load = call("load_mcp_tool", {"names": ["mcp__fix__echo"]})
    answer = summarising(load, say("loaded"))
    with play(*[answer] * 20, access="auto") as driver:
        driver.phase("fix", "ready")
        assert driver.ask("load it").reason == "done"
        talk(driver, 6)
        assert driver.of(p.Compacted)
        model.replies[:] = [call("mcp__fix__echo", {"text": "still here"}), say("done")]
        assert driver.ask("call it").reason == "done"
        assert driver.results()[-1].state == "ok"
    assert "load_mcp_tool" not in json.dumps(model.requests[-1]["messages"][1:])
    assert [tool["function"]["name"] for tool in model.requests[-1]["tools"]][-1] == "mcp__fix__echo"


def test_tools_that_leave_no_room_are_told_once(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    window(tmp_path, 900)
    answer = summarising()
    with play(*[answer] * 20, servers={}) as driver:
        for number in range(3):
            assert driver.ask(f"{number}").reason == "done"
        notices = [one.text for one in driver.of(p.Notice) if "unload tools" in one.text]
    assert len(notices) == 1 and "of the 900 tokens" in notices[0]


def test_by_hand_with_a_focus(play: Open, model: ScriptedModel) -> None:
    answer = summarising()
    with play(*[answer] * 9, servers={}) as driver:
        talk(driver, 3)
        driver.send(p.Compact("the names of the birds"))
        assert driver.turn_end(3).reason == "done"
        (done,) = driver.of(p.Compacted)
        detail = driver.core.compaction(1)
        assert driver.ask("go on").reason == "done"
    asked = next(body for body in model.requests if is_request_for_summary(body))
    assert "keep above all: the names of the birds" in texts(asked)[-1]
    assert done.after < done.before and detail is not None
    assert (detail.focus, detail.by_hand) == ("the names of the birds", True)
    assert SUMMARY in texts(model.requests[-1])[1]


def test_a_secret_in_a_summary_reaches_neither_its_card_nor_a_file(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    answer = summarising(summary=say(f"The key is {KEY}."))
    with play(*[answer] * 9, servers={}) as driver:
        talk(driver, 3)
        driver.send(p.Compact(f"the key {KEY}"))
        assert driver.turn_end(3).reason == "done"
        detail = driver.core.compaction(1)
    assert detail is not None and "The key is" in detail.summary
    assert KEY not in detail.summary + detail.focus
    files = [path for path in (tmp_path / "hel").rglob("*") if path.is_file()]
    assert files and not any(KEY.encode() in path.read_bytes() for path in files)


def test_by_hand_there_may_be_nothing_to_summarise(play: Open, model: ScriptedModel) -> None:
    with play(say("hello"), servers={}) as driver:
        driver.send(p.Compact())
        end = driver.turn_end(0)
        assert (end.reason, "nothing to summarise" in end.message) == ("done", True)
    assert not model.requests


def test_by_hand_a_summary_that_is_none_is_told_on_its_card(play: Open, model: ScriptedModel) -> None:
    answer = summarising(summary=say(" "))
    with play(*[answer] * 9, servers={}) as driver:
        talk(driver, 3)
        driver.send(p.Compact())
        assert driver.turn_end(3).message == ""
        (told,) = driver.of(p.Compacted)
        assert driver.ask("go on").reason == "done"
    assert (told.summarised, told.dropped, told.shortened) == (0, 0, 0) and "empty" in told.problem
    assert texts(model.requests[-1])[1] == texts(model.requests[2])[1], "nothing was changed"


def test_esc_cancels_a_summary_and_leaves_the_conversation_as_it_was(
    play: Open, model: ScriptedModel
) -> None:
    with play(*[say("done")] * 3, mode("hang"), say("still there"), servers={}) as driver:
        talk(driver, 3)
        driver.send(p.Compact())
        driver.wait(lambda _: p.Compacting(4) in driver.events and len(model.requests) == 4, "the summary")
        driver.send(p.Interrupt())
        assert driver.turn_end(3).reason == "interrupted"
        assert "There is no summary" in driver.turn_end(3).message
        assert driver.events.count(p.Compacting(4, on=False)) == 1
        assert driver.ask("hello?").reason == "done"
    before, after = model.requests[2], model.requests[-1]
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert not driver.of(p.Compacted)
