"""The list of all models a person can choose, as a session has it; and which ones were used lately.

Not here: asking for it (models.surveying), which one answers (model).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from hel_tui.core.models.types import ChatModel
from hel_tui.core.protocol import Event, ListModels, ModelList, ModelsListed
from hel_tui.core.session.model import Model
from hel_tui.core.store.memory import recall
from hel_tui.core.store.places import Places
from hel_tui.core.threads import in_thread

MOMENT = 1.0
"""Seconds that the list waits for the model that is being chosen; its endpoint is asked later then."""


class ModelLists:
    """Lives in the core's loop; `told` may be read from any thread."""

    def __init__(
        self, model: Model, places: Places, environ: Mapping[str, str], emit: Callable[[Event], None]
    ) -> None:
        self._model = model
        self._places = places
        self._environ = environ
        self._emit = emit
        self._survey: object = None
        self._placing = asyncio.Lock()
        """One after the other finds out whom to ask."""

    def told(self) -> ModelList:
        """What is known so far."""
        from hel_tui.core.models.surveying import Survey

        return self._survey.told if isinstance(self._survey, Survey) else ModelList()

    async def look(self, command: ListModels) -> None:
        """Ask everybody; `ModelsListed` tells as they answer."""
        settling = asyncio.ensure_future(self._model.settled())
        try:
            await asyncio.wait([settling], timeout=MOMENT)
            if settling.done():
                await self._ask(again=command.again)
            else:
                await asyncio.gather(self._ask(again=command.again), self._ask_later(settling))
        finally:
            settling.cancel()

    async def _ask_later(self, settling: asyncio.Future[ChatModel | None]) -> None:
        await settling
        await self._ask(again=False)

    async def _ask(self, *, again: bool) -> None:
        from hel_tui.core.models.surveying import Known, Survey, places_of

        if not isinstance(self._survey, Survey):
            self._survey = Survey(lambda models, waiting: self._emit(ModelsListed(models, waiting)))
        remembered = await in_thread(lambda: recall(self._places), "hel-memory")
        recent = [Known(label, base_url) for label, base_url in remembered.recent]
        async with self._placing:
            current = self._model.current
            own = ("", "")
            if current is not None and self._model.base_url:
                own = (current.info.provider, current.info.base_url)
            places = await places_of(self._environ, self._model.key, own)
        await self._survey.look(places, recent, again=again)
