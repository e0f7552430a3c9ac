"""What is in the prompt is told to the core when it has rested, and is put there again when it is found."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens import drafting
from tests.tui.driving import opened


async def test_the_prompt_is_told_of_when_it_rests_and_when_it_is_emptied() -> None:
    async with opened() as d:
        await d.type("half a thought")
        await d.until(lambda: d.core.drafts)
        assert d.core.drafts == ["half a thought"]
        await d.press("enter", after=1)
        await d.until(lambda: d.core.commands)
        await d.until(lambda: d.core.drafts[-1] == "")
        assert d.core.drafts == ["half a thought", ""]


async def test_what_was_found_is_put_before_what_is_written_and_told_of_there() -> None:
    async with opened() as d:
        await d.type("now")
        await d.until(lambda: d.core.drafts == ["now"])
        await d.put(
            p.Cleared("s2", restoring=True), p.SessionRestored("s2", "two", 0, 0), p.DraftFound("before")
        )
        await d.until(lambda: d.app.main.prompt.text == "before\nnow")
        await d.until(lambda: d.core.drafts[-1] == "before\nnow")


async def test_another_session_is_told_of_what_is_in_the_prompt() -> None:
    async with opened() as d:
        await d.type("now")
        await d.until(lambda: d.core.drafts == ["now"])
        await d.put(p.Cleared("s2"))
        await d.until(lambda: d.core.drafts == ["now", "now"])


async def test_a_large_paste_is_told_of_whole() -> None:
    text = "line of text\n" * 1_000
    async with opened() as d:
        d.app.main.prompt.take_paste(text)
        await d.until(lambda: d.core.drafts)
        assert d.core.drafts == [text]


async def test_the_end_of_hel_is_told_of_it_without_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "RESTS", 3600.0)
    async with opened() as d:
        await d.type("half a thought")
        await d.press("ctrl+q", after=0.5)
        await d.until(lambda: p.Shutdown() in d.core.commands)
        assert d.core.drafts == ["half a thought"]


async def test_what_was_found_and_is_emptied_before_it_rests_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drafting, "RESTS", 3600.0)
    async with opened() as d:
        await d.put(p.DraftFound("before"))
        await d.until(lambda: d.app.main.prompt.text == "before")
        await d.press("alt+k", after=0.5)
        await d.until(lambda: d.core.drafts == ["before", ""])


async def test_who_types_without_a_rest_is_told_of_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "RESTS", 3600.0)
    monkeypatch.setattr(drafting, "LATEST", 0.05)
    async with opened() as d:
        written = ""
        while len(d.core.drafts) < 2:  # each key puts the rest off
            written += "x"
            assert len(written) < 5000, "it was never told of"
            await d.press("x", after=0.02)
        assert all(written.startswith(one) for one in d.core.drafts)


async def test_an_older_message_that_is_looked_at_takes_the_place_of_no_draft() -> None:
    async with opened() as d:
        await d.type("sent")
        await d.press("enter", after=0.5)
        await d.type("half a thought")
        await d.until(lambda: d.core.drafts[-1:] == ["half a thought"])
        await d.press("up", after=0.5)
        assert d.app.main.prompt.text == "sent"
        d.app.main.drafting.tell()
        assert d.core.drafts[-1] == "half a thought"
        await d.type("!")
        await d.until(lambda: d.core.drafts[-1] == "sent!")
        await d.press("backspace", "down", after=0.5)
        await d.until(lambda: d.core.drafts[-1] == "half a thought")


@pytest.mark.parametrize(
    "event",
    [p.Unqueued("before"), p.TurnEnded(1, "interrupted", "Interrupted.", 1.0, give_back=True)],
    ids=["taken back", "not sent"],
)
async def test_what_comes_back_into_the_prompt_is_told_of_without_a_rest(
    event: p.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, "RESTS", 3600.0)
    monkeypatch.setattr(drafting, "LATEST", 3600.0)
    async with opened() as d:
        await d.put(p.TurnStarted(1, "before"))
        await d.put(event)
        await d.until(lambda: d.core.drafts == ["before"])
