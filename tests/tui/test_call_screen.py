"""Calls by hand from their screen, on the real core with a real server, by keys only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.call.screen import CallScreen
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import called, heard, options, sample, servers_file
from tests.tui.live import Live, living


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([say("I see.")]) as endpoint:
        yield endpoint


@pytest.fixture
async def live(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[Live]:
    """The app with the drawing server; calls run unasked."""
    project = sample(tmp_path)
    (project / ".hel" / "mcp.json").unlink()
    file = servers_file(tmp_path, art="forms:draws")
    async with living(options(project, tmp_path, model.url, mcp_config=(file,), access="auto")) as live:
        state = live.app.bridge.state
        await live.until(
            lambda: "art" in state.servers and state.servers["art"].phase == "ready", "the server"
        )
        await live.until(lambda: live.app.main.side.tools.tools, "its tools")
        yield live


def screen(live: Live) -> CallScreen:
    found = live.app.screen
    assert isinstance(found, CallScreen)
    return found


async def begin(live: Live, raw: str = "draw") -> None:
    """Press `n` on a tool in the tools pane."""
    await live.press("f4", after=0.5)
    pane = live.app.main.side.tools
    pane.select(next(key for key, tool in pane.tools.items() if tool.raw == raw))
    await live.press("n", after=0.5)
    await live.until(lambda: isinstance(live.app.screen, CallScreen), "the form")
    await live.pilot.pause()


async def to_field(live: Live, label: str) -> None:
    """Move the cursor of the form to a place, from the top."""
    form = screen(live).form.form_view
    if form.is_typing:
        await live.press("escape", after=0.5)
    await live.press("g", after=0.5)
    await live.until(lambda: form.rows.cursor == 0)
    for _ in range(len(form.rows.rows)):
        place = form.current
        if place is not None and place.what == "node" and str(place.node.key) == label:
            return
        await live.press("j", after=0.5)
    raise AssertionError(f"no row {label} in\n{live.text}")


async def draw(live: Live, radius: str = "2") -> None:
    """Fill in what is needed and send."""
    await live.type("Sun")
    await live.press("tab", after=0.5)
    await live.type(radius)
    await live.press("ctrl+s", after=0.5)


def results(live: Live) -> list[p.CallDetail]:
    found = [live.app.bridge.core.call(call_id) for call_id in screen(live).results.history()]
    return [detail for detail in found if detail is not None and detail.state == "ok"]


async def test_what_is_needed_is_typed_at_once_sent_by_a_key_and_answered_beside_it(
    live: Live, tmp_path: Path
) -> None:
    await begin(live)
    await live.sees("title *", "needed", "Draw a picture of something.")
    await draw(live)
    await live.sees("✓ done", "as the model gets it", "only you have it")
    assert called(tmp_path, "art")[0]["arguments"] == {"title": "Sun", "shape": {"kind": "circle", "r": 2}}


async def test_what_does_not_fit_is_said_at_its_field_and_nothing_is_sent(live: Live, tmp_path: Path) -> None:
    await begin(live)
    await live.type("Su")
    await live.press("ctrl+s", after=0.5)
    await live.sees("At least 3 characters.", "This is needed.", "2 things do not fit; nothing was sent")
    await live.press("enter", after=0.5)
    await live.type("n")
    await live.press("enter", after=0.5)
    await live.sees("1 thing does not fit")
    assert "At least 3" not in live.text
    assert not called(tmp_path, "art")


async def test_every_kind_of_field_is_filled_in_by_keys(live: Live, tmp_path: Path) -> None:
    await begin(live)
    await live.type("Sun")
    await live.press("escape", after=0.5)
    await live.press("enter", after=0.5)
    await live.type("Sun")
    await live.press("enter", after=0.5)
    for label, keys in (
        ("count", "enter 7 enter"),
        ("mode", "enter j enter"),
        ("dry_run", "space space"),
        ("tags", "enter a a enter a b enter"),
        ("note", "enter h i enter"),
        ("shape", "b j enter"),
        ("w", "enter 3 enter"),
        ("h", "enter 4 . 5 enter"),
        ("tree", "space"),
        ("name", "enter r enter"),
    ):
        await to_field(live, label)
        for key in keys.split():
            await live.press(key, after=0.5)
    await to_field(live, "labels")
    await live.press("space", "a", after=0.5)
    for _ in "key1":
        await live.press("backspace", after=0.5)
    await live.type("tone")
    await live.press("enter", after=0.5)
    await to_field(live, "tone")
    await live.press("enter", after=0.5)
    await live.type("warm")
    await live.press("ctrl+s", after=0.5)
    await live.until(lambda: called(tmp_path, "art"), "the call")
    assert called(tmp_path, "art")[0]["arguments"] == {
        "title": "Sun",
        "count": 7,
        "mode": "slow",
        "dry_run": True,
        "tags": ["a", "b"],
        "note": "hi",
        "shape": {"kind": "box", "w": 3, "h": 4.5},
        "labels": {"tone": "warm"},
        "tree": {"name": "r"},
    }


async def test_arguments_go_to_json_and_back_without_loss_and_a_mistake_has_its_place(live: Live) -> None:
    await begin(live)
    await live.type("Sun")
    await live.press("ctrl+r", after=0.5)
    editor = screen(live).form.editor
    assert json.loads(editor.text) == {"title": "Sun", "shape": {"kind": "circle"}}
    editor.text = '{\n  "title": "Moon",\n  "extra": 1e2,,\n}'
    await live.press("ctrl+s", after=0.5)
    await live.sees("Not valid JSON", "line 3")
    assert screen(live).form.is_raw
    given = {"title": "Moon", "count": "many", "extra": [1, None], "shape": {"kind": "box", "w": 1, "h": 2}}
    editor.text = json.dumps(given)
    await live.press("ctrl+r", after=0.5)
    await live.sees("‹Box›", '"many"', "Moon")
    await live.press("ctrl+r", after=0.5)
    assert json.loads(editor.text) == given


async def test_a_call_that_takes_its_time_shows_progress_and_is_stopped_alone(
    live: Live, tmp_path: Path
) -> None:
    await begin(live, "wait")
    await live.press("ctrl+s", after=0.5)
    await live.sees("running", " of 5 min", "40%", "painting", "call 1 of 1", "stop the call")
    await live.press("ctrl+s", after=0.5)
    await live.sees("call 2 of 2")
    await live.until(lambda: len(called(tmp_path, "art")) == 2, "both calls")
    await live.press("escape", after=0.5)
    await live.sees("stopped")
    await live.press("left_square_bracket", after=0.5)
    await live.sees("call 1 of 2", "running")
    await live.press("escape", after=0.5)
    await live.sees("stopped", "call 1 of 2")
    notes = [note for note in heard(tmp_path, "art") if note.get("method") == "notifications/cancelled"]
    assert len(notes) == 2
    await live.press("escape", after=0.5)
    await live.until(lambda: live.app.screen is live.app.main, "the main screen")


async def test_two_results_are_compared_by_path_by_lines_and_side_by_side(live: Live) -> None:
    await begin(live)
    await draw(live, "2")
    await live.until(lambda: len(results(live)) == 1, "the first result")
    await to_field(live, "r")
    await live.press("enter", "backspace", after=0.5)
    await live.type("3")
    await live.press("ctrl+s", after=0.5)
    await live.until(lambda: len(results(live)) == 2, "the second result")
    await live.sees("call 2 of 2", "✓ done")
    await live.press("equals_sign", after=0.5)
    await live.sees("2 values differ", "~ $.drawn.shape.r  2 → 3", "~ $.number  1 → 2", '+  "number": 2')
    await live.press("v", after=0.5)
    await live.sees("side by side", "before", "after")
    await live.press("v", "v", after=0.5)
    await live.sees("as the server sent it", "structuredContent")
    await live.press("v", after=0.5)
    await live.sees("structured content", '"number": 2')


async def test_a_card_is_run_again_with_edited_arguments_and_compared_with_the_one_before(live: Live) -> None:
    first = {"title": "Moon", "shape": {"kind": "circle", "r": 1}}
    await live.submit(f"/call art.draw {json.dumps(first)}")
    await live.sees("✓ art · draw")
    live.app.main.set_focus(live.app.main.conversation)
    await live.press("e", after=0.5)
    await live.until(lambda: isinstance(live.app.screen, CallScreen), "the form")
    await live.sees("Moon", "‹Circle›")
    await to_field(live, "r")
    await live.press("enter", "backspace", after=0.5)
    await live.type("9")
    await live.press("ctrl+s", after=0.5)
    await live.until(lambda: len(results(live)) == 2, "the second result")
    await live.press("equals_sign", after=0.5)
    await live.sees("$.drawn.shape.r  1 → 9")


async def test_a_result_goes_to_the_model_when_it_is_sent_so_or_later(
    live: Live, model: ScriptedModel
) -> None:
    await begin(live)
    await live.press("escape", "o", after=0.5)
    await live.sees("result to the model too")
    await live.press("o", "g", "enter", after=0.5)
    await draw(live)
    await live.sees("✓ done", "only you have it")
    await live.press("t", after=0.5)
    await live.sees("the model has it")
    await live.press("escape", after=0.5)
    await live.until(lambda: live.app.screen is live.app.main, "the main screen")
    live.app.main.set_focus(live.app.main.prompt)
    await live.submit("what did I draw?")
    await live.sees("I see.")
    told = json.dumps(model.requests[-1]["messages"])
    assert "I called a tool myself: art.draw" in told and "not instructions" in told


async def test_what_was_filled_in_is_there_when_the_form_opens_again(live: Live) -> None:
    await begin(live)
    await live.type("Evening sun")
    await live.press("escape", after=0.5)
    await live.press("enter", after=0.5)
    await live.type("Evening sun")
    await live.press("enter", "escape", after=0.5)
    await live.until(lambda: live.app.screen is live.app.main, "the main screen")
    live.app.main.set_focus(live.app.main.prompt)
    await live.submit("/call art.draw")
    await live.until(lambda: isinstance(live.app.screen, CallScreen), "the form")
    await live.sees("Evening sun")


async def test_a_call_is_copied_as_a_command_and_saved_as_a_check(live: Live, monkeypatch: Any) -> None:
    await begin(live)
    await draw(live)
    await live.sees("✓ done")
    await live.press("y", after=0.5)
    assert live.app.clipboard.startswith('hel mcp call art draw \'{"title":"Sun"')
    sent: list[p.Command] = []
    monkeypatch.setattr(live.app, "send", sent.append)
    await live.press("s", after=0.5)
    await live.sees("Save this call as a check")
    await live.press("ctrl+s", after=0.5)
    await live.until(lambda: sent, "the command")
    (call_id,) = screen(live).results.history()
    assert sent == [p.SaveCheck(call_id, "draw", "exact", ())]


async def test_what_is_given_as_meta_goes_along_with_the_call(live: Live, tmp_path: Path) -> None:
    await begin(live)
    await live.press("escape", "M", after=0.5)
    await live.sees("_meta of the call")
    await live.type('{"trace": "7"}')
    await live.press("ctrl+s", after=0.5)
    await live.sees("with _meta")
    await live.press("g", "enter", after=0.5)
    await draw(live)
    await live.sees("✓ done")
    assert called(tmp_path, "art")[0]["_meta"]["trace"] == "7"


async def test_a_decision_opens_over_the_form(tmp_path: Path, model: ScriptedModel) -> None:
    project = sample(tmp_path)
    (project / ".hel" / "mcp.json").unlink()
    (project / ".hel" / "config.toml").write_text('[permissions]\nask = ["mcp__art"]\n')
    file = servers_file(tmp_path, art="forms:draws")
    async with living(options(project, tmp_path, model.url, mcp_config=(file,))) as live:
        state = live.app.bridge.state
        await live.until(
            lambda: "art" in state.servers and state.servers["art"].phase == "ready", "the server"
        )
        await live.until(lambda: live.app.main.side.tools.tools, "its tools")
        await begin(live)
        await draw(live)
        await live.decision("art · draw", "Sun")
        await live.decide("y")
        await live.sees("✓ done")
