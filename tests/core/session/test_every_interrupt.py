"""Turns cancelled at each point at which they wait: what is left is always whole.

Each await of a turn and of the tasks it starts is counted; the n-th one cancels it, for every n until a turn
comes to its end. The same session goes on meanwhile, so that whatever one leaves behind the next would meet.
"""

from __future__ import annotations

import asyncio
import contextvars
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.conversation import Session
from hel_tui.core.session.kept import Opened, open_session
from hel_tui.core.store.sessions.reading import read_session
from hel_tui.core.vocabulary import AssistantMessage, Message, ToolMessage, UserMessage
from hel_tui.tui.reducing import reduce
from hel_tui.tui.state import AnswerItem, CallItem, ViewState
from tests.core.session.test_compaction import is_request_for_summary, window
from tests.core.session.test_tasks import is_task
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, fail, say
from tests.rig import LIMIT, options, servers_file

Json = dict[str, Any]
ECHO = "mcp__fix__echo"
OVER = ("ok", "failed", "refused", "cancelled")
NEXT = "And now?"
COMMAND = "echo hi > b.txt"
PAUSE = 0.001
"""Seconds between the pieces of an answer, so that each is waited for."""
TURNS = {"Turns._run"}
BESIDE = {
    "Connection.drain.<locals>.drain",
    "LocalLife.look_for_helpers",
    "Shared._after",
    "_settle",
    "in_thread",
}
"""What a turn may leave to end by itself: the rest of a response, looks at processes and files, writing."""

_of_turn: contextvars.ContextVar[bool] = contextvars.ContextVar("of_turn", default=False)


# ------------------------------------------------------------------ counting


@dataclass
class Cutter:
    """Counts at how many points a turn waits, and does `act` at the one of number `at`."""

    act: Callable[[], object] = lambda: None
    at: int = 0
    count: int = 0
    turn: asyncio.Task[Any] | None = None
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    def arm(self, at: int, act: Callable[[], object]) -> None:
        """Begin to count: a turn comes."""
        self.at, self.act, self.count, self.turn = at, act, 0, None
        self.tasks.clear()

    def made(self, loop: asyncio.AbstractEventLoop, coro: Any, context: Any = None, **_: Any) -> Any:
        """A task factory: tasks of a turn, and those that they start, are counted."""
        is_turn = getattr(coro, "__qualname__", "") in TURNS
        if not is_turn and not _of_turn.get():
            return asyncio.Task(coro, loop=loop, context=context)
        if is_turn:
            context = contextvars.copy_context()
            context.run(_of_turn.set, True)
        task: asyncio.Task[Any] = asyncio.Task(
            self._counted(coro), loop=loop, context=context, name=getattr(coro, "__qualname__", "")
        )
        task.add_done_callback(lambda _: coro.close())  # it may have been cancelled before it began
        self.tasks.append(task)
        if is_turn:
            self.turn = task
        return task

    def left(self) -> list[asyncio.Task[Any]]:
        """What still runs of it."""
        return [task for task in self.tasks if not task.done() and task.get_name() not in BESIDE]

    async def _counted(self, coro: Coroutine[Any, Any, Any]) -> Any:
        return await _stepped(coro, self._waits)

    def _waits(self) -> None:
        self.count += 1
        if self.count == self.at:
            self.act()


