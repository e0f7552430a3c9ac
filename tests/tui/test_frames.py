"""Frames of the whole screen at three sizes, compared with kept text."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.widgets.bars import StatusBar
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
QUESTIONS = {
    "approval": scenes.APPROVAL,
    "edit": scenes.EDIT,
    "trust": scenes.TRUST,
    "continue": p.ContinueQuestion("k1", 50),
    "form": scenes.FORM,
    "url": scenes.URL,
    "sampling": scenes.SAMPLING,
    "login": scenes.LOGIN,
}


@pytest.fixture(autouse=True)
def still_time(monkeypatch):
    """Seconds counted on the screen stand still, and times of day are UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(StatusBar.__init__, "__defaults__", (lambda: 0.0,))


def tag(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_main_screen(size):
    async with opened(scenes.busy_core(), size=size) as d:
        same_as_kept(f"main-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_workbench_without_a_model(size):
    core = scenes.busy_core()
    core.waiting = [
        p.SessionStarted("s", "/srv/x", "read-only", "0.1.0"),
        p.ModelChanged("", "Set HEL_API_KEY."),
    ]
    core.put(*scenes.SERVERS)
    async with opened(core, size=size) as d:
        same_as_kept(f"workbench-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", SIZES, ids=tag)
@pytest.mark.parametrize("name", QUESTIONS)
async def test_decisions(size, name):
    async with opened(scenes.busy_core(), size=size) as d:
        await d.ask(QUESTIONS[name])
        same_as_kept(f"{name}-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("name", ["form", "url", "sampling", "login"])
async def test_what_servers_ask_in_korean(name, monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(scenes.busy_core(), size=(80, 24)) as d:
        await d.ask(QUESTIONS[name])
        same_as_kept(f"{name}-ko-80x24", screen_text(d.app))


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_screen_of_a_failed_server(size):
    async with opened(scenes.busy_core(), size=size) as d:
        weather = d.app.bridge.state.servers["weather"]
        await d.put(replace(weather, since=0.0))
        await d.press("f2", after=1)
        await d.until(lambda: d.app.screen is not d.app.main and d.app.screen.tab is not None)
        await d.pilot.pause(0.05)
        same_as_kept(f"server-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_the_keys_sheet(size):
    async with opened(size=size) as d:
        await d.press("f1")
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.pilot.pause(0.05)
        same_as_kept(f"keys-{tag(size)}", screen_text(d.app))


def offering_core() -> FakeCore:
    core = scenes.busy_core()
    core.resource_rows, core.prompt_rows = scenes.RESOURCES, scenes.PROMPTS
    core.contents = dict(scenes.CONTENTS)
    guide = p.Attachment("notes", "note://guide.md", "Guide", "text/markdown", 2_140, 540)
    core.put(p.ResourcesChanged(1), p.PromptsChanged(1), p.AttachmentsChanged((guide,)))
    return core


@pytest.mark.parametrize("size", SIZES, ids=tag)
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("resources", ("f5",)),
        ("resource", ("f5", "j", "v")),
        ("prompts", ("f7",)),
        ("arguments", ("f7", "enter")),
        ("template", ("f5", "G", "enter")),
    ],
)
async def test_what_servers_offer(size, name, keys):
    async with opened(offering_core(), size=size) as d:
        await d.press(*keys, after=1)
        await d.put(p.ResourceRead("notes", "note://guide.md"))
        await d.pilot.pause(0.1)
        same_as_kept(f"{name}-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", SIZES, ids=tag)
async def test_attachments_and_mentions_around_the_prompt(size):
    async with opened(offering_core(), size=size) as d:
        await d.type("compare @note")
        same_as_kept(f"mention-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", [(80, 24), (60, 20)], ids=tag)
async def test_the_column_comes_back_as_an_overlay(size):
    async with opened(scenes.busy_core(), size=size) as d:
        await d.press("ctrl+b")
        await d.pilot.pause(0.05)
        same_as_kept(f"overlay-{tag(size)}", screen_text(d.app))


@pytest.mark.parametrize("size", [(1, 1), (2, 60), (200, 2), (20, 5), (39, 8)], ids=tag)
async def test_no_size_is_too_small(size):
    async with opened(scenes.busy_core(), size=size) as d:
        await d.ask(scenes.APPROVAL)
        await d.pilot.resize_terminal(120, 40)
        await d.pilot.resize_terminal(*size)
        await d.pilot.resize_terminal(120, 40)
        await d.until(lambda: "MCP call:" in screen_text(d.app))


@pytest.mark.parametrize("size", [(1, 1), (2, 60), (200, 2), (20, 5), (39, 8)], ids=tag)
@pytest.mark.parametrize("name", ["form", "url", "sampling", "login"])
async def test_no_size_is_too_small_for_what_servers_ask(size, name):
    async with opened(scenes.busy_core(), size=size) as d:
        await d.ask(QUESTIONS[name])
        await d.pilot.resize_terminal(120, 40)
        await d.pilot.resize_terminal(*size)
        await d.pilot.resize_terminal(120, 40)
        await d.until(lambda: "▲" in screen_text(d.app, d.app.screen.query_one(".dialog")))
