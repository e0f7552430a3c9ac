"""A GGUF file of the person's own as a model: `local/PATH.gguf`, with llama.cpp in a process of hel's.

`open_served` checks the file, starts the engine and looks at what its chat template takes; the model starts
the engine anew when it has ended. Not here: the process (process), the head of the file (gguf).
"""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from hel_tui.core.models.client import ChatClient
from hel_tui.core.models.engines import engine_models, tool_note
from hel_tui.core.models.entries import told_by
from hel_tui.core.models.profiles import LOCAL_FILE, PROFILES
from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.served.gguf import BadFile, Head, fitting, read_head
from hel_tui.core.models.served.process import Engine, NotServed, Progress, start_engine
from hel_tui.core.models.types import FREE, ModelFault, ModelInfo, Part, Request, RetryPart
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import ToolDefinition

MISSING = (
    "local/… serves a GGUF file with llama.cpp inside hel, and that is not installed: "
    "`pip install 'hel-tui[local]'`."
)
ASK_LIMIT = 10.0
"""Seconds the engine gets to tell of its model, once it is loaded."""


@dataclass(frozen=True, slots=True)
class Served:
    """The model, or None with the reason in `note`."""

    model: ServedModel | None
    note: str = ""


def is_installed() -> bool:
    """Whether the engine is there; it is not imported."""
    return importlib.util.find_spec("xllamacpp") is not None


def file_of(name: str, folder: Path) -> Path:
    """The file a person means by the name behind `local/`, in full; relative to `folder`."""
    path = Path(name).expanduser()
    return (folder / path).absolute()


async def open_served(
    name: str,
    folder: Path,
    progress: Progress = lambda _done, _size: None,
    window: int = 0,
    parallel: bool | None = None,
) -> Served:
    """Serve the file `name`; `window` in tokens where the person set one, `parallel` where the person said
    whether it may make several calls in one answer. Never raises but when cancelled.
    """
    if not is_installed():
        return Served(None, MISSING)
    try:
        path = file_of(name, folder)
        head = await in_thread(lambda: read_head(path), "hel-gguf")
        size = window or fitting(head, await in_thread(_available, "hel-memory"))
        engine = await start_engine(path, size, head.size, progress)
    except (BadFile, NotServed, RuntimeError) as problem:
        return Served(None, str(problem))
    try:
        model, note = await _model(engine, path, size, head, progress, parallel)
    except BaseException:
        await engine.aclose()
        raise
    return Served(model, note)


async def _model(
    engine: Engine, path: Path, size: int, head: Head, progress: Progress, parallel: bool | None
) -> tuple[ServedModel, str]:
    listed, problem = await engine_models(LOCAL_FILE, engine.base_url, engine.key, ASK_LIMIT)
    info = ModelInfo(
        LOCAL_FILE,
        str(path),
        engine.base_url,
        window=size,
        prices=FREE,
        parallel=True if parallel else None,
        one_call=parallel is False,
    )
    notes = [problem] if problem else []
    if listed:
        one = replace(listed[0], name=path.name)
        info = told_by(info, one)
        notes += [tool_note(LOCAL_FILE, one)]
    if 0 < info.window < head.window:
        notes.append(
            f"{path.name} has a window of {info.window:,} tokens of {head.window:,}: memory allows no more."
        )
    return ServedModel(engine, info, path, size, head, progress), " ".join(filter(None, notes))


def _available() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


class ServedModel:
    """A `ChatModel` that owns the engine it talks to."""

    def __init__(
        self, engine: Engine, info: ModelInfo, path: Path, window: int, head: Head, progress: Progress
    ) -> None:
        self._engine = engine
        self._path = path
        self._window = window
        self._head = head
        self._progress = progress
        self._client = self._opened(info)

    def _opened(self, info: ModelInfo) -> ChatClient:
        client = ChatClient(info, PROFILES[LOCAL_FILE], self._engine.key)
        client.warm_up()
        return client

    @property
    def info(self) -> ModelInfo:
        return self._client.info

    @property
    def schemas(self) -> SchemaProfile:
        return self._client.schemas

    @property
    def engine(self) -> Engine:
        return self._engine

    def learn(self, schemas: SchemaProfile) -> None:
        """Use other rules for tools from now on."""
        self._client.learn(schemas)

    async def sight(self) -> bool:
        """Whether it takes images."""
        return await self._client.sight()

    async def look_up(self) -> bool:
        """Whether anything more was told: all is known from its file."""
        return False

    async def accepts(self, tools: Sequence[ToolDefinition]) -> bool:
        """Whether a tiny request with these tools is taken."""
        return await self._client.accepts(tools)

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Parts of the answer. An engine that has ended is started anew first."""
        if not self._engine.is_alive:
            await self._again()
        try:
            async with aclosing(self._client.stream(request)) as parts:
                async for part in parts:
                    if isinstance(part, RetryPart) and not self._engine.is_alive:
                        raise ModelFault("stream", part.why)
                    yield part
        except ModelFault as fault:
            await self._engine.ends_soon()
            if words := self._engine.last_words:
                text = (
                    f"The engine that serves {self._path.name} {words}. It starts anew with the next message."
                )
                raise replace(fault, kind="stream", sentence=text) from None
            raise

    async def _again(self) -> None:
        await self._engine.aclose()
        try:
            engine = await start_engine(self._path, self._window, self._head.size, self._progress)
        except NotServed as problem:
            raise ModelFault("connect", str(problem)) from None
        schemas, info = self._client.schemas, self._client.info
        await self._client.aclose()
        self._engine = engine
        self._client = self._opened(replace(info, base_url=engine.base_url))
        self._client.learn(schemas)

    async def aclose(self) -> None:
        """End the engine."""
        await self._client.aclose()
        await self._engine.aclose()
