"""The agent for scripts and tests: opens a core, runs prompts, answers what it asks by callables.

Not here: what a turn does (core), how a result is gathered (tally).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Mapping, Sequence
from contextlib import aclosing
from inspect import isawaitable
from pathlib import Path
from types import TracebackType
from typing import Any

from hel_tui.api.results import Crashed, NoModel, NoSession, NotOpen, Result
from hel_tui.api.shape import NAME, TRIES, Fits, Shape
from hel_tui.api.tally import NOTHING, Tally
from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime

Decision = bool | str | p.ApprovalAnswer
"""Yes or no to a call; a text is a no that the model is told the reason of."""
Approve = Callable[[p.ApprovalQuestion], Decision | Awaitable[Decision]]
"""Asked before each call that needs a person's word."""
Trust = Collection[str] | Callable[[p.ServerClaim], bool | Awaitable[bool]]
"""Which servers of the project may be started in this run: their names, or a callable asked for each."""

SERVER_WAIT = 60.0
"""Seconds a run waits for servers that are still starting."""
NOBODY = "nobody is there to answer"


class Agent:
    """One conversation with a model in one project. Use it with `async with`.

    Without `approve` whatever would ask is refused, and without `trust` only those servers start that were
    approved beforehand (`hel mcp trust`). Callables run in the event loop of the caller; what they raise
    ends the run and comes out of it. Settings, keys and servers are found as `hel run` finds them.
    """

    def __init__(
        self,
        project: str | Path = ".",
        *,
        model: str | None = None,
        base_url: str | None = None,
        fallback_model: str | None = None,
        effort: str | None = None,
        access: p.AccessLevel | None = None,
        tools: Sequence[str] | None = None,
        max_steps: int | None = None,
        max_output: int | None = None,
        max_cost: float | None = None,
        mcp: bool = True,
        mcp_config: Sequence[str | Path] = (),
        resume: str = "",
        approve: Approve | None = None,
        trust: Trust | None = None,
        on_event: Callable[[p.Event], None] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`model` is `PROVIDER/NAME`; `resume` an id, its beginning or `last`; `max_cost` US dollars over all
        runs of this agent; `environ` stands for the environment (keys, HEL_HOME). `on_event` hears all.
        """
        self._options = Options(
            project=Path(project).expanduser().resolve(),
            environ=dict(os.environ if environ is None else environ),
            model=model,
            base_url=base_url,
            fallback_model=fallback_model,
            effort=effort,
            access=access,
            tools=None if tools is None else tuple(tools),
            max_steps=max_steps,
            max_output=max_output,
            max_cost=max_cost,
            mcp=mcp,
            mcp_config=tuple(Path(one).expanduser().resolve() for one in mcp_config),
            resume=resume,
            answerable=approve is not None or trust is not None,
            trust_first=trust is not None,
            server_wait=SERVER_WAIT,
        )
        self._approve = approve
        self._trust = trust
        self._on_event = on_event
        self._runtime: Runtime | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn = asyncio.Lock()
        self._hearers: list[asyncio.Queue[p.Event]] = []
        self._model: asyncio.Future[str] | None = None
        self._stopped = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()
        self._restoring = False
        self._usage = NOTHING
        self._untrusted: set[str] = set()
        self._crash = ""
        self._raised: BaseException | None = None
        """What a callable raised: it ends the run."""
        self.session_id = ""
        """Id of the session; known once the agent is open."""

    # ------------------------------------------------------------------- life

    async def __aenter__(self) -> Agent:
        """Open the core. Raises NoSession when the session to go on with is not there."""
        if self._runtime is not None:
            raise NotOpen("an agent is opened once")
        if not self._options.project.is_dir():
            raise NotOpen(f"{self._options.project} is not a folder")
        if self._options.resume:
            from hel_tui.core.store.places import find_places
            from hel_tui.core.store.sessions.folders import find_session

            found = find_session(
                find_places(self._options.environ), self._options.project, self._options.resume
            )
            if not isinstance(found, Path):
                raise NoSession(found)
        self._loop = asyncio.get_running_loop()
        self._model = self._loop.create_future()
        self._runtime = Runtime(self._options)
        self._runtime.start()
        threading.Thread(target=self._pump, args=(self._runtime, self._loop), daemon=True).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End in order: servers get their time (`END_TIME` of the core at most), nothing is left behind."""
        runtime = self._core()
        await asyncio.shield(asyncio.ensure_future(_in_thread(runtime.stop)))
        await self._stopped.wait()
        for task in self._answering:
            task.cancel()

    def _core(self) -> Runtime:
        if self._runtime is None:
            raise NotOpen("use the agent inside `async with`")
        return self._runtime

    # ------------------------------------------------------------------- runs

    async def run(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> Result:
        """Answer a prompt and return how that went, whatever the end. One run at a time; others wait.

        With `schema` the answer is JSON that fits it, in `result.data`; asked again a few times where it does
        not. `timeout` in seconds ends the run in order, with status `limit`. Raises NoModel, BadSchema,
        Crashed, and what `approve` or `trust` raised.
        """
        return await self.start(prompt, schema=schema, timeout=timeout)

    def start(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> Turn:
        """A run to be followed: `async for event in turn`, then `await turn`. As `run` otherwise."""
        self._core()
        return Turn(self, prompt, Shape(dict(schema)) if schema is not None else None, timeout)

    async def _events(self, message: p.Submit) -> AsyncGenerator[p.Event, None]:
        """The events of one turn, its end last."""
        runtime = self._core()
        heard: asyncio.Queue[p.Event] = asyncio.Queue()
        self._hearers.append(heard)
        over = False
        try:
            runtime.send(message)
            while not over:
                event = await heard.get()
                if isinstance(event, p.CoreFailed | p.Stopped):
                    over = True
                    raise Crashed(self._crash) if self._crash else NotOpen("the agent was closed")
                over = isinstance(event, p.TurnEnded)
                yield event
        finally:
            if not over:  # given up in the middle: the next run must not meet this one
                runtime.send(p.Interrupt(whole=True))
                while not isinstance(await heard.get(), p.TurnEnded | p.Stopped):
                    pass
            self._hearers.remove(heard)

    def interrupt(self) -> None:
        """End the run that is under way; its result comes with status `interrupted`."""
        self._core().send(p.Interrupt(whole=True))

    # ----------------------------------------------------------------- events

    def _pump(self, runtime: Runtime, loop: asyncio.AbstractEventLoop) -> None:
        """Carry events into the caller's loop, until the last one. Runs in a thread of its own."""
        while True:
            runtime.wait(1.0)
            for event in runtime.drain():
                try:
                    loop.call_soon_threadsafe(self._take, event)
                except RuntimeError:  # the loop is closed: nobody is there any more
                    runtime.kill()
                    return
                if isinstance(event, p.Stopped):
                    return

    def _take(self, event: p.Event) -> None:
        match event:
            case p.SessionStarted():
                self.session_id = event.session_id
            case p.Cleared():
                self._restoring, self.session_id = event.restoring, event.session_id
            case p.SessionRestored():
                self._restoring = False
            case p.UsageChanged():
                self._usage = event
            case p.ModelChanged() if self._model is not None and not self._model.done():
                self._model.set_result("" if event.label else event.note or "there is no model")
            case p.ServerChanged():
                put = self._untrusted.add if event.phase == "untrusted" else self._untrusted.discard
                put(event.name)
            case p.Asked():
                task = asyncio.ensure_future(self._answer(event.question))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)
            case p.CoreFailed():
                self._crash = event.report
            case p.Stopped():
                self._stopped.set()
                if self._model is not None and not self._model.done():
                    self._model.set_result(self._crash or "the agent was closed")
        if self._on_event is not None:
            try:
                self._on_event(event)
            except Exception as error:
                self._end_with(error)
        if not self._restoring:
            for hearer in self._hearers:
                hearer.put_nowait(event)

    async def _answer(self, question: p.Question) -> None:
        """Answer a question by the callables; what they raise means no."""
        answer: p.Answer = p.NotAnswered(NOBODY)
        try:
            match question:
                case p.ApprovalQuestion() if self._approve is not None:
                    answer = _decided(await _value(self._approve(question)))
                case p.TrustQuestion() if self._trust is not None:
                    allowed = [claim.name for claim in question.servers if await self._is_trusted(claim)]
                    decision = p.TrustAnswer("once", frozenset(allowed))
                    answer = decision if allowed else p.TrustAnswer("refuse")
        except Exception as error:
            self._end_with(error)
        self._core().send(p.Reply(question.id, answer))

    async def _is_trusted(self, claim: p.ServerClaim) -> bool:
        if callable(self._trust):
            return bool(await _value(self._trust(claim)))
        return claim.name in (self._trust or ())

    def _end_with(self, error: BaseException) -> None:
        """A callable raised: the run ends, and the error comes out of it."""
        self._raised = self._raised or error
        self._core().send(p.Interrupt(whole=True))


class Turn:
    """One run. `await` it for its result; iterate over it for its events first, if wanted."""

    def __init__(self, agent: Agent, prompt: str, shape: Shape | None, timeout: float | None) -> None:
        self._agent = agent
        self._prompt = prompt
        self._shape = shape
        self._timeout = timeout
        self._timed_out = False
        self._result: Result | None = None
        self._begun = False

    def __await__(self) -> Generator[Any, None, Result]:
        return self._whole().__await__()

    async def _whole(self) -> Result:
        if not self._begun:
            async for _ in self:
                pass
        if self._result is None:
            raise NotOpen("the run was left before its end")
        return self._result

    async def __aiter__(self) -> AsyncGenerator[p.Event, None]:
        """The events of the run, as they come. Once."""
        if self._begun:
            raise NotOpen("a run is gone through once")
        self._begun = True
        agent = self._agent
        async with agent._turn:
            if agent._model is not None and (note := await asyncio.shield(agent._model)):
                raise Crashed(note) if agent._crash else NoModel(note)
            tally = Tally(agent._core().call, agent._usage)
            loop = asyncio.get_running_loop()
            clock = loop.call_later(self._timeout, self._time_is_up) if self._timeout is not None else None
            try:
                async with aclosing(self._shaped(tally)) as events:  # it ends before the next run begins
                    async for event in events:
                        yield event
            finally:
                if clock is not None:
                    clock.cancel()
            raised, agent._raised = agent._raised, None
            if raised is not None:
                raise raised

    async def _shaped(self, tally: Tally) -> AsyncGenerator[p.Event, None]:
        """The turns of the run: one, or some more until an answer fits."""
        agent, shape = self._agent, self._shape
        asked = p.Submit(self._prompt)
        if shape is not None:
            asked = p.Submit(self._prompt, behind=shape.instruction(), names=(NAME,))
        for attempt in range(1, TRIES + 1):
            async with aclosing(agent._events(asked)) as events:
                async for event in events:
                    tally.take(event)
                    yield event
            tally.untrusted = len(agent._untrusted)
            if self._timed_out and tally.ended is not None and tally.ended.reason == "interrupted":
                message = f"Stopped after {self._timeout:g} seconds, the time limit."
                self._result = tally.result(status="limit", message=message)
                return
            self._result = tally.result()
            if shape is None or tally.ended is None or tally.ended.reason != "done":
                return
            found = shape.look(tally.text)
            if isinstance(found, Fits):
                self._result = tally.result(data=found.data)
                return
            self._result = tally.result(status="failed", message=shape.gave_up(found, attempt))
            asked = p.Submit("", behind=shape.again(found), names=(NAME,))
            tally.text = ""  # an answer that was found wanting is not looked at twice

    def _time_is_up(self) -> None:
        self._timed_out = True
        self._agent.interrupt()


def _decided(said: Decision) -> p.Answer:
    if isinstance(said, str):
        return p.ApprovalAnswer("deny", comment=said)
    if isinstance(said, bool):
        return p.ApprovalAnswer("once" if said else "deny")
    return said


async def _value(said: Any) -> Any:
    return await said if isawaitable(said) else said


async def _in_thread(work: Callable[[], object]) -> None:
    """Run blocking work in a thread of its own: the loop's pool may be somebody else's."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def run() -> None:
        try:
            work()
        finally:
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, daemon=True).start()
    await done.wait()
