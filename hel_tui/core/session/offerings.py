"""Resources and prompts of servers as a person uses them: list, look, attach, watch, complete, send.

Not here: dialogs and pickers (a screen), the servers (mcp), the turn a prompt begins (answering).
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from hel_tui.core import protocol as p
from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.contents import attachment_text, contents_of, prompt_messages
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.session.own_files import IMAGE_TOKENS, Joining, OwnFiles
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import AssistantMessage, Image, Json, UserMessage, estimate_tokens

KEPT = 32
"""Resources that stay readable for a screen after they were read."""
KEPT_CHARACTERS = 16 * 1024 * 1024
"""Text of them in all; the newest stays however large it is."""
SHOWN_CHARACTERS = 8_000
MOST_SHOWN = 20
"""How much of a prompt is shown: messages, and characters of each."""
MOST_ATTACHED = 50
FULL = f"{MOST_ATTACHED} files and resources are attached already."
MOST_STRAYS = 3
"""Mentions of files that there are not that a person is told of."""
VALUE_LENGTH = 1_000
MOST_VALUES = 100
"""Values of one completion (specification, completion)."""
_MENTION = re.compile(r"(?<![\w@])@([A-Za-z0-9_-]{1,32}):(\S+)")
_AFTER = ".,;:!?)]}>'\""
"""What stands behind a mention in a sentence rather than in its URI."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a person sends: their words, what is attached, and the messages before of a prompt."""

    text: str
    images: tuple[Image, ...] = ()
    before: tuple[UserMessage | AssistantMessage, ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    """Of a prompt: what the person is shown of its messages, (role, text)."""


class Offerings:
    """Lives in the core's loop; `contents` may be read from any thread."""

    def __init__(
        self,
        host: Host,
        files: Callable[[], ResultFiles],
        emit: Callable[[p.Event], None],
        own: OwnFiles,
        hide: Callable[[str], str] = lambda text: text,
        *,
        blind: Callable[[bool], Awaitable[str]],
    ) -> None:
        """`hide` takes known secrets out of what goes to the model; `blind` says why the model that answers
        takes no images, empty when it does; with True once it is known which one that is.
        """
        self._own = own
        self._hide = hide
        self._blind = blind
        self._host = host
        self._files = files
        self._emit = emit
        self._read: OrderedDict[tuple[str, str], tuple[p.ResourceContent, ...]] = OrderedDict()
        self._attached: dict[tuple[str, str], Joining] = {}

    # -------------------------------------------------------------------- lists

    async def list_resources(self, server: str) -> None:
        """Read the resource lists of a server, or of all that have resources."""
        wanted = [one for one in self._host.servers() if server in ("", one.entry.name)]
        names = [one.entry.name for one in wanted if "resources" in one.status.offers]
        await asyncio.gather(*(self._list(name, asked=bool(server)) for name in names))

    async def _list(self, server: str, *, asked: bool) -> None:
        supervisor = self._host.server(server)
        if supervisor is None:
            return
        try:
            await supervisor.through(lambda connection: connection.list_resources())
        except CallFault as fault:
            if asked or fault.kind != "unavailable":
                self._warn(server, str(fault))

    # ------------------------------------------------------------------ reading

    def contents(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        """What was read of a resource last; empty when it was not, or long ago."""
        return self._read.get((server, uri), ())

    async def look(self, server: str, uri: str) -> None:
        """Read a resource to show it."""
        try:
            await self._fetch(server, uri)
        except CallFault as fault:
            self._emit(p.ResourceRead(server, uri, str(fault)))
            return
        self._emit(p.ResourceRead(server, uri))

    async def _fetch(self, server: str, uri: str) -> tuple[p.ResourceContent, ...]:
        """Read a resource. Raises CallFault."""
        result = await self._through(server, lambda connection: connection.read(uri))
        files = self._files()
        contents = await in_thread(lambda: contents_of(result, files), "hel-resource")
        self._read.pop((server, uri), None)
        self._read[server, uri] = contents
        while len(self._read) > KEPT or (len(self._read) > 1 and self._kept_characters > KEPT_CHARACTERS):
            self._read.popitem(last=False)
        return contents

    @property
    def _kept_characters(self) -> int:
        return sum(len(one.text) for contents in self._read.values() for one in contents)

    async def _through(self, server: str, work: Callable[..., object]) -> Json:
        supervisor = self._host.server(server)
        if supervisor is None:
            raise CallFault("unavailable", f"There is no server named {server}.")
        return await supervisor.through(work)  # type: ignore[arg-type]

    # ---------------------------------------------------------------- attaching

    async def attach(self, server: str, uri: str) -> str:
        """Let a resource, or with no server a file, join the next message. Returns "" or why it cannot."""
        if (server, uri) not in self._attached and len(self._attached) >= MOST_ATTACHED:
            return FULL
        return await self._join(await self._joining(server, uri))

    async def _joining(self, server: str, uri: str) -> Joining | str:
        """What is to join a message, read; or why it cannot."""
        if not server:
            return await in_thread(lambda: self._hidden(self._own.read(uri)), "hel-attach")
        try:
            contents = await self._fetch(server, uri)
        except CallFault as fault:
            return sentence(f"{server}:{uri} was not attached. {fault}")
        if not contents:
            return f"{server}:{uri} was not attached: the server gave no content."
        files = self._files()

        def joining() -> tuple[str, tuple[Image, ...], bool]:
            text, images, in_part = attachment_text(server, uri, contents, files)
            return self._hide(text), images, in_part

        text, images, in_part = await in_thread(joining, "hel-resource")
        row = next(
            (one for one in self._host.shelf.resources() if (one.server, one.uri) == (server, uri)), None
        )
        shown = p.Attachment(
            server,
            uri,
            row.name if row is not None else uri,
            contents[0].mime,
            sum(one.size for one in contents),
            estimate_tokens(text) + IMAGE_TOKENS * len(images),
            in_part,
        )
        return Joining(shown, text, images)

    async def paste(self, data: bytes) -> str:
        """Let an image from the clipboard join the next message. Returns "" or why it cannot."""
        return await self._join(await in_thread(lambda: self._hidden(self._own.pasted(data)), "hel-attach"))

    async def _join(self, joining: Joining | str) -> str:
        """Attach what was read; a sentence why it could not be is handed on."""
        if isinstance(joining, str):
            return joining
        shown = joining.shown
        self._attached[shown.server, shown.uri] = joining
        self._tell()
        self._look_at(joining, await self._blind(True) if joining.images else "")
        return ""

    def _hidden(self, read: Joining | str) -> Joining | str:
        """The same without known secrets."""
        return read if isinstance(read, str) else replace(read, text=self._hide(read.text))

    def _look_at(self, joining: Joining, why: str) -> None:
        """Say beforehand when the model will not see what is attached: `why` says so."""
        if joining.images and why:
            self._warn("", f"{why} Of {joining.shown.name} it reads type, size and place only.")

    def detach(self, server: str, uri: str) -> None:
        """It does not join after all."""
        if self._attached.pop((server, uri), None) is not None:
            self._tell()

    def clear(self) -> None:
        """A new conversation begins with nothing attached."""
        if self._attached:
            self._attached.clear()
            self._tell()

    def take(self) -> list[Joining]:
        """What joins the message that is being sent; it is attached no more."""
        taken = list(self._attached.values())
        self.clear()
        return taken

    def put_back(self, taken: Iterable[Joining]) -> None:
        """The message was not sent: what was to go with it is attached again."""
        back = {(one.shown.server, one.shown.uri): one for one in taken}
        if back:
            self._attached = {**back, **self._attached}
            self._tell()

    async def message(self, text: str, taken: Iterable[Joining], behind: str = "") -> Message | str:
        """The whole message: `text`, what stands behind it, what was attached, and what `text` mentions:
        resources as `@server:uri`, files of the project as `@path`.

        Returns a sentence when one of those cannot be read: then nothing is to be sent.
        """
        parts = {(one.shown.server, one.shown.uri): one for one in taken}
        for server, uri in self._mentions(text):
            if problem := await self._mentioned(server, uri, parts):
                return problem
        for path in await in_thread(lambda: self._own.mentions(text), "hel-attach"):
            if problem := await self._mentioned("", path, parts):
                return problem
        strays = await in_thread(lambda: self._own.strays(text), "hel-attach")
        for path in strays[:MOST_STRAYS]:
            self._warn("", f"@{path[:200]} is no file of the project: it goes to the model as a word.")
        words = [self._hide(one) for one in (text, behind) if one]
        texts = [*words, *(one.text for one in parts.values())]
        images = tuple(image for one in parts.values() for image in one.images)
        return Message("\n\n".join(texts), images)

    async def _mentioned(self, server: str, uri: str, parts: dict[tuple[str, str], Joining]) -> str:
        """Put what a message mentions among its `parts`; a sentence when that cannot be. What the person
        attached for another message stays attached.
        """
        if (server, uri) in parts:
            return ""
        if len(parts) >= MOST_ATTACHED:
            return FULL
        joining = await self._joining(server, uri)
        if isinstance(joining, str):
            return joining
        parts[server, uri] = joining
        self._look_at(joining, await self._blind(False) if joining.images else "")
        return ""

    def _mentions(self, text: str) -> list[tuple[str, str]]:
        found: dict[tuple[str, str], None] = {}
        known = {(row.server, row.uri) for row in self._host.shelf.resources()}
        for server, uri in _MENTION.findall(text):
            supervisor = self._host.server(server)
            if supervisor is None or "resources" not in supervisor.status.offers:
                continue
            while uri and (server, uri) not in known and uri[-1] in _AFTER:
                uri = uri[:-1]  # noqa: PLW2901
            if uri:
                found[server, uri] = None
        return list(found)

    def _tell(self) -> None:
        self._emit(p.AttachmentsChanged(tuple(one.shown for one in self._attached.values())))

    # ------------------------------------------------------------------ watching

    async def watch(self, server: str, uri: str, on: bool) -> None:
        """Subscribe to the updates of a resource, or end that."""
        supervisor = self._host.server(server)
        if supervisor is None:
            return
        try:
            await supervisor.through(lambda connection: connection.watch(uri, on))
        except CallFault as fault:
            self._warn(server, str(fault))
            return
        self._host.shelf.watch(server, uri, on)

    # ------------------------------------------------------------------- prompts

    async def prompt(self, server: str, name: str, arguments: tuple[tuple[str, str], ...]) -> Message | str:
        """Fetch a prompt. Returns its messages, or why they could not be had."""
        given = {key: value for key, value in arguments if value}
        try:
            result = await self._through(server, lambda connection: connection.prompt(name, given))
        except CallFault as fault:
            return sentence(str(fault))
        files = self._files()

        def read() -> tuple[UserMessage | AssistantMessage, ...]:
            messages = prompt_messages(result, files, server)
            return tuple(replace(one, text=self._hide(one.text)) for one in messages)

        messages = await in_thread(read, "hel-prompt")
        if not messages:
            return f'The prompt "{name}" of {server} is empty.'
        shown = tuple(
            ("user" if isinstance(one, UserMessage) else "assistant", one.text[:SHOWN_CHARACTERS])
            for one in messages[:MOST_SHOWN]
        )
        last = messages[-1]
        if isinstance(last, UserMessage):
            return Message(last.text, last.images, messages[:-1], shown)
        return Message("Go on.", (), messages, shown)

    async def look_at_prompt(self, wanted: p.LookAtPrompt) -> None:
        """Fetch a prompt and tell what it becomes."""
        found = await self.prompt(wanted.server, wanted.prompt, wanted.arguments)
        if isinstance(found, str):
            self._emit(p.PromptRead(wanted.server, wanted.prompt, problem=found))
        else:
            self._emit(p.PromptRead(wanted.server, wanted.prompt, found.shown))

    async def complete(self, wanted: p.CompleteArgument) -> None:
        """Ask a server how an argument may go on and tell what it says."""
        kind, key = ("ref/prompt", "name") if wanted.kind == "prompt" else ("ref/resource", "uri")
        ref: Json = {"type": kind, key: wanted.name}
        given = dict(wanted.given)
        try:
            result = await self._through(
                wanted.server,
                lambda connection: connection.complete(ref, wanted.argument, wanted.value, given),
            )
        except CallFault:
            result = {}
        completion = result.get("completion")
        completion = completion if isinstance(completion, dict) else {}
        listed, total = completion.get("values"), completion.get("total")
        found = listed if isinstance(listed, list) else []
        texts = [one for one in found if isinstance(one, str) and len(one) <= VALUE_LENGTH]
        values = tuple(texts[:MOST_VALUES])
        more = total if isinstance(total, int) and total > 0 else len(texts)
        self._emit(p.Completed(wanted.request, values, more))

    def _warn(self, server: str, sentence: str) -> None:
        self._emit(p.Notice("warning", sentence, server))


def named(joining: Joining) -> str:
    """What is attached, as the message shows it: `server:uri`, or the path of a file."""
    shown = joining.shown
    return f"{shown.server}:{shown.uri}" if shown.server else shown.name


def sentence(text: str) -> str:
    """Text that ends as a sentence does."""
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
