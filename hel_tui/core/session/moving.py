"""From one session to another in a run: a new one, a kept one, a fork, and back to before a turn.

What runs is ended and what waits set aside first; servers stay. Not here: opening what is kept (resuming),
giving files back (rewinding).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.session.answering import Answering
from hel_tui.core.session.by_hand import ByHand
from hel_tui.core.session.drafting import Drafting
from hel_tui.core.session.kept import Opened
from hel_tui.core.session.parts import Emit, Parts
from hel_tui.core.session.resuming import Resuming
from hel_tui.core.session.rewinding import Rewinding, fork_before
from hel_tui.core.session.saving import Saving
from hel_tui.core.session.turns import Turns
from hel_tui.core.session.waiting import command_of
from hel_tui.core.store.sessions.folders import new_id
from hel_tui.core.threads import in_thread

Opening = Coroutine[Any, Any, Opened | str]


class Moving:
    """Which session is open. Lives in the core's loop."""

    def __init__(
        self,
        parts: Parts,
        saving: Saving,
        options: Options,
        emit: Emit,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        *,
        turns: Turns,
        answering: Answering,
        by_hand: ByHand,
        resuming: Resuming,
        rewinding: Rewinding,
        meanwhile: Callable[[Opening], Awaitable[Opened | str | None]],
    ) -> None:
        """`meanwhile` waits for what is opened and hears commands; None where the end came first."""
        self._parts, self._saving, self._options = parts, saving, options
        self._emit, self._spawn = emit, spawn
        self._turns, self._answering, self._by_hand = turns, answering, by_hand
        self._resuming, self._rewinding = resuming, rewinding
        self._meanwhile = meanwhile
        self._drafting = Drafting(saving, parts.redactor, emit, attended=options.answerable)
        turns.queue.back = self._drafting.give_back
        self.id = saving.folder.name
        """Of the session that is open; may be read from any thread."""

    async def obey(self, command: p.Command) -> bool:
        """Carry out a command that opens another session, or is for the one that is; False for any other."""
        match command:
            case p.Draft(text):
                self._drafting.keep(text)
            case p.NewSession():
                await self._renew()
            case p.ResumeSession(session_id):
                await self._go_on(self._resuming.opened(session_id), trust_again=True)
            case p.ForkSession(session_id, turn):
                await self._go_on(self._resuming.forked(session_id, turn))
            case p.Rewind(turn, conversation=True, files=False):
                await self._go_back(turn)
            case _:
                return False
        return True

    def restore(self, opened: Opened) -> None:
        """Put an opened session in the place of this one, in which nothing runs."""
        self.id = opened.kept.folder.name
        self._parts.turn_over(opened.kept.folder)
        self._saving.go_on(opened.kept, opened.lock)
        self._drafting.arrive()
        opened.remarks += self._drafting.lacks(record for _, record in opened.held.waiting)
        self._spawn(self._read_checkpoints())
        self._answering.refused = ""
        self._emit(p.Cleared(self.id, restoring=True))
        self._turns.number = self._resuming.restore(opened)
        self._turns.queue.go_on(
            [
                (number, self._answering.work(command, again=True))
                for number, record in opened.held.waiting
                if (command := command_of(record)) is not None
            ],
            opened.held.last,
        )
        self._parts.agent.measure(self._parts.model.current)
        self._turns.queue.show()
        self._drafting.tell()

    async def _renew(self) -> None:
        """An empty conversation under a new id; servers stay, nothing is loaded."""
        await self._stop_work()
        self._parts.record.write("note", text="ended by a new session")
        self.id = new_id()
        self._parts.turn_over(self._parts.places.session_dir(self.id))
        self._resuming.forget()
        self._answering.refused = ""
        self._emit(p.Cleared(self.id))
        self._turns.queue.show()

    async def _go_on(self, opening: Opening, *, trust_again: bool = False) -> None:
        """A kept session instead of the one that is open; that one stays where the other cannot be had.

        `trust_again`: look at the server files as at the start, and ask about what is not trusted.
        """
        opened = await self._meanwhile(opening)
        if opened is None:
            return
        if isinstance(opened, str):
            self._emit(p.Notice("warning", opened))
            return
        await self._stop_work()
        self._parts.record.write("note", text=f"left for session {opened.kept.folder.name}")
        self.restore(opened)
        if trust_again and self._options.mcp:
            self._spawn(self._parts.servers.look_again(quiet=True))

    async def _go_back(self, turn: int) -> None:
        """Go on in a fork of this session that ends before `turn`."""
        before = self.id
        await self._go_on(fork_before(self._saving.folder, turn))
        if self.id != before:
            self._emit(p.Rewound(turn, conversation=True))
            self._rewinding.tell_again()

    async def _read_checkpoints(self) -> None:
        await in_thread(self._parts.checkpoints.load)

    async def _stop_work(self) -> None:
        """End what runs and set aside what waits, before another session is open."""
        await self._turns.stop()
        await self._by_hand.clear()
        self._turns.forget()
        self._drafting.leave()
