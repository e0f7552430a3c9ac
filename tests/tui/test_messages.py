"""What people, models and hel say, as rows; and what a prompt of a server became."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.state import AnswerItem, NoticeItem, UserItem
from hel_tui.tui.text import messages
from hel_tui.tui.text.lines import Line, copied_text
from tests.tui.driving import opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text

BECAME = (("user", "Summarise this:\n" + "\n".join(f"line {n}" for n in range(20))), ("assistant", "Sure."))


def texts(rows: list[Line]) -> list[str]:
    return [row.text.rstrip() for row in rows]


def test_a_message_has_a_bar_and_is_copied_without_it() -> None:
    rows = messages.user_message(UserItem("u", "hello there\nsecond"), 30)
    assert texts(rows) == ["▌ hello there", "▌ second"]
    assert copied_text(rows) == "hello there\nsecond"


@pytest.mark.parametrize(
    ("severity", "start"), [("info", "· note: "), ("warning", "▲ warning: "), ("error", "✗ error: ")]
)
def test_a_notice_says_its_severity_and_its_source(severity: p.Severity, start: str) -> None:
    rows = messages.notice(NoticeItem("n", severity, "it broke and this is why", "weather"), 30)
    assert rows[0].text.startswith(f"{start}weather: ")
    assert rows[1].text.startswith("  ")


def test_reasoning_is_folded_to_two_rows_and_a_count() -> None:
    item = AnswerItem("r", "word " * 100, reasoning=True, done=True)
    rows = texts(messages.reasoning(item, 40, expanded=False))
    assert len(rows) == 3
    assert rows[0].startswith("∴ thought  … ")
    assert len(messages.reasoning(item, 40, expanded=True)) > 10


def test_reasoning_that_goes_on_shows_its_end() -> None:
    item = AnswerItem("r", "begin " + "word " * 100 + "last", reasoning=True)
    rows = texts(messages.reasoning(item, 40, expanded=False))
    assert rows[0] == "∴ thinking"
    assert rows[-1].endswith("last")


def test_what_a_prompt_became_is_folded_and_opens_whole() -> None:
    item = UserItem("u", "/mcp__notes__sum", messages=BECAME)
    rows = texts(messages.user_message(item, 40))
    assert rows == [
        "▌ /mcp__notes__sum",
        "  user",
        "  │ Summarise this:",
        "  │ line 0",
        "  │ line 1",
        "  … 20 more lines",
    ]
    rows = texts(messages.user_message(item, 40, expanded=True))
    assert rows[-2:] == ["  assistant", "  │ Sure."] and "  │ line 19" in rows


def test_a_prompt_cannot_draw_a_role_or_an_escape_of_its_own() -> None:
    item = UserItem("u", "/x", messages=(("user", "a\x1b[2Jb\nassistant\n▌ me"),))
    rows = texts(messages.user_message(item, 40, expanded=True))
    assert rows[1:] == ["  user", "  │ ab", "  │ assistant", "  │ ▌ me"]


async def test_a_prompt_shows_under_its_line_what_it_became_and_opens_by_key() -> None:
    async with opened(FakeCore()) as d:
        await d.put(p.TurnStarted(1, "/mcp__notes__sum"), p.PromptSent(1, BECAME), p.StepStarted(1, 1))
        await d.until(lambda: "… 20 more lines" in screen_text(d.app))
        assert "Sure." not in screen_text(d.app)
        await d.press("ctrl+o", after=1)
        await d.until(lambda: "│ Sure." in screen_text(d.app))
        await d.press("ctrl+o", "tab", after=1)
        await d.until(lambda: "Sure." not in screen_text(d.app))
        await d.press("enter", after=1)
        await d.until(lambda: "│ Sure." in screen_text(d.app))
        await d.press("c", after=1)
        await d.until(lambda: d.app.clipboard.endswith("line 19\n\nSure."))


async def test_what_a_prompt_became_is_open_when_everything_is() -> None:
    async with opened(FakeCore()) as d:
        await d.press("ctrl+o", after=1)
        await d.put(p.TurnStarted(1, "/mcp__notes__sum"), p.StepStarted(1, 1))
        await d.put(p.PromptSent(1, BECAME))
        await d.until(lambda: "│ Sure." in screen_text(d.app))


async def test_what_a_prompt_became_is_found() -> None:
    async with opened(FakeCore()) as d:
        await d.put(p.TurnStarted(1, "/mcp__notes__sum"), p.PromptSent(1, BECAME))
        await d.press("ctrl+o", "ctrl+f", after=1)
        await d.type("line 17")
        await d.until(lambda: "1 found" in screen_text(d.app))


@pytest.mark.parametrize(
    ("before", "reason", "marked"),
    [
        ((), "failed", True),
        ((), "interrupted", True),
        ((p.StepStarted(1, 1),), "failed", False),
        ((), "done", False),
    ],
)
async def test_a_message_that_never_went_out_says_so(before, reason, marked) -> None:
    async with opened(FakeCore()) as d:
        await d.put(p.TurnStarted(1, "look at @notes:note://gone"), *before)
        await d.put(p.TurnEnded(1, reason, "It cannot be read."))
        await d.until(lambda: "It cannot be read." in screen_text(d.app))
        assert ("✗ not answered" in screen_text(d.app)) is marked
