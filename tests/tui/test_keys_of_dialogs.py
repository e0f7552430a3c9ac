"""F1 while a dialog or a sheet is open: its keys, and nothing is decided by looking at them."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.gate import DEAF, SETTLE
from hel_tui.tui.screens.text import TextScreen
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.screen_text import screen_text
from tests.tui.test_offers import core, open_resources


async def see_keys(d: Driver, *texts: str) -> None:
    await d.press("f1", after=1)
    await d.until(lambda: isinstance(d.app.screen, TextScreen))
    await d.until(lambda: all(text in screen_text(d.app) for text in texts))


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (scenes.APPROVAL, ("Approval dialog", "Allow once", "Deny and stop the turn", "The marked choice")),
        (scenes.TRUST, ("Trust dialog", "Allow and remember")),
        (scenes.FORM, ("Form of a server", "Decline: a no to the server", "Next or previous field")),
        (scenes.LOGIN, ("Login dialog", "Give the login up")),
    ],
    ids=["approval", "trust", "form", "login"],
)
async def test_a_dialog_shows_its_keys_and_goes_on(question, texts):
    async with opened() as d:
        await d.ask(question)
        await see_keys(d, *texts)
        assert "Command palette" not in screen_text(d.app)
        await d.press("y", "n", after=1)
        await d.press("escape", after=1)
        await d.until(lambda: d.has_dialog)
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []


async def test_a_key_right_after_the_keys_were_looked_at_decides_nothing():
    async with opened() as d:
        await d.ask(scenes.EDIT)
        await see_keys(d, "Approval dialog")
        await d.press("escape", after=1)
        await d.until(lambda: d.has_dialog and d.dialog.gate.deaf_until >= d.clock.now)
        await d.press("y", after=DEAF / 2)
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []


async def test_a_question_that_is_closed_meanwhile_goes_when_the_keys_do():
    async with opened() as d:
        await d.ask(scenes.APPROVAL)
        await see_keys(d, "Approval dialog")
        await d.put(p.QuestionClosed(scenes.APPROVAL.id))
        await d.press("escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)


async def test_lists_and_a_resource_show_their_keys():
    async with opened(core()) as d:
        await open_resources(d)
        await see_keys(d, "Watch its updates, or stop", "Clear the filter, else close", "Page down")
        await d.press("escape", "v", after=1)
        await d.until(lambda: "reading…" in screen_text(d.app))
        await see_keys(d, "Attach it", "Read it again")
        await d.press("escape", "escape", "escape", after=1)
        await d.until(lambda: d.app.screen is d.app.main)
