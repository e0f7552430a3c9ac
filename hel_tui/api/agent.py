"""The agent for scripts and tests: opens a core, runs prompts, answers what it asks by callables.

Not here: what a turn does (core), how a result is gathered (tally).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from hel_tui.api.answering import Answers, Approve, Trust
from hel_tui.api.arguments import check_amount, check_list, check_options, check_prompt
from hel_tui.api.results import NoSession, NotOpen, Result
from hel_tui.api.shape import Shape
from hel_tui.api.turn import Turn
from hel_tui.api.wire import Wire
from hel_tui.core import protocol as p
from hel_tui.core.options import Options

SERVER_WAIT = 60.0
"""Seconds a run waits for servers that are still starting."""


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
        Raises BadArgument.
        """
        check_list("tools", tools)
        check_list("mcp_config", mcp_config)
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
        check_options(self._options)
        self._answers = Answers(approve, trust)
        self._on_event = on_event
        self._wire: Wire | None = None
        self._turns: list[Turn] = []
        """Runs that are not over, in the order of their starts."""

    @property
    def session_id(self) -> str:
        """Id of the session; known shortly after the agent is open, empty before."""
        return self._wire.session_id if self._wire is not None else ""

    # ------------------------------------------------------------------- life

    async def __aenter__(self) -> Agent:
        """Open the core. Raises NoSession when the session to go on with is not there."""
        if self._wire is not None:
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
        self._wire = Wire(self._options, self._answers, self._on_event)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End in order: servers get their time (`END_TIME` of the core at most), nothing is left behind.
        A run that is under way is interrupted; those that had not begun raise NotOpen.
        """
        await self._open().close()
        if tasks := [turn.task for turn in self._turns]:
            await asyncio.gather(*tasks, return_exceptions=True)

    def _open(self) -> Wire:
        if self._wire is None:
            raise NotOpen("use the agent inside `async with`")
        return self._wire

    # ------------------------------------------------------------------- runs

    async def run(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> Result:
        """Answer a prompt and return how that went, whatever the end. One run at a time; others wait.

        With `schema` the answer is JSON that fits it, in `result.data`; asked again a few times where it does
        not. `timeout` in seconds ends the run in order, with status `limit`. Raises BadArgument, BadSchema,
        NoModel, Crashed, and what `approve` or `trust` raised.
        """
        return await self.start(prompt, schema=schema, timeout=timeout)

    def start(
        self, prompt: str, *, schema: Mapping[str, Any] | None = None, timeout: float | None = None
    ) -> Turn:
        """Begin a run, after those begun before, and return at once. `await` it for its result, as `run`
        gives it; `async for event in turn` follows it. Raises BadArgument, BadSchema.
        """
        wire = self._open()
        check_prompt(prompt)
        check_amount("timeout", timeout)
        turn = Turn(wire, prompt, Shape(dict(schema)) if schema is not None else None, timeout)
        self._turns.append(turn)
        turn.task.add_done_callback(lambda _: self._turns.remove(turn))
        return turn

    def interrupt(self) -> None:
        """End the run that is under way; its result comes with status `interrupted`."""
        self._open()
        for turn in self._turns:
            if not turn.task.done():
                turn.interrupt()
                return
