"""The list of what is to do: kept with the session, through summaries and a resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from tests.core.session.test_compaction import is_request_for_summary, summarising, talk, texts, window
from tests.fixtures.models.endpoint import ScriptedModel, call, say
from tests.rig import Driver

Open = Callable[..., Driver]
Json = dict[str, Any]
LIST = (("done", "read"), ("in_progress", "write"))


def written(*items: tuple[str, str]) -> Json:
    return call("todo_write", {"items": [{"state": state, "text": text} for state, text in items]})


def test_it_is_told_as_it_is_written_at_every_level(play: Open) -> None:
    with play(written(*LIST), say("ok"), servers={}, access="read-only") as driver:
        driver.ask("plan")
        assert driver.of(p.TodosChanged) == [p.TodosChanged(LIST)]
        assert driver.results()[-1].state == "ok"


def test_it_comes_back_with_the_session_and_not_with_another(play: Open) -> None:
    with play(written(*LIST), say("ok"), written(("done", "read")), say("ok"), servers={}) as driver:
        driver.ask("plan")
        driver.ask("next")
        session = driver.of(p.SessionStarted)[0].session_id
    with play(servers={}, resume=session) as driver:
        driver.wait(lambda _: driver.of(p.SessionRestored), "the session")
        assert driver.of(p.TodosChanged)[-1] == p.TodosChanged((("done", "read"),))
        driver.send(p.ForkSession(turn=1))
        driver.wait(lambda _: driver.of(p.SessionRestored)[1:], "the fork")
        assert driver.of(p.TodosChanged)[-1] == p.TodosChanged(LIST)


def test_a_summary_is_followed_by_the_list(play: Open, model: ScriptedModel, tmp_path: Path) -> None:
    window(tmp_path, 8192)
    answer = summarising(written(*LIST))
    with play(*[answer] * 14, servers={}, tools=("todo_write",)) as driver:
        talk(driver, 8)
        assert driver.of(p.Compacted)
    asked = next(n for n, body in enumerate(model.requests) if is_request_for_summary(body))
    shortened = texts(model.requests[asked + 1])
    assert any("[x] read\n[>] write" in text for text in shortened)
    assert not any(
        "todo_write" in str(message.get("tool_calls")) for message in model.requests[-1]["messages"]
    )
