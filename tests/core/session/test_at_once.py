"""Commands that come in one breath: nothing ran between them, and the conversation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.session import Session
from tests.rig import LIMIT, environment


class Talk:
    """A session in this loop, and everything it said."""

    def __init__(self, project: Path, home: Path) -> None:
        self.events: list[p.Event] = []
        self.news = asyncio.Event()
        options = Options(project=project, environ=environment(home), model="demo/walk-through", mcp=False)
        self.session = Session(options, self.hear)

    def hear(self, event: p.Event) -> None:
        self.events.append(event)
        self.news.set()

    def post(self, *commands: p.Command) -> None:
        for command in commands:
            self.session.post(command)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, true: Callable[[], Any]) -> None:
        async with asyncio.timeout(LIMIT):
            while not true():
                self.news.clear()
                await self.news.wait()

    async def ends(self, *reasons: str) -> None:
        await self.until(lambda: len(self.of(p.TurnEnded)) >= len(reasons))
        assert [end.reason for end in self.of(p.TurnEnded)] == list(reasons)


@asynccontextmanager
async def talk(project: Path, home: Path) -> AsyncIterator[Talk]:
    made = Talk(project, home)
    running = asyncio.create_task(made.session.run())
    await made.until(lambda: made.of(p.ModelChanged))
    yield made
    made.post(p.Shutdown())
    await running
    started, ended = made.of(p.TurnStarted), made.of(p.TurnEnded)
    assert [each.turn for each in started] == [each.turn for each in ended]


async def test_an_interrupt_right_behind_a_message_ends_that_turn_and_the_next_one_runs(
    project: Path, tmp_path: Path
) -> None:
    async with talk(project, tmp_path) as one:
        one.post(p.Submit("hello"), p.Interrupt())
        await one.ends("interrupted")
        one.post(p.Submit("hello again"))
        await one.ends("interrupted", "done")


async def test_a_new_session_right_behind_a_message_ends_its_turn_before_it_begins(
    project: Path, tmp_path: Path
) -> None:
    async with talk(project, tmp_path) as one:
        one.post(p.Submit("hello"), p.NewSession())
        await one.until(lambda: one.of(p.Cleared))
        kinds = [type(event) for event in one.events]
        assert kinds.index(p.TurnEnded) < kinds.index(p.Cleared)
        one.post(p.Submit("hello again"))
        await one.ends("interrupted", "done")


async def test_an_interrupt_behind_two_messages_ends_the_first_and_holds_the_second(
    project: Path, tmp_path: Path
) -> None:
    async with talk(project, tmp_path) as one:
        one.post(p.Submit("one"), p.Submit("two"), p.Interrupt())
        await one.ends("interrupted")
        await one.until(lambda: one.of(p.Queued) and one.of(p.Queued)[-1].held)
        assert one.of(p.Queued)[-1].texts == ("two",)
        one.post(p.SendQueue())
        await one.ends("interrupted", "done")
        assert [each.text for each in one.of(p.TurnStarted)] == ["one", "two"]


async def test_a_queued_command_is_taken_back_whole_and_a_call_by_hand_does_not_queue(
    project: Path, tmp_path: Path
) -> None:
    async with talk(project, tmp_path) as one:
        one.post(p.Submit("one"), p.RunShell("ls -l"), p.CallTool("fix.list"), p.Submit("two"))
        await one.until(lambda: one.of(p.Queued) and len(one.of(p.Queued)[-1].texts) == 2)
        assert one.of(p.Queued)[-1].texts == ("!ls -l", "two")
        await one.until(lambda: any(e.tool == "fix.list" for e in one.of(p.CallStarted)))
        one.post(p.NewSession())
        await one.until(lambda: one.of(p.Cleared))
