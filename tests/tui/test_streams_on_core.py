"""Log and wire of a real server by keys: from a card to its frames and its lines, and back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hel_tui.tui.screens.server.screen import ServerScreen
from hel_tui.tui.state import CallItem
from tests.rig import options, sample
from tests.tui.live import Live, living

CALL = '/call inventory.lookup_port {"service": "api"}'


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    """A workbench on the sample project, a call by hand done."""
    async with living(options(sample(tmp_path), tmp_path, None), (120, 40)) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("y")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        await live.submit(CALL)
        await live.decision("lookup_port")
        await live.decide("y")
        await live.until(lambda: card(live) is not None and card(live).state == "ok", "the call")
        yield live


def card(live: Live) -> CallItem | None:
    return next((one for one in live.app.bridge.state.items if isinstance(one, CallItem)), None)


async def at_card(live: Live) -> None:
    """Put the focus on the card."""
    live.app.main.set_focus(live.app.main.conversation)
    await live.press("j", after=0.5)


async def test_w_on_a_card_shows_its_frames_and_enter_their_bodies_and_o_leads_back(live: Live) -> None:
    await at_card(live)
    await live.press("w", after=0.5)
    await live.until(lambda: isinstance(live.app.screen, ServerScreen), "the server screen")
    await live.sees("of one call", "→ request", "← result", "tools/call", "lookup_port")
    await live.press("enter", after=0.5)
    await live.sees('"method": "tools/call"', '"service": "api"', '"result": {')
    await live.press("o", after=0.5)
    await live.until(lambda: live.app.screen is live.app.main, "the conversation")
    transcript = live.app.main.conversation.transcript
    item = card(live)
    assert item is not None and transcript.entries[transcript.marked].item.key == item.key


async def test_a_call_is_copied_from_the_wire_as_a_command(live: Live) -> None:
    await at_card(live)
    await live.press("w", after=0.5)
    await live.sees("of one call")
    await live.press("c", after=0.5)
    assert live.app.clipboard == """hel mcp call inventory lookup_port '{"service":"api"}'"""


async def test_from_a_frame_one_gets_to_the_lines_of_the_log_at_that_moment(live: Live) -> None:
    await at_card(live)
    await live.press("w", after=0.5)
    await live.sees("of one call")
    await live.press("l", after=0.5)
    await live.sees(" lines · ")
    assert "pid" in live.text, "the rule of the start"


async def test_a_restart_is_a_rule_in_the_log_and_frames_of_both_lives_are_kept(live: Live) -> None:
    live.app.open_server("inventory", "wire")
    await live.sees("tools/list")
    before = live.app.core.frames("inventory").end
    live.app.main.commands.typed.run("/mcp inventory")
    await live.press("r", after=0.5)
    await live.until(lambda: live.app.core.frames("inventory").end > before + 3, "frames of the new start")
    assert live.app.core.frames("inventory").first == 0
    live.app.open_server("inventory", "log")
    await live.until(lambda: live.text.count(" pid ") >= 3, "two rules and the head")
