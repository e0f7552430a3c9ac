"""Tools on the real core by keys: loading, pinning, switching off, the view, the search, changed server files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.text import TextScreen
from tests.rig import options, sample
from tests.tui.live import Live, living


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    """A workbench on the sample project, its server allowed and ready."""
    async with living(options(sample(tmp_path), tmp_path, None)) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("y")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        await live.until(lambda: live.app.main.side.tools.tools, "its tools")
        yield live


def row(live: Live, raw: str = "lookup_port") -> p.ToolRow:
    return next(row for row in live.app.bridge.core.tools() if row.raw == raw)


async def choose(live: Live, raw: str = "lookup_port") -> None:
    """Put the cursor of the tools pane on a tool."""
    await live.press("f4", after=0.5)
    pane = live.app.main.side.tools
    await live.until(lambda: any(tool.raw == raw for tool in pane.tools.values()), raw)
    pane.select(next(key for key, tool in pane.tools.items() if tool.raw == raw))


async def test_keys_load_pin_and_switch_a_tool_off_and_the_pane_tells_it(live: Live) -> None:
    await choose(live)
    await live.press("space", after=0.5)
    await live.sees("◆ inventory.lookup_port")
    await live.press("p", after=0.5)
    await live.sees("★ inventory.lookup_port")
    assert row(live).loaded and row(live).pinned
    await live.press("d", after=0.5)
    await live.until(lambda: row(live).off, "the tool to be off")
    await live.sees("○ lookup_port")
    assert not row(live).loaded


async def test_enter_on_a_tool_shows_its_schema_and_a_key_acts_from_there(live: Live) -> None:
    await choose(live)
    await live.press("enter", after=0.5)
    await live.sees("inventory.lookup_port", "mcp__inventory__lookup_port")
    assert isinstance(live.app.screen, TextScreen)
    await live.press("space", after=0.5)
    await live.until(lambda: row(live).loaded, "the tool to be loaded")


async def test_a_search_by_hand_finds_the_tool_and_a_number_loads_it(live: Live) -> None:
    await live.submit("/search port of a service")
    await live.until(lambda: isinstance(live.app.screen, TextScreen), "what was found")
    (trace,) = live.app.bridge.core.searches()
    assert trace.by == "person" and trace.hits[0].raw == "lookup_port"
    await live.sees("port of a service", "inventory.lookup_port")
    await live.press("1", after=0.5)
    await live.until(lambda: row(live).loaded, "the hit to be loaded")


async def test_a_changed_server_file_is_told_in_a_line_and_a_key_applies_it(live: Live) -> None:
    entry = {"mcpServers": {"second": {"command": "no-such-program"}}}
    (Path(live.app.bridge.state.project) / ".mcp.json").write_text(json.dumps(entry))
    await live.sees("server files changed: +second")
    await live.press("f8", after=0.5)
    assert "no-such-program" in await live.decision("second")
    await live.decide("n")
    await live.until(lambda: "server files changed" not in live.text, "the line to go")
    assert live.app.bridge.state.servers["inventory"].phase == "ready"
