"""A session: takes commands, has one conversation open at a time, and ends in order.

Not here: its turns (turns), what they do (answering, agent), going to another one (moving), servers' life
(mcp), the thread (runtime).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from hel_tui import __version__
from hel_tui.core import protocol as p
from hel_tui.core.agent.calls import PERSON
from hel_tui.core.context.instructions import project_instructions
from hel_tui.core.context.prompt import system_prompt
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.sleep import watch_sleep
from hel_tui.core.options import Options
from hel_tui.core.session.answering import Answering
from hel_tui.core.session.assembling import assemble
from hel_tui.core.session.by_hand import ByHand
from hel_tui.core.session.inbox import Inbox
from hel_tui.core.session.kept import Opened
from hel_tui.core.session.leftovers import offer_leftovers, sweep
from hel_tui.core.session.moving import Moving
from hel_tui.core.session.parts import Emit
from hel_tui.core.session.reads import Reads
from hel_tui.core.session.resuming import Resuming
from hel_tui.core.session.rewinding import Rewinding
from hel_tui.core.session.saving import Saving
from hel_tui.core.session.server_commands import ServerCommands
from hel_tui.core.session.turns import Turns
from hel_tui.core.store.memory import remember
from hel_tui.core.store.places import find_places
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.sessions.folders import new_id
from hel_tui.core.threads import in_thread

SAVE_AGAIN = 2.0
"""Seconds between tries to write what could not be written."""
GOODBYE = "hel is closing"
SAVE_TIME = 2.0
"""Seconds the end waits for what the person approved or chose to be written."""
SETTLE_TIME = 3.0
"""Seconds the end waits for what a command that was cut off changed to be found out."""


class Session(Reads):
    """One conversation. Created and run in the core's loop; reading methods are safe from any thread."""

    def __init__(self, options: Options, out: Emit) -> None:
        self._options = options
        places = find_places(options.environ)
        redactor = Redactor(secrets_in(options.environ))
        session_id = new_id()
        self._saving = Saving(places.session_dir(session_id), options.project, redactor, out)
        self._emit = emit = self._saving.emit
        self._inbox = Inbox()
        self._tasks: set[asyncio.Task[None]] = set()
        self._instructions = ""
        self._parts = assemble(
            options,
            session_id,
            self._from_host,
            self._prompt,
            self._spawn,
            places=places,
            redactor=redactor,
            saving=self._saving,
        )
        self._resuming = Resuming(
            self._parts,
            self._saving,
            options.project,
            out=out,
            spawn=self._spawn,
            settled=lambda: self._parts.servers.settled(options.server_wait),
        )
        self._answering = Answering(self._parts, options, emit, self._resuming.load_again)
        self._turns = Turns(
            self._parts,
            emit,
            out,
            self._bug,
            keep=self._saving.add,
            attended=options.answerable,
        )
        self._by_hand = ByHand(
            self._parts.caller, self._parts.ledger, emit, ready=self._not_yet, tell=self._turns.tell
        )
        self._server_commands = ServerCommands(self._parts, options.project, emit, self._spawn)
        self._rewinding = Rewinding(
            self._parts.checkpoints, self._parts.desk, emit, self._turns.tell, self._turns.busy
        )
        self._moving = Moving(
            self._parts,
            self._saving,
            options,
            emit,
            self._spawn,
            turns=self._turns,
            answering=self._answering,
            by_hand=self._by_hand,
            resuming=self._resuming,
            rewinding=self._rewinding,
            meanwhile=lambda opening: self._inbox.meanwhile(opening, self._at_once),
        )

    # ------------------------------------------------------------------- life

    async def run(self) -> None:
        """Until `Shutdown` was carried out."""
        opened: Opened | str | None = None
        if self._options.resume:
            wanted = self._resuming.opened(self._options.resume)
            opened = await self._inbox.meanwhile(wanted, self._at_once)
            if isinstance(opened, Opened):
                self._moving.id = opened.kept.folder.name
        project, level = str(self._options.project), self._parts.policy.level
        self._emit(p.SessionStarted(self._moving.id, project, level, __version__))
        for remark in self._parts.remarks:
            self._warn(remark)
        self._instructions = project_instructions(self._options.project)
        if self._options.mcp:
            self._spawn(self._start_servers())
            if self._options.answerable:
                self._spawn(self._parts.servers.watch())
                self._spawn(self._parts.authoring.watch())
                self._spawn(self._parts.authoring.follow_checks())
            self._spawn(watch_sleep(Clock(), self._parts.host.doubt))
            self._spawn(
                offer_leftovers(
                    self._parts.host, self._parts.desk, self._emit, answerable=self._options.answerable
                )
            )
        self._spawn(self._choose_model())
        self._spawn(self._catch_up())
        self._spawn(sweep(self._parts.places))
        if isinstance(opened, Opened):
            self._moving.restore(opened)
        elif opened is not None:
            self._answering.refused = opened
            self._emit(p.Notice("error", opened))
        while not isinstance(command := await self._inbox.next(), p.Shutdown):
            try:
                if not await self._moving.obey(command):
                    self._obey(command)
            except Exception as error:  # one bad command must not end the conversation
                self._emit(p.Notice("error", self._bug(error)))
            self._turns.queue.give_back()
        await self._end()

    async def _start_servers(self) -> None:
        await self._parts.tools.read()
        await self._parts.servers.start()

    async def _end(self) -> None:
        await asyncio.sleep(0)  # an answer that came just before is heard: it may be an approval to keep
        running = self._turns.close()  # first: nothing that waits begins while something is still written
        self._parts.desk.close(GOODBYE)
        await self._parts.writes.done(SAVE_TIME)
        tasks = [*self._tasks, *self._by_hand.running, *running]
        for task in tasks:
            task.cancel()
        await asyncio.gather(self._parts.host.aclose(), *tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await self._parts.model.aclose()
        self._parts.record.close()
        self._saving.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_TIME):
                await in_thread(self._parts.checkpoints.close)

    def post(self, command: p.Command) -> None:
        """Take a command."""
        self._inbox.put(command)

    def kill(self) -> None:
        """End every server at once; safe from any thread."""
        self._parts.host.kill_all()

    def kept(self) -> str:
        """Id of this session, if anything of it is in its file; safe from any thread."""
        return self._moving.id if self._saving.is_kept else ""

    def redact(self, text: str) -> str:
        """`text` without the secrets this session knows; safe from any thread."""
        return self._parts.redactor(text)

    # --------------------------------------------------------------- commands

    def _at_once(self, command: p.Command) -> None:
        """Carry out what comes while another session is opened."""
        try:
            self._obey(command)
        except Exception as error:
            self._emit(p.Notice("error", self._bug(error)))

    def _obey(self, command: p.Command) -> None:
        match command:
            case p.Submit() | p.UsePrompt() | p.Compact() | p.RunShell():
                self._turns.enqueue(self._answering.work(command))
            case p.CallTool():
                self._by_hand.start(
                    self._turns.number, command, lambda error: self._emit(p.Notice("error", self._bug(error)))
                )
            case p.CancelCall(call_id):
                self._by_hand.cancel(call_id)
            case p.ShareResult(call_id):
                self._by_hand.share(call_id)
            case p.Interrupt(whole, why):
                self._parts.caller.cancelled_by = why or PERSON
                if not self._turns.busy():
                    self._by_hand.cancel_all()
                elif whole or not self._parts.caller.interrupt():
                    self._turns.interrupt()
            case p.Unqueue(text):
                self._turns.queue.take_back(text)
            case p.SendQueue():
                self._turns.release()
            case p.Reply(question, answer):
                self._parts.desk.reply(question, answer)
            case p.SetAccess(level):
                self._parts.policy.level = level
                self._parts.record.write("access", level=level)
                self._emit(p.AccessChanged(level))
            case p.Rewind():
                self._spawn(self._put_back(command))
            case p.SetModel(model, base_url):
                self._spawn(self._switch_model(model, base_url))
            case p.ListModels():
                self._spawn(self._parts.models.look(command))
            case p.SetEffort(effort):
                if problem := self._parts.model.set_effort(effort):
                    self._warn(problem)
            case _ if not self._resuming.obey(command):
                self._server_commands.obey(command)
            case _:
                pass

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run beside the turns; a failure becomes a notice."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:
                self._emit(p.Notice("error", self._bug(error)))

        task = asyncio.ensure_future(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _choose_model(self) -> None:
        """The model of the start; turns wait for it."""
        await self._parts.model.choose(self._options.model, self._options.base_url)

    async def _switch_model(self, model: str, base_url: str | None) -> None:
        label = await self._parts.model.choose(model, base_url)
        current = self._parts.model.current
        if label is None:
            return  # another one was chosen meanwhile
        if not label:
            self._emit(p.Notice("warning", self._parts.model.note))
        elif current is not None:
            if not current.info.is_demo:  # nobody wants to meet the demo again unasked
                places = self._parts.places
                await self._parts.writes.do(lambda: remember(places, model=label, base_url=base_url or ""))
            self._parts.agent.measure(current)

    async def _put_back(self, command: p.Rewind) -> None:
        """Give files back, and then, where it is wanted, go back in the conversation."""
        turn, both = command.turn, command.conversation
        done = await self._rewinding.files(turn, tell=not both)
        if done is not None and both and turn:
            self.post(p.Rewind(turn, conversation=True, files=False))
        elif done is not None:
            self._emit(done)

    async def _catch_up(self) -> None:
        """While something could not be written, try again from time to time."""
        while True:
            await asyncio.sleep(SAVE_AGAIN)
            self._saving.catch_up()

    async def _not_yet(self, target: str) -> str:
        """Wait a while for a server that is still starting; a sentence when it is not there after that."""
        name, dot, _ = target.partition(".")
        if not dot or not self._options.mcp:
            return ""
        await self._parts.servers.listed(self._options.server_wait)
        supervisor = self._parts.host.server(name)
        if supervisor is None:
            return ""
        status = supervisor.status
        if status.phase in ("failed", "off", "stopped", "needs login", "untrusted"):
            why = f": {status.reason}" if status.reason else ""
            return f"{name} is not there, it is {status.phase}{why}. The call was not made."
        if status.phase not in ("starting", "restarting"):
            return ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._options.server_wait):
                await supervisor.settled.wait()
        if status.phase != "starting":
            return ""
        return f"{name} is still starting: try again when it is ready. The call was not made."

    # ------------------------------------------------------------------ parts

    def _prompt(self, inventory: Sequence[tuple[str, str]]) -> str:
        prompt = system_prompt(
            project=self._options.project,
            platform=sys.platform,
            instructions=self._instructions,
            inventory=inventory,
            inventory_budget=self._parts.settings.current.settings.inventory_budget,
        )
        return self._parts.redactor.known(prompt)  # a file of instructions may hold a key

    def _from_host(self, event: p.Event) -> None:
        self._emit(event)
        self._parts.authoring.hear(event)
        if isinstance(event, p.ToolsChanged):
            self._parts.agent.measure(self._parts.model.current)
        if isinstance(event, p.ServerChanged):
            self._parts.record.write("server", name=event.name, phase=event.phase, reason=event.reason)

    def _bug(self, error: Exception) -> str:
        """A sentence about a fault of our own, kept in the record with its place."""
        where = traceback.extract_tb(error.__traceback__)[-1:]
        place = f" ({Path(where[0].filename).name}:{where[0].lineno})" if where else ""
        sentence = self._parts.redactor(f"hel failed inside: {type(error).__name__}: {error}{place}")
        self._parts.record.write("note", text=sentence)
        return sentence

    def _warn(self, sentence: str) -> None:
        self._emit(p.Notice("warning", sentence))
