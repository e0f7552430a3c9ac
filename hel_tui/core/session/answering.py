"""What a turn does: answers a message or a server's prompt, shortens the conversation, runs a command.

Not here: when it runs and how its end is told (turns), the conversation with a model (agent).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial

from hel_tui.core import protocol as p
from hel_tui.core.agent.turn import Ending
from hel_tui.core.mcp.naming import public_name
from hel_tui.core.models.types import ChatModel
from hel_tui.core.options import Options
from hel_tui.core.session.offerings import Message, named
from hel_tui.core.session.parts import Emit, Parts
from hel_tui.core.session.queue import Work
from hel_tui.core.session.waiting import Waiting, record_of
from hel_tui.core.vocabulary import UserMessage

NO_MODEL = "There is no model to answer."
NOTHING_SENT = "Interrupted before anything was sent."
NOTHING_CAME = "Interrupted before anything of an answer came."
Fetch = Callable[[], Awaitable[Message | str]]
"""Gives the message, or a sentence why it cannot be had."""


class Answering:
    """Makes of a command the work that a turn does. Lives in the core's loop."""

    def __init__(
        self, parts: Parts, options: Options, emit: Emit, load_again: Callable[[], Awaitable[None]]
    ) -> None:
        """`load_again` loads the tools that a kept conversation used."""
        self._parts = parts
        self._options = options
        self._emit = emit
        self._load_again = load_again
        self.refused = ""
        """Why the session that was to be gone on with is not open; nothing is sent then."""

    def work(self, command: Waiting, *, again: bool = False) -> Work:
        """What the command is as a turn. `again`: it is from another run, and nothing is attached to it."""
        offerings = self._parts.offerings
        match command:
            case p.Submit(text, later):
                taken = [] if again else offerings.take()
                attached = [named(one) for one in taken]
                names = (*command.names, *attached)
                message = partial(offerings.message, text, taken, command.behind)
                put_back = partial(offerings.put_back, taken)
                run = partial(self._answer, message, put_back)
                joins = None if later else message
                return Work(text, run, text, names, put_back, joins, record_of(command, attached))
            case p.UsePrompt(server, prompt, arguments):
                given = "".join(f" {name}={value}" for name, value in arguments)
                line = f"/{public_name(server, prompt)}{given}"
                fetch = partial(offerings.prompt, server, prompt, arguments)
                run = partial(self._answer, fetch, _nothing)
                return Work(line, run, line, record=record_of(command))
            case p.Compact(focus):
                run = partial(self._compact, focus)
                return Work(f"/compact {focus}".strip(), run, record=record_of(command))
            case p.RunShell(line):
                return Work(f"!{line}", partial(self._shell, line), record=record_of(command))

    async def _answer(self, fetch: Fetch, put_back: Callable[[], None], turn: int) -> Ending:
        """Answer what `fetch` gives, or end with the sentence why it could not be had.

        `put_back` is called when nothing is sent.
        """
        try:
            model, message = await self._to_send(fetch)
        except asyncio.CancelledError:
            put_back()
            return Ending("interrupted", NOTHING_SENT, unsent=True)
        if model is None or isinstance(message, str):
            put_back()
            return Ending("failed", str(message), unsent=True)
        if message.shown:
            self._emit(p.PromptSent(turn, message.shown))
        agent = self._parts.agent
        try:
            ending = await agent.turn(turn, message.text, model, images=message.images, before=message.before)
        except asyncio.CancelledError:
            if not agent.take_back(message.before):
                raise
            ending = Ending("interrupted", NOTHING_CAME, unsent=True)
        finally:
            agent.asked = None
        if ending.unsent:
            put_back()
        return ending

    async def _to_send(self, fetch: Fetch) -> tuple[ChatModel | None, Message | str]:
        """The model and what it is to be told, once servers are there; a sentence when there is nothing."""
        model = await self._parts.model.settled()
        if model is None:
            return None, self._parts.model.note or NO_MODEL
        if self.refused and not self._options.answerable:
            return None, self.refused
        if self._options.mcp:
            await self._parts.servers.settled(self._options.server_wait)
            await self._load_again()
        message = await fetch()
        return model, f"{message} Nothing was sent." if isinstance(message, str) else message

    async def _compact(self, focus: str, turn: int) -> Ending:
        model = await self._parts.model.settled()
        if model is None:
            return Ending("failed", self._parts.model.note or NO_MODEL)
        return await self._parts.agent.compact(turn, focus, model)

    async def _shell(self, line: str, turn: int) -> Ending:
        arguments = json.dumps({"command": line})
        outcome = await self._parts.caller.run_for_person(
            turn, f"shell-{turn}", "bash", self._parts.shell, arguments
        )
        shown = self._parts.redactor.known(line)
        self._parts.agent.history.append(UserMessage(f"I ran a command myself:\n$ {shown}\n{outcome.text}"))
        return Ending("done")


def _nothing() -> None:
    """Nothing was attached."""
