"""A session: takes commands, runs one turn at a time, and ends in order.

Not here: a turn (agent), servers' life (mcp), the thread (runtime).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui import __version__
from hel_tui.core import protocol as p
from hel_tui.core.agent.approval import Approver
from hel_tui.core.agent.calls import Caller
from hel_tui.core.agent.gates import NoHooks
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.agent.registry import Registry
from hel_tui.core.agent.turn import Agent, Ending
from hel_tui.core.context.instructions import project_instructions
from hel_tui.core.context.prompt import system_prompt
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.permissions.policy import Policy
from hel_tui.core.questions import Desk
from hel_tui.core.session.model import Model
from hel_tui.core.session.servers import Servers
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.store.memory import recall, remember
from hel_tui.core.store.places import find_places
from hel_tui.core.store.record import Record, RecordKind
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.settings import load_settings
from hel_tui.core.tools.builtins import BUILTIN_NAMES, builtin_tools
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import UserMessage

NO_MODEL = "There is no model to answer. "
GOODBYE = "hel is closing"


@dataclass(frozen=True, slots=True)
class _Work:
    """One thing that runs as a turn."""

    text: str
    """As the queue shows it."""
    run: Callable[[int], Coroutine[Any, Any, Ending]]
    spoken: str = ""
    """What the person said to the model; empty for a call by hand."""


class Session:
    """One conversation. Created and run in the core's loop; reading methods are safe from any thread."""

    def __init__(self, options: Options, emit: Callable[[p.Event], None]) -> None:
        self._options = options
        self._emit = emit
        self._id = _new_id()
        self._inbox: asyncio.Queue[p.Command] = asyncio.Queue()
        self._work: deque[_Work] = deque()
        self._busy: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = 0
        self._build()

    def _build(self) -> None:
        options = self._options
        self._places = find_places(options.environ)
        loaded = load_settings(options.project, self._places)
        self._settings, self._notes = loaded.settings, loaded.notes
        self._redactor = Redactor(secrets_in(options.environ))
        folder = self._places.session_dir(self._id)
        self._files = SessionFiles(folder / "files")
        self._record = _Pages(lambda path: Record(path, self._redactor, self._warn), folder)
        self._desk = Desk(self._emit)
        self._host = Host(
            project=options.project,
            environ=options.environ,
            files=lambda: self._files,
            state_dir=self._places.state,
            on_event=self._from_host,
            mask=self._redactor,
        )
        self._servers = Servers(
            options=options,
            places=self._places,
            host=self._host,
            desk=self._desk,
            emit=self._emit,
            identify=self._identify,
        )
        self._policy = Policy.load(
            self._places,
            options.project,
            level=options.access or self._settings.access,
            rules=loaded.rules,
            environ=options.environ,
        )
        self._policy.saved = str(self._files.folder.resolve())
        hidden = (self._places.config, self._places.state)
        workspace = Workspace(options.project, self._files.folder, hidden)
        names = options.tools if options.tools is not None else self._known(self._settings.tools)
        builtins = builtin_tools(
            workspace, names=names, environ=options.environ, network=self._settings.network
        )
        self._registry = Registry(
            builtins,
            self._host.catalogue if options.mcp else None,
            self._host.loader if options.mcp else None,
        )
        self._model = Model(options, self._emit, self._default_model())
        self._wire_agent()

    def _known(self, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Names of built-ins from a settings file, without those that are none."""
        if names is None:
            return None
        unknown = [name for name in names if name not in BUILTIN_NAMES]
        if unknown:
            self._warn(f"tools: there is no {', '.join(unknown)}; there are {', '.join(BUILTIN_NAMES)}")
        return tuple(name for name in names if name in BUILTIN_NAMES)

    def _identify(self, identities: Mapping[str, str]) -> None:
        self._policy.identities = identities

    def _default_model(self) -> tuple[str, str]:
        """(model, base URL) when the command line names none: settings, else what was used last."""
        if self._settings.model:
            return self._settings.model, self._settings.base_url
        last = recall(self._places)
        return last.model, last.base_url

    def _wire_agent(self) -> None:
        options = self._options
        self._ledger = Ledger(self._emit, self._record)
        self._approver = Approver(
            policy=self._policy,
            desk=self._desk,
            ledger=self._ledger,
            emit=self._emit,
            record=self._record,
            answerable=options.answerable,
        )
        self._caller = Caller(
            registry=self._registry,
            approver=self._approver,
            hooks=NoHooks(),
            ledger=self._ledger,
            emit=self._emit,
            record=self._record,
        )
        self._agent = Agent(
            registry=self._registry,
            caller=self._caller,
            desk=self._desk,
            emit=self._emit,
            record=self._record,
            prompt=self._prompt,
            max_steps=options.max_steps or self._settings.max_steps,
        )

    # ------------------------------------------------------------------- life

    async def run(self) -> None:
        """Until `Shutdown` was carried out."""
        self._emit(p.SessionStarted(self._id, str(self._options.project), self._policy.level, __version__))
        for note in (*map(str, self._notes), *self._policy.problems):
            self._warn(note)
        self._instructions = project_instructions(self._options.project)
        await self._model.choose(self._options.model, self._options.base_url)
        if self._options.mcp:
            self._spawn(self._servers.start())
        while not isinstance(command := await self._inbox.get(), p.Shutdown):
            try:
                self._obey(command)
            except Exception as error:  # one bad command must not end the conversation
                self._emit(p.Notice("error", f"{type(command).__name__} failed: {error}"))
        await self._end()

    async def _end(self) -> None:
        self._desk.close(GOODBYE)
        self._work.clear()
        tasks = [task for task in (self._busy, *self._tasks) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(self._host.aclose(), *tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            await self._model.aclose()
        self._record.close()

    def post(self, command: p.Command) -> None:
        """Take a command."""
        self._inbox.put_nowait(command)

    def kill(self) -> None:
        """End every server at once; safe from any thread."""
        self._host.kill_all()

    # ---------------------------------------------------------------- reading

    def log(self, server: str) -> p.LogWindow | None:
        """The server's log."""
        return self._host.log(server)

    def tools(self) -> tuple[p.ToolRow, ...]:
        """All server tools, by name."""
        return self._host.catalogue.rows()

    def call(self, call_id: str) -> p.CallDetail | None:
        """Everything about one call."""
        return self._ledger.detail(call_id)

    def failure(self, server: str) -> p.ServerFailure | None:
        """Why the server failed last."""
        return self._host.failure(server)

    # --------------------------------------------------------------- commands

    def _obey(self, command: p.Command) -> None:
        match command:
            case p.Submit(text):
                self._enqueue(_Work(text, lambda turn: self._answer(turn, text), spoken=text))
            case p.CallTool(target, arguments):
                self._enqueue(_Work(f"/call {target}", lambda turn: self._by_hand(turn, target, arguments)))
            case p.RunShell(line):
                self._enqueue(_Work(f"!{line}", lambda turn: self._shell(turn, line)))
            case p.Interrupt():
                if not self._caller.interrupt() and self._busy is not None:
                    self._busy.cancel()
            case p.Unqueue():
                if self._work:
                    self._work.pop()
                    self._show_queue()
            case p.Reply(question, answer):
                self._desk.reply(question, answer)
            case p.SetAccess(level):
                self._policy.level = level
                self._record.write("access", level=level)
                self._emit(p.AccessChanged(level))
            case p.SetModel(model, base_url):
                self._spawn(self._switch_model(model, base_url))
            case p.NewSession():
                self._renew()
            case _:
                self._obey_about_servers(command)

    def _obey_about_servers(self, command: p.Command) -> None:
        match command:
            case p.RestartServer(server):
                self._expect(self._host.restart(server), server)
            case p.SwitchServer(server, on):
                self._expect(self._host.switch(server, on), server)
            case p.LoadTools(names):
                self._host.catalogue.load(names)
            case p.UnloadTools(names):
                self._host.catalogue.unload(names)
            case p.ReviewTrust():
                self._spawn(self._servers.ask())
            case _:
                raise ValueError("hel does not know this command")

    def _expect(self, done: bool, server: str) -> None:
        if not done:
            self._warn(f"{server} cannot be started: there is no such trusted stdio server.")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run beside the turns; a failure becomes a notice."""

        async def guarded() -> None:
            try:
                await work
            except Exception as error:
                self._emit(p.Notice("error", f"{type(error).__name__}: {error}"))

        task = asyncio.ensure_future(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _switch_model(self, model: str, base_url: str | None) -> None:
        label = await self._model.choose(model, base_url)
        if label:
            remember(self._places, model=label, base_url=base_url or "")
            self._agent.measure(self._model.current)

    def _renew(self) -> None:
        """An empty conversation under a new id; servers stay, nothing is loaded."""
        if self._busy is not None:
            self._busy.cancel()
        self._work.clear()
        self._record.write("note", text="ended by a new session")
        self._id = _new_id()
        self._record.turn_over(self._places.session_dir(self._id))
        catalogue = self._host.catalogue
        catalogue.unload([tool.definition.name for tool in catalogue.loaded()])
        self._agent.reset()
        self._emit(p.Cleared(self._id))
        self._show_queue()

    # ------------------------------------------------------------------ turns

    def _enqueue(self, work: _Work) -> None:
        self._work.append(work)
        if self._busy is None:
            self._next()
        self._show_queue()

    def _show_queue(self) -> None:
        self._emit(p.Queued(tuple(work.text for work in self._work)))

    def _next(self) -> None:
        self._busy = asyncio.ensure_future(self._perform(self._work.popleft())) if self._work else None

    async def _perform(self, work: _Work) -> None:
        self._turn += 1
        turn, began = self._turn, time.monotonic()
        self._emit(p.TurnStarted(turn, work.spoken))
        try:
            ending = await work.run(turn)
        except asyncio.CancelledError:
            ending = Ending("interrupted", "Interrupted. What arrived so far is kept.")
        except Exception as error:
            ending = Ending("failed", f"hel failed inside: {type(error).__name__}: {error}")
        finally:
            self._busy = None
        self._record.write("turn", turn=turn, reason=ending.reason, message=ending.message)
        self._emit(p.TurnEnded(turn, ending.reason, ending.message, time.monotonic() - began))
        if self._work:
            self._next()
            self._show_queue()

    async def _answer(self, turn: int, text: str) -> Ending:
        model = self._model.current
        if model is None:
            return Ending("failed", NO_MODEL + self._model.note)
        if self._options.mcp:
            await self._servers.settled(self._options.server_wait)
        return await self._agent.turn(turn, text, model)

    async def _by_hand(self, turn: int, target: str, arguments: str) -> Ending:
        await self._caller.by_hand(turn, f"hand-{turn}", target, arguments, trusted=False)
        return Ending("done")

    async def _shell(self, turn: int, line: str) -> Ending:
        arguments = json.dumps({"command": line})
        outcome = await self._caller.by_hand(turn, f"hand-{turn}", "bash", arguments, trusted=True)
        self._agent.history.append(UserMessage(f"I ran a command myself:\n$ {line}\n{outcome.text}"))
        return Ending("done")

    # ------------------------------------------------------------------ parts

    def _prompt(self, inventory: Sequence[tuple[str, str]]) -> str:
        return system_prompt(
            project=self._options.project,
            platform=sys.platform,
            instructions=self._instructions,
            inventory=inventory,
        )

    def _from_host(self, event: p.Event) -> None:
        self._emit(event)
        if isinstance(event, p.ServerChanged):
            self._record.write("server", name=event.name, phase=event.phase, reason=event.reason)

    def _warn(self, sentence: str) -> None:
        self._emit(p.Notice("warning", sentence))


class _Pages:
    """The record of the session that is open; a new session begins a new file."""

    def __init__(self, open_at: Callable[[Path], Record], folder: Path) -> None:
        self._open_at = open_at
        self._page = open_at(folder / "record.jsonl")

    def write(self, kind: RecordKind, **facts: Any) -> None:
        """Append to the open record."""
        self._page.write(kind, **facts)

    def turn_over(self, folder: Path) -> None:
        """Close the record and begin one in `folder`."""
        self._page.close()
        self._page = self._open_at(folder / "record.jsonl")

    def close(self) -> None:
        """Write no more."""
        self._page.close()


def _new_id() -> str:
    """Sorts by time, unique by chance."""
    return time.strftime("%Y%m%d-%H%M%S-") + uuid.uuid4().hex[:8]
