"""Foreign text in every place that shows it: no escape reaches the terminal, no bracket is markup."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from tests.tui.driving import opened
from tests.tui.fake_core import FakeCore, FakeLog
from tests.tui.screen_text import screen_text

EVIL = [
    "\x1b]0;owned\x07\x1b[2J",
    "\x1b]52;c;ZXZpbA==\x1b\\",
    "\x9b2J\x9d0;x\x9c\x07\x08\x0e",
    "[/] [red]x[/red] [@click=app.quit]go[/] [link=http://",
    "[x: /y-] [tag=value: [/some/path]",
    "\x1b[31",
    "a\u202eb\u200bc\u2066d",
]


def hostile_core(evil: str) -> FakeCore:
    core = FakeCore(
        rows=(
            p.ToolRow(evil, evil, "mcp__x__y", evil, 3, False, evil),
            p.ToolRow("s", evil, "mcp__s", evil, 3, True),
        )
    )
    core.logs[evil] = FakeLog([evil, evil * 50])
    core.failures[evil] = p.ServerFailure(
        evil, "spawn", evil, evil, evil, evil, (evil,), evil, (evil,), (evil,)
    )
    core.put(
        p.SessionStarted("s", "/x/" + evil, "confirm", "1"),
        p.ModelChanged(evil, evil),
        p.ServerChanged(evil, "failed", reason=evil, scope=evil, protocol=evil),
        p.ToolsChanged(1, 1, 2, 6),
        p.TurnStarted(1, evil),
        p.TextDelta(1, "a", evil),
        p.CallStarted(1, "c", evil, evil, evil),
        p.CallChanged("c", "failed", 1.0, evil, 1),
        p.Queued((evil, evil)),
        p.Notice("error", evil, evil),
        p.Retrying(1, 1, 2, 1.0, evil),
    )
    return core


def harmless(text: str) -> bool:
    return not any((ord(c) < 0x20 and c != "\n") or 0x7F <= ord(c) <= 0x9F for c in text)


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_every_pane_draws_hostile_text_harmlessly(evil, size):
    async with opened(hostile_core(evil), size=size) as d:
        await d.pilot.pause(0.05)
        assert harmless(screen_text(d.app))
        await d.press("f2", "enter", after=1)
        await d.until(lambda: d.app.screen is not d.app.main)
        assert harmless(screen_text(d.app))
        await d.press("escape", after=1)
        await d.press("f4", after=1)
        assert harmless(screen_text(d.app))


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
async def test_decisions_show_hostile_text_as_text(evil):
    approval = p.ApprovalQuestion(
        "q1", "c", evil, evil, evil, evil, evil, (evil,), (evil,), session_rule=evil, project_rule=evil
    )
    claim = p.ServerClaim(evil, evil, evil, evil, evil, evil, ((evil, evil),), (evil,), evil, (evil,))
    async with opened() as d:
        await d.ask(approval)
        assert harmless(screen_text(d.app))
        await d.decide("escape")
        await d.ask(p.TrustQuestion("t1", evil, (claim,)))
        assert harmless(screen_text(d.app))


def asked(evil: str) -> list[p.Question]:
    """What servers may ask for, all of it hostile."""
    options = ((evil, evil), ("b", evil))
    kinds: tuple[p.FieldKind, ...] = ("text", "uri", "integer", "boolean", "choice", "choices")
    fields = tuple(
        p.FormField(
            evil + kind, kind, evil, evil, True, evil, options if "choice" in kind else (), pattern="^x$"
        )
        for kind in kinds
    )
    return [
        p.FormQuestion("f", evil, evil, fields, evil),
        p.UrlQuestion("u", evil, evil, "https://x/" + evil, evil, (evil,), evil),
        p.SamplingQuestion("m", evil, "request", evil, evil, evil, 3, (evil,), evil, evil),
        p.LoginQuestion("l", evil, "https://x/" + evil, evil, evil, (evil,), (evil,)),
    ]


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
@pytest.mark.parametrize("kind", range(4), ids=["form", "url", "sampling", "login"])
async def test_what_servers_ask_for_is_drawn_as_text(evil, kind):
    async with opened(size=(80, 24)) as d:
        await d.ask(asked(evil)[kind])
        for key in ("tab", "ctrl+s", "escape", "end", "pagedown"):
            assert harmless(screen_text(d.app))
            await d.press(key, after=1)
            d.clock.now += 1
            await d.pilot.pause(0.04)
        assert harmless(screen_text(d.app))


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
async def test_what_servers_list_is_drawn_as_text(evil):
    core = hostile_core("srv")
    fields = (p.FormField(evil, "text", evil, evil, True, completes=True),)
    core.prompt_rows = (p.PromptRow(evil, evil, f"mcp__{evil}__x", evil, evil, fields),)
    core.resource_rows = (
        p.ResourceRow("srv", evil, evil, evil, evil, 3),
        p.ResourceRow("srv", evil + "{x}", evil, evil, evil, 3, True, (evil,)),
    )
    core.contents = {
        ("srv", evil): (
            p.ResourceContent(evil, "text/markdown", evil, 3),
            p.ResourceContent(evil, evil, "", 3, evil, evil),
        )
    }
    core.put(
        p.ServerChanged("srv", "ready", offers=("resources", "prompts", "completions", evil)),
        p.ResourcesChanged(1),
        p.PromptsChanged(1),
        p.AttachmentsChanged((p.Attachment(evil, evil, evil, evil, 3, 3),)),
        p.ResourceUpdated(evil, evil),
        p.LoginStep(evil, evil, "failed"),
        p.TurnStarted(2, evil, (evil,)),
    )
    async with opened(core, size=(80, 24)) as d:
        for keys in (
            ("f5",),
            ("v",),
            ("escape",),
            ("G", "enter"),
            ("escape", "escape", "escape"),
            ("f7",),
            ("enter",),
        ):
            await d.press(*keys, after=1)
            await d.put(p.ResourceRead("srv", evil))
            for asked in d.core.sent(p.CompleteArgument):
                await d.put(p.Completed(asked.request, (evil, "x"), 2))
            await d.pilot.pause(0.05)
            assert harmless(screen_text(d.app))
        await d.put(p.ResourceRead("srv", evil, problem=evil))
    async with opened(core, size=(80, 24)) as d:
        core.put(
            p.ServerChanged("srv", "ready", offers=("resources",)), p.ResourcesChanged(1), p.PromptsChanged(1)
        )
        await d.type("/m")
        await d.pilot.pause(0.05)
        assert harmless(screen_text(d.app))
        await d.press("ctrl+u", after=1)
        await d.type(" @s")
        await d.press("tab", after=1)
        assert harmless(screen_text(d.app))


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
async def test_the_palette_and_the_completion_take_hostile_names(evil):
    async with opened(hostile_core(evil)) as d:
        await d.type("/load ")
        assert harmless(screen_text(d.app))
        await d.press("ctrl+p", after=1)
        await d.until(lambda: d.app.screen is not d.app.main)
        await d.type("restart")
        await d.pilot.pause(0.2)
        assert harmless(screen_text(d.app))


@pytest.mark.parametrize("evil", ["[/", "[red", "[@click=x]", "\\[", "[/]"])
async def test_brackets_can_be_typed_everywhere(evil):
    async with opened(hostile_core("[/]")) as d:
        await d.type(evil)
        assert d.app.main.prompt.text == evil
        await d.press("f4", "slash", after=1)
        await d.type(evil)
        await d.press("enter", after=1)
        await d.pilot.pause(0.05)
        assert harmless(screen_text(d.app))
