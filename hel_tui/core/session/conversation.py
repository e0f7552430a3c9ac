"""A session: takes commands, runs one turn at a time, and ends in order.

Not here: a turn (agent), servers' life (mcp), the thread (runtime).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hel_tui import __version__
from hel_tui.core import protocol as p
from hel_tui.core.agent.ledger import recorded
from hel_tui.core.agent.turn import Ending
from hel_tui.core.context.instructions import project_instructions
from hel_tui.core.context.prompt import system_prompt
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.sleep import watch_sleep
from hel_tui.core.models.types import ChatModel
from hel_tui.core.options import Options
from hel_tui.core.session.by_hand import ByHand
from hel_tui.core.session.kept import Opened
from hel_tui.core.session.leftovers import offer_leftovers
from hel_tui.core.session.offerings import Message, named
from hel_tui.core.session.parts import Emit, assemble
from hel_tui.core.session.queue import Work, WorkQueue
from hel_tui.core.session.reads import Reads
from hel_tui.core.session.resuming import Resuming
from hel_tui.core.session.rewinding import Rewinding, fork_before
from hel_tui.core.session.saving import Saving
from hel_tui.core.session.server_commands import ServerCommands
from hel_tui.core.store.memory import remember
from hel_tui.core.store.places import find_places
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.sessions.folders import new_id
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import UserMessage

NO_MODEL = "There is no model to answer."
SAVE_AGAIN = 2.0
"""Seconds between tries to write what could not be written."""
GOODBYE = "hel is closing"
HOLDING = frozenset({"interrupted", "failed", "limit"})
"""Ends of a turn after which nothing that waits is sent by itself."""
SAVE_TIME = 2.0
"""Seconds the end waits for what the person approved or chose to be written."""
SETTLE_TIME = 3.0
"""Seconds the end waits for what a command that was cut off changed to be found out."""


class Session(Reads):
    """One conversation. Created and run in the core's loop; reading methods are safe from any thread."""

    def __init__(self, options: Options, out: Emit) -> None:
        self._options = options
        self._id = new_id()
        places = find_places(options.environ)
        redactor = Redactor(secrets_in(options.environ))
        self._saving = Saving(places.session_dir(self._id), options.project, redactor, out)
        self._emit = emit = self._saving.emit
        self._out = out
        self._tell_turn: Emit = emit
        """Tells of the turn that runs: kept, or where it is to leave nothing, only told."""
        self._inbox: asyncio.Queue[p.Command] = asyncio.Queue()
        self._queue = WorkQueue(emit)
        self._busy: asyncio.Task[Ending] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = 0
        self._has_model = asyncio.Event()
        """The first choice of a model is over."""
        self._instructions = ""
        self._parts = assemble(
            options,
            self._id,
            self._from_host,
            self._prompt,
            self._spawn,
            places=places,
            redactor=redactor,
            saving=self._saving,
        )
        self._parts.agent.join = self._join
        self._parts.model.is_busy = lambda: self._busy is not None
        self._untold: list[UserMessage] = []
        """What the model is to know once no turn runs."""
        self._by_hand = ByHand(
            self._parts.caller, self._parts.ledger, emit, ready=self._not_yet, tell=self._tell
        )
        self._server_commands = ServerCommands(self._parts, options.project, emit, self._spawn)
        self._resuming = Resuming(
            self._parts,
            self._saving,
            options.project,
            out=out,
            spawn=self._spawn,
            settled=lambda: self._parts.servers.settled(options.server_wait),
        )
        self._rewinding = Rewinding(
            self._parts.checkpoints, self._parts.desk, emit, self._tell, lambda: self._busy is not None
        )
        self._refused = ""
        """Why the session that was to be gone on with is not open; nothing is sent then."""

    # ------------------------------------------------------------------- life

    async def run(self) -> None:
        """Until `Shutdown` was carried out."""
        opened: Opened | str | None = None
        if self._options.resume:
            opened = await self._resuming.opened(self._options.resume)
            self._id = opened.kept.folder.name if isinstance(opened, Opened) else self._id
        self._emit(
            p.SessionStarted(self._id, str(self._options.project), self._parts.policy.level, __version__)
        )
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
        if isinstance(opened, Opened):
            self._restore(opened)
        elif opened is not None:
            self._refused = opened
            self._emit(p.Notice("error", opened))
        while not isinstance(command := await self._inbox.get(), p.Shutdown):
            try:
                match command:
                    case p.NewSession():
                        await self._renew()
                    case p.ResumeSession(session_id):
                        await self._go_on(self._resuming.opened(session_id), trust_again=True)
                    case p.ForkSession(session_id, turn):
                        await self._go_on(self._resuming.forked(session_id, turn))
                    case p.Rewind(turn, conversation=True, files=False):
                        await self._go_back(turn)
                    case _:
                        self._obey(command)
            except Exception as error:  # one bad command must not end the conversation
                self._emit(p.Notice("error", self._bug(error)))
            self._queue.give_back()
        await self._end()

    async def _start_servers(self) -> None:
        await self._parts.tools.read()
        await self._parts.servers.start()

    async def _end(self) -> None:
        await asyncio.sleep(0)  # an answer that came just before is heard: it may be an approval to keep
        self._parts.desk.close(GOODBYE)
        await self._parts.writes.done(SAVE_TIME)
        self._queue.clear()
        busy = self._busy
        tasks = [*self._tasks, *self._by_hand.running, *([busy] if busy is not None else [])]
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
        self._inbox.put_nowait(command)

    def kill(self) -> None:
        """End every server at once; safe from any thread."""
        self._parts.host.kill_all()

    def kept(self) -> str:
        """Id of this session, if anything of it is in its file; safe from any thread."""
        return self._id if self._saving.is_kept else ""

    def redact(self, text: str) -> str:
        """`text` without the secrets this session knows; safe from any thread."""
        return self._parts.redactor(text)

    # --------------------------------------------------------------- commands

    def _obey(self, command: p.Command) -> None:
        match command:
            case p.Submit(text, later):
                taken = self._parts.offerings.take()
                names = (*command.names, *(named(one) for one in taken))
                message = partial(self._parts.offerings.message, text, taken, command.behind)
                put_back = partial(self._parts.offerings.put_back, taken)
                run = partial(self._answer, message, put_back)
                self._enqueue(Work(text, run, text, names, put_back, None if later else message))
            case p.UsePrompt(server, prompt, arguments):
                given = "".join(f" {name}={value}" for name, value in arguments)
                line = f"/{public_name(server, prompt)}{given}"
                fetch = partial(self._parts.offerings.prompt, server, prompt, arguments)
                self._enqueue(Work(line, partial(self._answer, fetch, _nothing), line))
            case p.CallTool():
                self._by_hand.start(
                    self._turn, command, lambda error: self._emit(p.Notice("error", self._bug(error)))
                )
            case p.CancelCall(call_id):
                self._by_hand.cancel(call_id)
            case p.ShareResult(call_id):
                self._by_hand.share(call_id)
            case p.Compact(focus):
                line = f"/compact {focus}".strip()
                self._enqueue(Work(line, partial(self._compact, focus)))
            case p.RunShell(line):
                self._enqueue(Work(f"!{line}", lambda turn: self._shell(turn, line)))
            case p.Interrupt(whole):
                if self._busy is None:
                    self._by_hand.cancel_all()
                elif whole or not self._parts.caller.interrupt():
                    self._busy.cancel()
            case p.Unqueue(text):
                self._queue.take_back(text)
            case p.SendQueue():
                self._queue.release()
                self._next()
                self._queue.show()
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
        try:
            await self._parts.model.choose(self._options.model, self._options.base_url)
        finally:
            self._has_model.set()

    async def _switch_model(self, model: str, base_url: str | None) -> None:
        label = await self._parts.model.choose(model, base_url)
        current = self._parts.model.current
        if not label:
            self._emit(p.Notice("warning", self._parts.model.note))
        elif current is not None:
            if not current.info.is_demo:  # nobody wants to meet the demo again unasked
                places = self._parts.places
                await self._parts.writes.do(lambda: remember(places, model=label, base_url=base_url or ""))
            self._parts.agent.measure(current)

    async def _renew(self) -> None:
        """An empty conversation under a new id; servers stay, nothing is loaded."""
        await self._stop_work()
        self._parts.record.write("note", text="ended by a new session")
        self._id = new_id()
        self._parts.turn_over(self._parts.places.session_dir(self._id))
        self._resuming.forget()
        self._refused = ""
        self._emit(p.Cleared(self._id))
        self._queue.show()

    async def _go_on(self, opening: Awaitable[Opened | str], *, trust_again: bool = False) -> None:
        """A kept session instead of the one that is open; that one stays where the other cannot be had.

        `trust_again`: look at the server files as at the start, and ask about what is not trusted.
        """
        opened = await opening
        if isinstance(opened, str):
            self._emit(p.Notice("warning", opened))
            return
        await self._stop_work()
        self._parts.record.write("note", text=f"left for session {opened.kept.folder.name}")
        self._restore(opened)
        if trust_again and self._options.mcp:
            self._spawn(self._parts.servers.look_again(quiet=True))

    async def _put_back(self, command: p.Rewind) -> None:
        """Give files back, and then, where it is wanted, go back in the conversation."""
        turn, both = command.turn, command.conversation
        done = await self._rewinding.files(turn, tell=not both)
        if done is not None and both and turn:
            self.post(p.Rewind(turn, conversation=True, files=False))
        elif done is not None:
            self._emit(done)

    async def _go_back(self, turn: int) -> None:
        """Go on in a fork of this session that ends before `turn`."""
        before = self._id
        await self._go_on(fork_before(self._saving.folder, turn))
        if self._id != before:
            self._emit(p.Rewound(turn, conversation=True))
            self._rewinding.tell_again()

    def _restore(self, opened: Opened) -> None:
        """Put an opened session in the place of this one, in which nothing runs."""
        self._id = opened.kept.folder.name
        self._parts.turn_over(opened.kept.folder)
        self._saving.go_on(opened.kept, opened.lock)
        self._spawn(self._read_checkpoints())
        self._refused = ""
        self._emit(p.Cleared(self._id, restoring=True))
        self._turn = self._resuming.restore(opened)
        self._parts.agent.measure(self._parts.model.current)
        self._queue.show()

    async def _read_checkpoints(self) -> None:
        await in_thread(self._parts.checkpoints.load)

    async def _catch_up(self) -> None:
        """While something could not be written, try again from time to time."""
        while True:
            await asyncio.sleep(SAVE_AGAIN)
            self._saving.catch_up()

    async def _stop_work(self) -> None:
        """End what runs and set aside what waits, before another session is open."""
        self._queue.set_aside()
        if self._busy is not None:
            self._busy.cancel()
            await asyncio.wait([self._busy])
            await asyncio.sleep(0)  # its end is told before the new session begins
            await in_thread(self._parts.checkpoints.settle)  # of this session, not of the next one
        await self._by_hand.clear()
        self._untold.clear()

    # ------------------------------------------------------------------ turns

    def _enqueue(self, work: Work) -> None:
        self._queue.add(work)
        self._next()
        self._queue.show()

    def _next(self) -> None:
        """Begin the oldest work that waits, unless a turn runs. Its end is told even if it never ran."""
        if self._busy is not None or (work := self._queue.next()) is None:
            return
        self._turn += 1
        self._parts.checkpoints.turn = self._turn
        turn, began = self._turn, time.monotonic()
        started = p.TurnStarted(turn, work.spoken, work.attached)
        if self._options.answerable:
            self._emit(started)
            run = work.run(turn)
        else:
            self._tell_turn = self._out
            run = self._unattended(started, work)
        task = self._busy = asyncio.ensure_future(run)
        task.add_done_callback(lambda done: self._over(turn, began, done))

    async def _unattended(self, started: p.TurnStarted, work: Work) -> Ending:
        """A turn where nobody is there to choose a model: without one nothing of it is kept."""
        await self._has_model.wait()
        if self._parts.model.current is not None:
            self._tell_turn = self._emit
        self._tell_turn(started)
        return await work.run(started.turn)

    def _over(self, turn: int, began: float, done: asyncio.Task[Ending]) -> None:
        """The turn is over, however: say so, and go on with what waits."""
        self._busy = None
        if done.cancelled():
            ending = Ending("interrupted", "Interrupted. What arrived so far is kept.")
        elif isinstance(error := done.exception(), Exception):
            ending = Ending("failed", self._bug(error))
        else:
            ending = done.result()
        self._parts.record.write("turn", turn=turn, reason=ending.reason, message=ending.message)
        self._parts.model.turn_over()
        seconds = time.monotonic() - began
        self._tell_turn(p.TurnEnded(turn, ending.reason, ending.message, seconds, ending.unsent))
        self._tell_turn = self._emit
        for message in self._untold:
            self._tell(message)
        self._untold.clear()
        if self._queue.goes_on and ending.reason in HOLDING:
            self._queue.hold()
        elif self._queue.goes_on:
            self._next()
            self._queue.show()

    async def _join(self, turn: int) -> None:
        """Let messages that wait go into the turn that runs."""

        def say(work: Work, message: Message) -> None:
            self._emit(p.Joined(turn, work.spoken, work.attached))
            for one in (*message.before, UserMessage(message.text, message.images)):
                self._parts.agent.history.append(one)
            self._parts.record.write("user", turn=turn, text=message.text, **recorded(message.images))

        await self._queue.join(say)

    async def _answer(
        self, fetch: Callable[[], Awaitable[Message | str]], put_back: Callable[[], None], turn: int
    ) -> Ending:
        """Answer what `fetch` gives, or end with the sentence why it could not be had.

        `put_back` is called when nothing is sent.
        """
        try:
            model, message = await self._to_send(fetch)
        except asyncio.CancelledError:
            put_back()
            raise
        if model is None or isinstance(message, str):
            put_back()
            return Ending("failed", str(message), unsent=True)
        if message.shown:
            self._emit(p.PromptSent(turn, message.shown))
        ending = await self._parts.agent.turn(
            turn, message.text, model, images=message.images, before=message.before
        )
        if ending.unsent:
            put_back()
        return ending

    async def _to_send(
        self, fetch: Callable[[], Awaitable[Message | str]]
    ) -> tuple[ChatModel | None, Message | str]:
        """The model and what it is to be told, once servers are there; a sentence when there is nothing."""
        await self._has_model.wait()
        model = self._parts.model.current
        if model is None:
            return None, self._parts.model.note or NO_MODEL
        if self._refused and not self._options.answerable:
            return None, self._refused
        if self._options.mcp:
            await self._parts.servers.settled(self._options.server_wait)
            await self._resuming.load_again()
        message = await fetch()
        return model, f"{message} Nothing was sent." if isinstance(message, str) else message

    async def _not_yet(self, target: str) -> str:
        """Wait a while for a server that is still starting; a sentence when it is not there after that."""
        name, dot, _ = target.partition(".")
        if not dot or not self._options.mcp:
            return ""
        await self._parts.servers.listed(self._options.server_wait)
        supervisor = self._parts.host.server(name)
        if supervisor is None or supervisor.status.phase not in ("starting", "restarting"):
            return ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._options.server_wait):
                await supervisor.settled.wait()
        if supervisor.status.phase != "starting":
            return ""
        return f"{name} is still starting: try again when it is ready. The call was not made."

    def _tell(self, message: UserMessage) -> None:
        """Let the model know, with the next message of the person; while a turn runs, after it."""
        if self._busy is not None:
            self._untold.append(message)
            return
        self._parts.agent.history.append(message)
        self._parts.record.write("user", turn=self._turn, text=message.text, **recorded(message.images))
        self._parts.agent.measure(self._parts.model.current)

    async def _compact(self, focus: str, turn: int) -> Ending:
        await self._has_model.wait()
        model = self._parts.model.current
        if model is None:
            return Ending("failed", self._parts.model.note or NO_MODEL)
        return await self._parts.agent.compact(turn, focus, model)

    async def _shell(self, turn: int, line: str) -> Ending:
        arguments = json.dumps({"command": line})
        outcome = await self._parts.caller.run_for_person(
            turn, f"shell-{turn}", "bash", self._parts.shell, arguments
        )
        shown = self._parts.redactor.known(line)
        self._parts.agent.history.append(UserMessage(f"I ran a command myself:\n$ {shown}\n{outcome.text}"))
        return Ending("done")

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


def _nothing() -> None:
    """Nothing was attached."""