@types.coroutine
def _stepped(coro: Coroutine[Any, Any, Any], waits: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Run `coro` and call `waits` each time before it waits."""
    thrown: BaseException | None = None
    while True:
        try:
            awaited = coro.send(None) if thrown is None else coro.throw(thrown)
        except StopIteration as end:
            return end.value
        waits()
        thrown = None
        try:
            yield awaited
        except BaseException as error:
            thrown = error


# ---------------------------------------------------------------- the session


class Play:
    """A session in this loop, what it said, and a person who approves everything."""

    def __init__(self, session: Session, cutter: Cutter) -> None:
        self.session, self.cutter = session, cutter
        self.events: list[p.Event] = []
        self.state = ViewState()
        self._heard = asyncio.Event()

    def hear(self, event: p.Event) -> None:
        self.events.append(event)
        reduce(self.state, [event])
        self._heard.set()
        if isinstance(event, p.Asked) and isinstance(event.question, p.ApprovalQuestion):
            self.session.post(p.Reply(event.question.id, p.ApprovalAnswer("once")))

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait until `found` says something true; returns what it said."""
        async with asyncio.timeout(LIMIT):
            while not (answer := found()):
                self._heard.clear()
                await self._heard.wait()
        return answer

    def ends(self) -> list[p.TurnEnded]:
        return [event for event in self.events if isinstance(event, p.TurnEnded)]

    async def end_of(self, command: p.Command) -> p.TurnEnded:
        before = len(self.ends())
        self.session.post(command)
        return (await self.until(lambda: self.ends()[before:]))[0]

    async def renew(self) -> None:
        """An empty conversation."""
        before = self.state.session_id
        self.session.post(p.NewSession())
        await self.until(lambda: self.state.session_id != before)
        self.events.clear()

    @property
    def history(self) -> list[Message]:
        return list(self.session._parts.agent.history)

    @property
    def folder(self) -> Path:
        return self.session._saving.folder


def script(body: Json) -> Json:
    """A model that thinks, talks, makes three calls, loads a tool, and goes on in a second step and a third."""
    if is_task(body):
        return (
            say("a task's answer", pause=PAUSE)
            if _has_results(body)
            else call("glob", {"pattern": "*"}, id="t1")
        )
    messages = body["messages"]
    if messages[-1]["role"] == "user":
        if NEXT in str(messages[-1]["content"]):
            return say("fine")
        return calls(
            call("read_file", {"path": "config.ini"}, id="a"),
            call("task", {"prompt": "look around"}, id="b"),
            call("write_file", {"path": "new.txt", "content": "new\n"}, id="c"),
            call("load_mcp_tool", {"names": [ECHO]}, id="d"),
            text="Here I go.",
            reasoning="Let me think.",
            pause=PAUSE,
        )
    if messages[-1].get("tool_call_id") == "d":
        return calls(
            call(ECHO, {"text": "x"}, id="e"),
            call("bash", {"command": COMMAND}, id="f"),
            text="On.",
            pause=PAUSE,
        )
    return say("All done.")


def _has_results(body: Json) -> bool:
    return body["messages"][-1]["role"] == "tool"


@asynccontextmanager
async def playing(
    project: Path,
    tmp_path: Path,
    model: ScriptedModel,
    answer: Callable[[Json], Json],
    *,
    server: bool = True,
) -> AsyncIterator[Play]:
    """A session over a model that answers by `answer`."""
    model.replies[:] = [answer] * 100_000
    named = (servers_file(tmp_path, fix="wire:ok"),) if server else ()
    cutter = Cutter()
    plays: list[Play] = []
    made = options(project, tmp_path, model.url, mcp_config=named, server_wait=LIMIT, answerable=True)
    session = Session(made, lambda event: plays[0].hear(event))
    plays.append(play := Play(session, cutter))
    asyncio.get_running_loop().set_task_factory(cutter.made)
    life = asyncio.ensure_future(session.run())
    try:
        if server:
            await play.until(
                lambda: "fix" in play.state.servers and play.state.servers["fix"].phase == "ready"
            )
        yield play
    finally:
        session.post(p.Shutdown())
        await asyncio.wait_for(life, LIMIT)


Act = Callable[[Play], None]


# ------------------------------------------------------------- what must hold


def broken(history: Sequence[Message]) -> str:
    """Why a strict provider would refuse this history as it is."""
    waiting: list[str] = []
    for number, message in enumerate(history):
        if isinstance(message, ToolMessage):
            if not waiting or waiting.pop(0) != message.call_id:
                return f"message {number}: a result without a call, or out of order"
            continue
        if waiting:
            return f"message {number}: {waiting[0]} has no result before it"
        if isinstance(message, AssistantMessage):
            if not message.text.strip() and not message.calls:
                return f"message {number}: empty"
            waiting = [one.id for one in message.calls]
    return f"{waiting[0]} has no result" if waiting else ""


def running(state: ViewState) -> list[str]:
    """What a screen would show as going on."""
    left = [
        name for name in ("busy", "retrying", "compacting", "questions", "queued") if getattr(state, name)
    ]
    left += [one.key for one in state.items if isinstance(one, CallItem) and one.state not in OVER]
    left += [one.key for one in state.items if isinstance(one, AnswerItem) and not one.done]
    return left


def told_otherwise(play: Play) -> list[str]:
    """Calls that the screen shows to have gone well and the model does not, or the other way round."""
    results = {one.call_id: one for one in play.history if isinstance(one, ToolMessage)}
    cards = {one.key: one.state for one in play.state.items if isinstance(one, CallItem)}
    assert set(results) <= set(cards)
    return [name for name, one in results.items() if one.failed == (cards[name] == "ok")]


def runs(command: str) -> bool:
    """Whether a process of ours has this word."""
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if command in child.cmdline():
                return True
    return False


def plain(messages: Sequence[Message]) -> list[Message]:
    return [
        replace(one, images=()) if isinstance(one, UserMessage | ToolMessage) else one for one in messages
    ]


def check(play: Play, children: set[int], where: str) -> None:
    """All that must hold once a turn is over, however it ended."""
    assert not broken(play.history), f"{where}: {broken(play.history)}"
    assert plain(read_session(play.folder).messages) == plain(play.history), where
    assert not running(play.state), f"{where}: {running(play.state)}"
    assert not told_otherwise(play), f"{where}: {told_otherwise(play)}"
    for card in [one for one in play.state.items if isinstance(one, CallItem) and one.tool == "task"]:
        if (window := play.session.task(card.key, 0)) is not None:
            nested = ViewState()
            reduce(nested, window.events)
            assert not running(nested), f"{where}, in the task: {running(nested)}"
    assert not play.cutter.left(), f"{where}: {play.cutter.left()}"
    left = [one for one in psutil.Process().children(recursive=True) if one.pid not in children]
    assert not left, f"{where}: {left} {[one.cmdline() for one in left]}"


async def cut_everywhere(
    play: Play, begin: Callable[[], Coroutine[Any, Any, None]], command: p.Command, act: Act
) -> list[str]:
    """Make the turn of `command` again and again, each time cut at the next point; returns how each ended."""
    ends: list[str] = []
    await begin()
    assert (await play.end_of(command)).reason == "done"  # whatever is made once is there now
    for at in range(1, 5_000):
        await play.renew()
        await begin()
        children = {one.pid for one in psutil.Process().children(recursive=True)}
        play.cutter.arm(at, lambda: act(play))
        end = await play.end_of(command)
        reached = play.cutter.count >= at
        play.cutter.at = 0
        await asyncio.sleep(0)
        check(play, children, f"cut at {at}")
        assert (await play.end_of(p.Submit(NEXT))).reason == "done", f"after a cut at {at}"
        assert play.history[-1].text == "fine"
        check(play, children, f"the turn after a cut at {at}")
        if not reached:
            assert end.reason == "done"
            return ends
        ends.append(end.reason)
    raise AssertionError("the turn has no end")


async def nothing() -> None:
    """No need to prepare anything."""


def _whole(play: Play) -> None:
    """Cancel the turn there and then."""
    assert play.cutter.turn is not None
    play.cutter.turn.cancel()


def _again_and_again(play: Play) -> None:
    """Cancel it, and each time that it waits for something on its way out."""
    play.cutter.at += 1
    _whole(play)


def _what_runs(play: Play) -> None:
    """What Esc does: cancel the calls that run, or the turn."""
    play.session.post(p.Interrupt())


ACTS = [
    pytest.param(_whole, id="the turn"),
    pytest.param(_again_and_again, id="the turn, again and again"),
    pytest.param(_what_runs, id="what runs"),
]


@pytest.mark.parametrize("act", ACTS)
async def test_a_turn_cut_anywhere_leaves_a_whole_conversation(
    project: Path, tmp_path: Path, model: ScriptedModel, act: Act
) -> None:
    async with playing(project, tmp_path, model, script) as play:
        ends = await cut_everywhere(play, nothing, p.Submit("Go."), act)
    assert len(ends) > 60


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("command", [p.Submit("Go."), p.Compact("")], ids=["before an answer", "by hand"])
async def test_a_summary_and_tries_cut_anywhere_leave_a_whole_conversation(
    project: Path,
    tmp_path: Path,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    act: Act,
    command: p.Command,
) -> None:
    monkeypatch.setattr("hel_tui.core.models.client.FIRST_DELAY", 0.001)
    window(tmp_path, 8192)
    tried: set[str] = set()

    def answer(body: Json) -> Json:
        """Each request of a kind is turned away once."""
        kind = "summary" if is_request_for_summary(body) else "answer"
        if NEXT not in str(body["messages"][-1]["content"]) and kind not in tried:
            tried.add(kind)
            return fail(429, "slow down")
        text = "fine" if kind == "answer" else "## What the person wants\nA port."
        return say(text, reasoning="Let me see.", pause=PAUSE)

    async with playing(project, tmp_path, model, answer, server=False) as play:

        async def begin() -> None:
            tried.clear()
            history = play.session._parts.agent.history
            for number in range(6):
                history.append(UserMessage(f"{number}: {'word ' * 800}"))
                history.append(AssistantMessage(f"Yes, {number}."))

        ends = await cut_everywhere(play, begin, command, act)
    assert len(ends) > 10


async def test_hel_ended_anywhere_in_a_turn_leaves_a_session_to_go_on_with(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    for at in range(1, 5_000):
        (project / "new.txt").unlink(missing_ok=True)
        async with playing(project, tmp_path, model, script, server=False) as play:
            play.cutter.arm(at, lambda: play.session.post(p.Shutdown()))
            play.session.post(p.Submit("Go."))
            await play.until(play.ends)
            ended = play.ends()[0].reason
        assert not running(play.state), f"{at}: {running(play.state)}"
        assert not broken(play.history), f"{at}: {broken(play.history)}"
        assert play.cutter.tasks and not play.cutter.left(), f"{at}: {play.cutter.left()}"
        assert not runs(COMMAND), at
        opened = open_session(play.folder)
        assert isinstance(opened, Opened)
        opened.lock.release()
        assert plain([*opened.kept.messages, *opened.messages]) == plain(play.history), at
        assert not opened.ending and not opened.calls, f"{at}: {opened.ending}"
        if ended == "done":
            break
    assert at > 40
