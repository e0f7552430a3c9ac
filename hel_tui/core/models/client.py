"""One model at one endpoint, whatever its API: sends requests, yields the answer's parts, tries again.

Owns what it learned of the server's dialect. Not here: the HTTP client (connection), how an API spells things
(adapter), what refusals mean (faults, adapting), which model it is (choose).
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from hel_tui.core.models.adapter import Adapter, adapter_for
from hel_tui.core.models.adapting import adapted
from hel_tui.core.models.broken import broken, who_answers
from hel_tui.core.models.connection import Connection
from hel_tui.core.models.engines import engine_models, same_name
from hel_tui.core.models.entries import told_by
from hel_tui.core.models.faults import Failure, refused_images
from hel_tui.core.models.profiles import Dialect, Profile
from hel_tui.core.models.reading import Reading
from hel_tui.core.models.schemas.profile import SchemaProfile, profile_for
from hel_tui.core.models.sight import asked, sees_by_name, why_blind
from hel_tui.core.models.types import Finish, ModelFault, ModelInfo, Part, Request, RetryPart
from hel_tui.core.models.wire import fresh_ids, images_in
from hel_tui.core.sse import EventTooLarge
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Image, ToolDefinition, UserMessage

if TYPE_CHECKING:
    import httpx

RETRIES = 3
FIRST_DELAY = 0.5
"""Seconds before the first retry; doubled each time, and up to a quarter more by chance."""
LONGEST_WAIT = 60.0
"""Seconds of Retry-After that are waited for; with more, the person is told instead."""
_COUNTED = 1e7
"""Seconds from which a wished wait, which may be infinite, is not told as a number."""
IDLE = 300.0
"""Seconds without a byte (comments count as bytes) before the endpoint is given up."""
LOOK_UP = 8.0
"""Seconds an endpoint gets to tell of its model; nobody waits for it."""
PROBE = "Say ok."
PROBE_OUTPUT = 16
"""Tokens a probe asks for: with fewer, some providers refuse the request itself."""
_OUTPUT = re.compile(r"max_(?:completion_)?tokens|output limit", re.I)
"""A model that thinks has no room for it in a probe, and the provider says so: the tools were taken."""


class ChatClient:
    """A `ChatModel` over HTTP. Use it in one event loop, and `aclose` it there.

    `idle` in seconds; `sleep`, `clock` (Unix time) and `chance` (0..1) are replaced by tests.
    """

    def __init__(
        self,
        info: ModelInfo,
        profile: Profile,
        key: str = "",
        *,
        key_hint: str = "",
        idle: float = IDLE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._info = info
        self._profile = profile
        self._key = key.strip()
        self._idle = idle
        self._sleep = sleep
        self._chance = chance
        self._dialect = profile.dialect
        self._schemas = profile_for(info.provider, info.name, info.base_url)
        self._unwanted: set[Image] = set()
        """Images that were refused although the model sees."""
        self._connection = Connection(
            info, self._dialect.api, self._key, hint=key_hint, idle=idle, clock=clock
        )

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def dialect(self) -> Dialect:
        """How this server is spoken to, as far as learned."""
        return self._dialect

    @property
    def _adapter(self) -> Adapter:
        return adapter_for(self._dialect.api)

    @property
    def schemas(self) -> SchemaProfile:
        """The rules this server has for tools, as far as known and learned."""
        return self._schemas

    def learn(self, schemas: SchemaProfile) -> None:
        """Use other rules for tools from now on."""
        self._schemas = schemas

    def warm_up(self) -> None:
        """Begin to import and build what the first request needs, off the loop."""
        self._connection.warm_up()

    async def aclose(self) -> None:
        await self._connection.aclose()

    # --------------------------------------------------------------- a request

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Parts of the answer, `Finish` last. Raises ModelFault. Tries again only before the first part."""
        if self._info.tools is False:
            request = replace(request, tools=())
        tried = {self._dialect}
        attempt = 0
        notes: list[str] = []
        if self._info.sees is None and images_in(request.messages) and not await self.sight():
            notes.append(self._blind)
        while True:
            begun = False
            try:
                async with aclosing(self._attempt(request)) as parts:
                    async for part in parts:
                        begun = True
                        yield _noted(part, notes)
                return
            except Failure as failure:
                if begun:
                    raise failure.fault from None
                if told := self._without_images(request, failure):
                    notes.append(told)
                    continue
                change = adapted(request, self._info, self._dialect, failure)
                if change is not None and change.dialect not in tried:
                    tried.add(change.dialect)
                    self._dialect = change.dialect
                    notes += [change.note] if change.note else []
                    continue
                attempt += 1
                delay = self._delay(attempt, failure)
                why = failure.fault.sentence
            yield RetryPart(attempt, RETRIES, delay, why)
            await self._sleep(delay)

    async def sight(self) -> bool:
        """Whether it takes images; its endpoint is asked once where that is not known. Never raises."""
        if self._info.sees is None:
            sees = await asked(self._info, self._key)
            by_name = sees_by_name(self._info.name)
            unsaid = sees is None and by_name is None
            self._info = replace(
                self._info, sees=by_name is True if sees is None else sees, sight_unsaid=unsaid
            )
        return bool(self._info.sees)

    async def look_up(self) -> bool:
        """Ask the endpoint what it tells of the model where its window is not known; whether it told any.

        Never raises.
        """
        info = self._info
        if info.window:
            return False
        listed, _problem = await engine_models(info.provider, info.base_url, self._key, LOOK_UP, info.name)
        told = next((one for one in listed if same_name(one.name, info.name)), None)
        if told is not None:
            self._info = told_by(self._info, told)
        return bool(self._info.window)

    @property
    def _blind(self) -> str:
        return f"{why_blind(self._info)} They are sent as their markers only."

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether a tiny request with these tools is taken; it is left with the first part of its answer.

        Raises ModelFault when the answer was about something else, such as the key or the connection.
        """
        request = Request((UserMessage(PROBE),), tools, PROBE_OUTPUT)
        try:
            async with aclosing(self.stream(request)) as parts:
                async for part in parts:
                    if not isinstance(part, RetryPart):
                        break
        except ModelFault as fault:
            if fault.kind not in ("schema", "request"):
                raise
            return fault.kind == "request" and _OUTPUT.search(fault.said) is not None
        return True

    async def _attempt(self, request: Request) -> AsyncGenerator[Part, None]:
        """One try. Raises Failure."""
        await self._connection.ready()
        content = await self._content(request)
        path = f"{self._dialect.prefix}{self._adapter.path(self._info)}"
        import httpx

        assembler = self._adapter.assembler(fresh_ids(request.messages), self._info)
        reading = Reading(assembler, who_answers(self._info), self._key)
        response: httpx.Response | None = None
        try:
            response = await self._connection.send(path, content)
            chunks = response.aiter_bytes()
            while not reading.done:
                try:
                    async with asyncio.timeout(assembler.grace):
                        data = await anext(chunks)
                except (StopAsyncIteration, TimeoutError):
                    break
                for part in reading.feed(data):
                    yield part
                if reading.failure is not None:
                    raise reading.failure
            last = reading.finish()
            if reading.done and not reading.cut:
                self._connection.drain(response, chunks)
                response = None
            for part in last:
                yield part
        except Failure as failure:
            if assembler.begun:
                failure.passing = False
                if failure.fault.kind != "context":
                    failure.fault.kind = "stream"
                failure.fault.partial = assembler.partial()
            raise
        except (httpx.HTTPError, httpx.InvalidURL, EventTooLarge) as error:
            partial = assembler.partial() if assembler.begun else None
            raise broken(error, self._info, self._profile, self._key, self._idle, partial) from None
        finally:
            if response is not None:
                await response.aclose()

    async def _content(self, request: Request) -> bytes:
        """The body; with images it is some megabytes, and made beside the loop."""
        body, info, dialect = self._adapter.body, self._info, self._dialect
        if not (info.sees and images_in(request.messages)):
            return body(request, info, dialect)
        unwanted = frozenset(self._unwanted)
        return await in_thread(lambda: body(request, info, dialect, unwanted), "hel-images")

    # ---------------------------------------------------------------- failures

    def _without_images(self, request: Request, failure: Failure) -> str:
        """Learn from a refusal of images: a note for the person, empty when it was about something else."""
        sent = [image for image in images_in(request.messages) if image not in self._unwanted]
        refusal = refused_images(failure) if self._info.sees and sent else ""
        if refusal == "model":
            self._info = replace(self._info, sees=False)
            return self._blind
        if refusal == "images":
            self._unwanted.update(sent)
            return f"Images were refused and left out. {failure.fault.sentence}"
        return ""

    def _delay(self, attempt: int, failure: Failure) -> float:
        """Seconds until the next try. Raises the fault when there is none."""
        wait = failure.wait or 0.0
        if not failure.passing or attempt > RETRIES:
            raise failure.fault from None
        if wait > LONGEST_WAIT:
            asked = f"to wait {round(wait)} seconds" if wait < _COUNTED else "for longer than hel waits"
            text = f"{failure.fault.sentence} It asks {asked}."
            raise replace(failure.fault, sentence=text) from None
        backoff = FIRST_DELAY * 2.0 ** (attempt - 1)
        return float(max(backoff * (1 + self._chance() / 4), wait))


def _noted(part: Part, notes: Sequence[str]) -> Part:
    """The part; the last one with the notes for the person."""
    return replace(part, notes=(*part.notes, *notes)) if notes and isinstance(part, Finish) else part
