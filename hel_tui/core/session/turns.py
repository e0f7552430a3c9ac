"""The turns of a session: one at a time, numbered, each with an end that is told, then the next.

Not here: what a turn does (answering), what waits (queue).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.core.agent.ledger import recorded
from hel_tui.core.agent.turn import Ending
from hel_tui.core.session.answering import NOTHING_SENT
from hel_tui.core.session.offerings import Message
from hel_tui.core.session.parts import Emit, Parts
from hel_tui.core.session.queue import Work, WorkQueue
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json, UserMessage
from hel_tui.core.vocabulary import Message as ChatMessage

HOLDING = frozenset({"interrupted", "failed", "limit"})
"""Ends of a turn after which nothing that waits is sent by itself."""


class Turns:
    """Those of one run. Lives in the core's loop."""

    def __init__(
        self,
        parts: Parts,
        emit: Emit,
        out: Emit,
        bug: Callable[[Exception], str],
        *,
        keep: Callable[[Json], object],
        attended: bool,
    ) -> None:
        """`emit` keeps what it tells, `out` does not; `bug` makes a sentence of a fault of our own; `keep`
        writes a line into the session's file. `attended`: somebody is there.
        """
        self._parts = parts
        self._emit = emit
        self._out = out
        self._bug = bug
        self._attended = attended
        self.queue = WorkQueue(emit, keep if attended else _unkept)
        self.number = 0
        """Of the last turn that began."""
        self._running: asyncio.Task[Ending] | None = None
        self._entered = False
        """The work of the turn that runs has begun."""
        self._closing = False
        self._tell_turn: Emit = emit
        """Tells of the turn that runs: kept, or where it is to leave nothing, only told."""
        self._joined: list[tuple[Work, tuple[ChatMessage, ...]]] = []
        """What was said into the turn that runs, with the messages it became."""
        self._untold: list[UserMessage] = []
        """What the model is to know once no turn runs."""
        parts.agent.join = self.join
        parts.model.is_busy = self.busy

    def busy(self) -> bool:
        """Whether a turn runs."""
        return self._running is not None

    def enqueue(self, work: Work) -> None:
        """Do it when its turn comes, now where nothing runs."""
        self.queue.add(work)
        self._next()
        self.queue.show()

    def release(self) -> None:
        """Go on with what is held."""
        self.queue.release()
        self._next()
        self.queue.show()

    def interrupt(self) -> None:
        """End the turn that runs."""
        if self._running is not None:
            self._running.cancel()

    def close(self) -> list[asyncio.Task[Ending]]:
        """The session ends: nothing that waits begins. Returns the task of the turn that runs, to end it."""
        self._closing = True
        self.queue.close()
        return [self._running] if self._running is not None else []

    async def stop(self) -> None:
        """End what runs and set aside what waits, before another session is open."""
        self.queue.set_aside()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
            await asyncio.sleep(0)  # its end is told before the new session begins
            await in_thread(self._parts.checkpoints.settle)  # of this session, not of the next one

    def forget(self) -> None:
        """Another session is open: its model is told nothing of this one."""
        self._untold.clear()

    def _next(self) -> None:
        """Begin the oldest work that waits, unless a turn runs. Its end is told even if it never ran."""
        if self._running is not None or (work := self.queue.next()) is None:
            return
        self.number += 1
        self._parts.checkpoints.turn = self.number
        turn, began = self.number, time.monotonic()
        started = p.TurnStarted(turn, work.spoken, work.attached)
        if self._attended:
            self._emit(started)
            run = self._run(work, turn)
        else:
            self._tell_turn = self._out
            run = self._unattended(started, work)
        self._entered = False
        self._joined.clear()
        task = self._running = asyncio.ensure_future(run)
        task.add_done_callback(lambda done: self._over(work, turn, began, done))

    async def _run(self, work: Work, turn: int) -> Ending:
        self._entered = True
        return await work.run(turn)

    async def _unattended(self, started: p.TurnStarted, work: Work) -> Ending:
        """A turn where nobody is there to choose a model: without one nothing of it is kept."""
        if await self._parts.model.settled() is not None:
            self._tell_turn = self._emit
        self._tell_turn(started)
        return await self._run(work, started.turn)

    def _over(self, work: Work, turn: int, began: float, done: asyncio.Task[Ending]) -> None:
        """The turn is over, however: say so, and go on with what waits."""
        self._running = None
        if done.cancelled() and not self._entered:
            work.drop()
            ending = Ending("interrupted", NOTHING_SENT, unsent=bool(work.spoken))
        elif done.cancelled():
            ending = Ending("interrupted", "Interrupted. What arrived so far is kept.")
        elif isinstance(error := done.exception(), Exception):
            ending = Ending("failed", self._bug(error))
        else:
            ending = done.result()
        self._parts.record.write("turn", turn=turn, reason=ending.reason, message=ending.message)
        self._parts.model.turn_over()
        if ending.reason in HOLDING:
            self._take_back_joined()
        seconds = time.monotonic() - began
        if self._closing and ending.unsent:  # nobody reads it in the prompt any more
            self.queue.close(work, turn)
        elif ending.unsent:
            self.queue.back(work.spoken)
        self._tell_turn(p.TurnEnded(turn, ending.reason, ending.message, seconds, ending.unsent))
        self._tell_turn = self._emit
        for message in self._untold:
            self.tell(message)
        self._untold.clear()
        if self.queue.goes_on and ending.reason in HOLDING:
            self.queue.hold()
        elif self.queue.goes_on:
            self._next()
            self.queue.show()

    async def join(self, turn: int) -> None:
        """Let messages that wait go into the turn that runs."""

        def say(work: Work, message: Message) -> None:
            self._emit(p.Joined(turn, work.spoken, work.attached))
            messages = (*message.before, UserMessage(message.text, message.images))
            for one in messages:
                self._parts.agent.history.append(one)
            self._joined.append((work, messages))
            self._parts.record.write("user", turn=turn, text=message.text, **recorded(message.images))

        await self.queue.join(say)

    def _take_back_joined(self) -> None:
        """Hold what was said into the turn and came to no answer: what is refused must not stay in the
        conversation. It is held in the file before it is withdrawn there.
        """
        history, joined = self._parts.agent.history, self._joined
        end, first = len(history), len(joined)
        while first and tuple(history[end - len(joined[first - 1][1]) : end]) == joined[first - 1][1]:
            first -= 1
            end -= len(joined[first][1])
        if back := joined[first:]:
            self.queue.hold_again([work for work, _ in back], self.number)
            for _, messages in reversed(back):
                history.withdraw(messages[:-1])
            self.queue.show()
        joined.clear()

    def tell(self, message: UserMessage) -> None:
        """Let the model know, with the next message of the person; while a turn runs, after it."""
        if self._running is not None:
            self._untold.append(message)
            self._parts.agent.history.announce(message)
            return
        self._parts.agent.history.append(message)
        self._parts.record.write("user", turn=self.number, text=message.text, **recorded(message.images))
        self._parts.agent.measure(self._parts.model.current)


def _unkept(_record: Json) -> None:
    """Nobody is there who would find it."""
