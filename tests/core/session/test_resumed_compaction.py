"""A conversation that was shortened is gone on with: its summary, its numbers and its saved results are there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from tests.core.session.test_compaction import SUMMARY, summarising, talk, texts, window
from tests.fixtures.models.endpoint import Reply, ScriptedModel, call, say
from tests.rig import Driver, results

Open = Callable[..., Driver]
Json = dict[str, Any]


def test_the_summary_comes_back_and_the_next_one_has_a_number_of_its_own(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    window(tmp_path, 8192)
    answer = summarising()
    with play(*[answer] * 12, servers={}, tools=("read_file",)) as driver:
        talk(driver, 7)
        session = driver.of(p.SessionStarted)[0].session_id
        before = driver.core.compaction(1)
        usage = driver.of(p.UsageChanged)[-1]
    with play(*[answer] * 12, servers={}, tools=("read_file",), resume=session) as driver:
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        after = driver.core.compaction(1)
        spending = driver.core.spending()
        assert [event.number for event in driver.of(p.Compacted)] == [1]
        talk(driver, 6)
        assert [event.number for event in driver.of(p.Compacted)] == [1, 2]
    assert before is not None and after is not None
    assert (after.summary, after.before, after.after) == (before.summary, before.before, before.after)
    assert SUMMARY in texts(model.requests[-1])[1]
    assert spending is not None and spending.session.requests == usage.requests
    assert spending.session.input_tokens == usage.input_tokens


def test_what_each_turn_took_is_told_after_a_resume_a_summary_by_its_own_name(
    play: Open, model: ScriptedModel
) -> None:
    answer = summarising()
    with play(*[answer] * 12, servers={}, tools=("read_file",)) as driver:
        driver.ask("elsewhere")
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared), "the new session")
        talk(driver, 3)
        driver.send(p.Compact())
        ended = len(driver.of(p.TurnEnded))
        driver.turn_end(ended)
        before = driver.core.spending()
        session = driver.of(p.Cleared)[0].session_id
    assert before is not None and before.summaries.requests == 1
    assert [one.compact for one in before.turns] == [False, False, False, False, True]
    for how in ("kept", "forked"):
        with play(*[answer] * 12, servers={}, tools=("read_file",), resume=session) as driver:
            driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
            if how == "forked":
                driver.send(p.ForkSession())
                driver.wait(lambda _: driver.of(p.SessionRestored)[1:], "the fork")
            after = driver.core.spending()
        assert after is not None
        assert after.turns == before.turns[1:]
        assert (after.session, after.summaries) == (before.session, before.summaries)


def test_a_large_result_can_be_read_in_ranges_before_and_after_a_resume(
    play: Open, model: ScriptedModel
) -> None:
    def read(line: int) -> Callable[[Json], Json]:
        def reply(body: Json) -> Json:
            cut = next(text for text in texts(body) if "[Cut here." in text)
            path = re.search(r"saved as (\S+)\. Read", cut)
            assert path is not None
            return call("read_file", {"path": path[1], "start_line": line, "max_lines": 2})

        return reply

    first: list[Reply] = [
        call("load_mcp_tool", {"names": ["mcp__fix__echo"]}),
        call("mcp__fix__echo", {"text": "\n".join(map(str, range(1, 20_001)))}),
        read(10_001),
        say("read"),
    ]
    with play(*first, access="auto") as driver:
        driver.phase("fix", "ready")
        assert driver.ask("count").reason == "done"
        session = driver.of(p.SessionStarted)[0].session_id
    assert "10001\n10002" in results(model.requests[-1])[0]
    with play(read(15_001), say("read again"), servers={}, access="auto", resume=session) as driver:
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        assert driver.ask("and further").reason == "done"
    assert "15001\n15002" in results(model.requests[-1])[0]
