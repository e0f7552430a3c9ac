"""Which model answers in a session, which one stands in for it, and what to say when none does.

Not here: how a model is spoken to (models), the list of all there are (model_list), a picker (a screen).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from hel_tui.core.models.types import EFFORTS, ChatModel, FaultKind, ModelFault, ModelInfo
from hel_tui.core.options import Options
from hel_tui.core.protocol import Event, ModelChanged, ModelLoading, Notice
from hel_tui.core.store.secrets import keyring_value

PASSING: tuple[FaultKind, ...] = ("rate", "server", "connect", "offline", "timeout")
"""Faults that say nothing against the request: another model may answer it."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What settings say where the command line says nothing."""

    model: str = ""
    base_url: str = ""
    vision: bool | None = None
    """Whether models take images."""
    parallel: bool | None = None
    """Whether they may make several calls in one answer."""
    window: int = 0
    """Tokens; 0 leaves it to the model."""
    fallback: str = ""
    effort: str = ""


class Model:
    """The model of one session: chosen at the start, switched by command."""

    def __init__(
        self,
        options: Options,
        emit: Callable[[Event], None],
        wishes: Wishes,
        hide: Callable[[str], None],
        keyring: Callable[[str], str | None] = keyring_value,
    ) -> None:
        """`hide` hears keys that must not be shown."""
        self._options = options
        self._emit = emit
        self._hide = hide
        self._keyring = keyring
        self._wishes = wishes
        self.effort = options.effort or wishes.effort
        """How hard the model is asked to think; empty leaves it to its provider."""
        self.note = ""
        self.current: ChatModel | None = None
        self.changed: Callable[[], None] = lambda: None
        """Called when another model answers from now on."""
        self.learned: Callable[[], None] = lambda: None
        """Called when its endpoint told more of the model that answers."""
        self.is_busy: Callable[[], bool] = lambda: False
        """Whether a turn runs: it goes on with the model it began with."""
        self._lent: list[ChatModel] = []
        """Models that somebody asks beside the turns."""
        self._left: list[ChatModel] = []
        """Models that were chosen once and are still to be closed."""
        self._closing: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[None]] = set()
        """Ask endpoints of models for what nobody else knows of them."""
        self._stand_in: ChatModel | None = None
        self._stands_in = False
        self._choosing = asyncio.Lock()
        self._choices = 0
        """How many are under way or wait for another."""
        self._settled = asyncio.Event()
        self._falling = asyncio.Lock()
        self._judged = ""
        """The model to stand in that was looked at."""
        self._loading: asyncio.Task[object] | None = None
        """Loads a file; it can be given up."""

    def wish(self, wishes: Wishes) -> None:
        """What holds where nothing is named, from now on."""
        if self.effort == self._wishes.effort:
            self.effort = self._options.effort or wishes.effort
        self._wishes = wishes
        self._judge_stand_in()

    @property
    def base_url(self) -> str:
        """The person's own address of the model that answers; empty for its provider's."""
        return self._base_url

    _base_url = ""

    async def choose(self, model: str | None, base_url: str | None) -> str | None:
        """Switch to the model named (None: the default). Returns its label, "" for none, None when another
        choice came before this one was made.

        One choice after the other; a file that is being loaded is given up for another choice.
        """
        if self._loading is not None:
            self._loading.cancel()
        self._choices += 1
        self._settled.clear()
        try:
            async with self._choosing:
                return await self._chosen(model, base_url)
        finally:
            self._choices -= 1
            if not self._choices:
                self._settled.set()

    async def settled(self) -> ChatModel | None:
        """The model that answers, once it is known.

        Waits at the start for the first choice, and during a switch for the last choice that was asked for:
        what is sent meanwhile is for the model the person named. A choice that came to nothing, or failed
        inside, is over too: then it is the model there was before, or None, with the reason in `note`.
        """
        await self._settled.wait()
        return self.current

    async def _chosen(self, model: str | None, base_url: str | None) -> str | None:
        if model is None and base_url is None and self._wishes.model:
            model, base_url = self._wishes.model, self._wishes.base_url or None
        opening = asyncio.ensure_future(self._opened(model, base_url))
        try:
            await asyncio.wait([opening])
        finally:
            opening.cancel()
        if opening.cancelled():
            return None
        found = opening.result()
        if found is None and self.current is not None:
            self._announce(self.current)
            return ""
        previous, self.current = self.current, found
        self._base_url = base_url or ""
        self.changed()
        if previous is not None:
            self._left.append(previous)
        if not self.is_busy():
            await self._close_left()
        self._announce(found)
        if found is not None and self.note:
            self._emit(Notice("warning", self.note, found.info.label))
        if found is not None and not found.info.window:
            self._go(self._look_up(found), self._asking)
        self._judge_stand_in()
        return found.info.label if found is not None else ""

    async def _look_up(self, model: ChatModel) -> None:
        """Tell what its endpoint says of a model about which nobody else knows enough."""
        if await model.look_up() and model is self.current:
            if not self._stands_in:
                self._announce(model)
            self.changed()
            self.learned()

    def _go(self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _opened(self, model: str | None, base_url: str | None) -> ChatModel | None:
        from hel_tui.core.models.choose import open_model

        label, told = model or "", False

        def loading(done: int, size: int) -> None:
            nonlocal told
            told, self._loading = True, asyncio.current_task()
            self._emit(ModelLoading(label, done, size))

        try:
            opened = await open_model(
                model,
                base_url,
                environ=self._options.environ,
                keyring=self.key,
                vision=self._wishes.vision,
                parallel=self._wishes.parallel,
                folder=self._options.project,
                window=self._wishes.window,
                progress=loading,
            )
        finally:
            self._loading = None
            if told:
                self._emit(ModelLoading(label))
        self.note = opened.note
        return opened.model

    async def blind(self, model: ChatModel | None) -> str:
        """A sentence when this model takes no images, else empty."""
        if model is None or await model.sight():
            return ""
        from hel_tui.core.models.sight import why_blind

        return why_blind(model.info)

    def set_effort(self, effort: str) -> str:
        """How hard to think from now on; a sentence when there is no such effort, else empty."""
        word = effort.strip().lower()
        known = self.current.info.efforts if self.current is not None else ()
        if word and word not in (known or EFFORTS):
            name = self.current.info.label if self.current is not None else "The model"
            if known:
                return f"{name} has no effort {effort[:20]!r}: {', '.join(known)}."
            return f"There is no effort {effort[:20]!r}: {', '.join(EFFORTS)}."
        self.effort = word
        self._announce(self.current)
        return ""

    def key(self, name: str) -> str | None:
        """A key from the keyring, known as a secret before anything is done with it."""
        value = self._keyring(name)
        if value:
            self._hide(value)
        return value

    def _announce(self, model: ChatModel | None, *, stands_in: bool = False) -> None:
        if model is None:
            self._emit(ModelChanged("", self.note))
            return
        info = model.info
        self._emit(
            ModelChanged(
                info.label,
                "" if stands_in else self.note,
                is_demo=info.is_demo,
                window=info.window,
                effort=self.effort,
                efforts=info.efforts,
                sees=info.sees,
                stands_in=stands_in,
            )
        )

    # ------------------------------------------------------------ standing in

    @property
    def _stand_in_wanted(self) -> str:
        return self._options.fallback_model or self._wishes.fallback

    def _address_for(self, wanted: str, failed: ModelInfo) -> str | None:
        """The person's own address, where it is that of the wanted model's provider."""
        same = wanted.partition("/")[0] == failed.provider
        return (self._base_url or None) if same else None

    def _judge_stand_in(self) -> None:
        """Say at once, not only when it is needed, that the one that is to stand in cannot be had."""
        wanted = self._stand_in_wanted
        if self.current is None or not wanted or wanted == self._judged:
            return
        from hel_tui.core.models.choose import problem_with

        self._judged = wanted
        if problem := problem_with(wanted, self._address_for(wanted, self.current.info)):
            self._emit(Notice("warning", f"{wanted} cannot stand in: {problem}"))

    async def fall_back(self, fault: ModelFault, failed: ChatModel) -> ChatModel | None:
        """The model that answers the rest of the turn after such a fault of another one, told to the person;
        None when there is none, or when another could not do better.
        """
        wanted = self._stand_in_wanted
        if not wanted or fault.kind not in PASSING or fault.partial is not None:
            return None
        if wanted == failed.info.label or failed is self._stand_in:
            return None
        async with self._falling:
            if not self._stands_in:
                await self._stand_in_for(failed, wanted, fault.sentence)
            return self._stand_in if self._stands_in else None

    async def _stand_in_for(self, failed: ChatModel, wanted: str, why: str) -> None:
        if self._stand_in is None or self._stand_in.info.label != wanted:
            from hel_tui.core.models.choose import HEL_KEY, open_model

            same = wanted.partition("/")[0] == failed.info.provider
            environ = self._options.environ
            if not same:  # that key is for the endpoint of the model that failed
                environ = {name: value for name, value in environ.items() if name != HEL_KEY}
            opened = await open_model(
                wanted,
                self._address_for(wanted, failed.info),
                environ=environ,
                keyring=self.key,
                vision=self._wishes.vision,
                parallel=self._wishes.parallel,
                folder=self._options.project,
            )
            if opened.model is None:
                self._emit(Notice("warning", f"{why} {wanted} cannot stand in: {opened.note}"))
                return
            await self._dismiss()
            self._stand_in = opened.model
        self._stands_in = True
        label = self._stand_in.info.label
        self._emit(Notice("warning", f"{why} {label} answers the rest of this turn."))
        self._announce(self._stand_in, stands_in=True)
        self.changed()

    def turn_over(self) -> None:
        """The turn has ended: the model that was chosen answers the next one."""
        if self._stands_in:
            self._stands_in = False
            self._announce(self.current)
            self.changed()
        if self._left:
            self._go(self._close_left(), self._closing)

    async def _close_left(self) -> None:
        while free := [model for model in self._left if model not in self._lent]:
            self._left.remove(free[0])
            await free[0].aclose()

    @contextlib.contextmanager
    def lent(self, model: ChatModel) -> Iterator[None]:
        """Keep a model open while it is asked beside the turns, though another may be chosen meanwhile."""
        self._lent.append(model)
        try:
            yield
        finally:
            self._lent.remove(model)
            if self._left and not self.is_busy():
                self._go(self._close_left(), self._closing)

    async def _dismiss(self) -> None:
        if self._stand_in is not None:
            model, self._stand_in = self._stand_in, None
            await model.aclose()

    async def aclose(self) -> None:
        """Close the connections to endpoints."""
        if self._loading is not None:
            self._loading.cancel()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._dismiss(), 1.0)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(self._close_left(), *self._closing), 1.0)
        for task in self._asking:
            task.cancel()
        if self.current is not None:
            model, self.current = self.current, None
            await asyncio.wait_for(model.aclose(), 1.0)
