"""Which models a person can choose: of providers with a key, engines on this machine, and those used lately.

All are asked at once, each its own way; what one of them says does not wait for another. Not here: how one is
asked (local, engines), which one is chosen (choose).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hel_tui.core.models.choose import HEL_KEY, Keyring
from hel_tui.core.models.engines import engine_models
from hel_tui.core.models.entries import Listed, told_by
from hel_tui.core.models.known import facts_of, window_of
from hel_tui.core.models.local import is_listening, listed_models, local_places
from hel_tui.core.models.prices import listed as priced
from hel_tui.core.models.profiles import LOCAL, PROFILES, profile_of, runs_here
from hel_tui.core.models.sight import sees_by_name
from hel_tui.core.models.types import ModelInfo
from hel_tui.core.protocol import ModelList, ModelRow, ProviderRow
from hel_tui.core.threads import in_thread

LIMIT = 8.0
"""Seconds a provider gets to list its models."""
KEPT = 600.0
"""Seconds for which the list of a provider elsewhere is taken as it was."""
OWN_PORTS = ("ollama", "lmstudio")
"""Engines with ports of their own. What is amiss at the others' is more likely somebody's web server."""
_TWINS = ("openai-chat", "openai-responses")
"""Other ways to speak to a provider that is listed already."""


@dataclass(frozen=True, slots=True)
class Place:
    """Somebody to ask."""

    provider: str
    base_url: str
    key: str = field(default="", repr=False)
    key_source: str = ""
    is_local: bool = False
    own_address: bool = False
    """The address is the person's, not the provider's own."""


@dataclass(frozen=True, slots=True)
class Known:
    """A model that was used: (label, base URL), newest first."""

    label: str
    base_url: str = ""


class Survey:
    """What is known of all models. Lives in the core's loop; `told` may be read from any thread."""

    def __init__(
        self, changed: Callable[[int, int], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`changed` hears how many models are known and how many places have not answered yet."""
        self._changed = changed
        self._clock = clock
        self._answers: dict[Place, tuple[float, tuple[Listed, ...], str]] = {}
        self._asking: set[Place] = set()
        self._places: tuple[Place, ...] = ()
        self.told = ModelList()

    async def look(self, places: Sequence[Place], recent: Sequence[Known], *, again: bool = False) -> None:
        """Ask all these places, but for those that answered lately; tell with each that answers."""
        now = self._clock()
        self._places = tuple(dict.fromkeys(places))
        wanted = [
            place
            for place in self._places
            if place not in self._asking and (again or place.is_local or self._is_old(place, now))
        ]
        self._asking.update(wanted)
        self._tell(recent)

        async def ask(place: Place) -> None:
            try:
                listed, problem = await _asked(place)
                self._answers[place] = (self._clock(), listed, problem)
            finally:
                self._asking.discard(place)
                self._tell(recent)

        await asyncio.gather(*map(ask, wanted))

    def _is_old(self, place: Place, now: float) -> bool:
        answer = self._answers.get(place)
        return answer is None or bool(answer[2]) or now - answer[0] > KEPT

    def _tell(self, recent: Sequence[Known]) -> None:
        providers: list[ProviderRow] = []
        rows: dict[tuple[str, str], ModelRow] = {}
        for place in self._places:
            _, listed, problem = self._answers.get(place, (0.0, (), ""))
            waiting = place in self._asking
            if place.is_local and not listed and not waiting and not problem:
                continue  # nothing listens there: nobody asked for it
            providers.append(
                ProviderRow(
                    place.provider,
                    place.base_url,
                    place.key_source,
                    place.is_local,
                    waiting,
                    "" if waiting else problem,
                    len(listed),
                )
            )
            for one in listed:
                row = row_of(place, one)
                rows.setdefault((row.label, row.base_url), row)
        self.told = ModelList(tuple(providers), tuple(_by_use(rows, recent)))
        self._changed(len(self.told.models), len(self._asking))


def _by_use(rows: dict[tuple[str, str], ModelRow], recent: Iterable[Known]) -> list[ModelRow]:
    used: list[ModelRow] = []
    for known in recent:
        row = rows.pop((known.label, known.base_url), None) or row_of_label(known.label, known.base_url)
        if row is not None:
            used.append(replace(row, recent=True))
    return [*used, *rows.values()]


async def _asked(place: Place) -> tuple[tuple[Listed, ...], str]:
    if place.is_local:
        if not await is_listening(place.base_url):
            return (), ""
        listed, problem = await engine_models(place.provider, place.base_url, place.key, LIMIT)
        return listed, problem if place.provider in OWN_PORTS else ""
    api = profile_of(place.provider, "", place.base_url if place.own_address else "").dialect.api
    return await listed_models(place.base_url, place.key, LIMIT, api)


def row_of(place: Place, listed: Listed) -> ModelRow:
    """A listed model with what its name and the table of prices tell beside."""
    return _row(place.provider, listed.name, place.base_url, listed, place.own_address)


def row_of_label(label: str, base_url: str) -> ModelRow | None:
    """A model that was used, without anybody being asked."""
    provider, _, name = label.partition("/")
    profile = PROFILES.get(provider)
    if not name or (profile is None and not base_url):
        return None
    address = base_url or (profile.base_url if profile is not None else "")
    return _row(provider, name, address, Listed(name), bool(base_url))


def _row(provider: str, name: str, address: str, listed: Listed, own: bool) -> ModelRow:
    facts, table = facts_of(provider, name), priced(address, name)
    label = f"{'openai' if provider in _TWINS else provider}/{name}"
    by_name = sees_by_name(name)
    by_default = True if profile_of(provider, name).dialect.parallel == "made" and not own else None
    info = told_by(
        ModelInfo(
            provider,
            name,
            address,
            window=window_of(label) or facts.window or table.window,
            thinks=facts.thinks,
            efforts=facts.efforts,
            max_output=facts.max_output,
        ),
        listed,
    )
    rate = listed.rate or (table.prices.at()[0] if table.prices is not None else None)
    return ModelRow(
        provider,
        name,
        address if own else "",
        info.window,
        info.max_output,
        info.sees if info.sees is not None else by_name,
        info.tools,
        info.thinks,
        info.efforts,
        listed.loaded,
        rate.input if rate is not None else None,
        rate.cached if rate is not None else None,
        rate.output if rate is not None else None,
        is_local=not own and runs_here(provider, name),
        parallel=listed.parallel if listed.parallel is not None else by_default,
    )


# ------------------------------------------------------------------- who to ask


async def places_of(
    environ: Mapping[str, str], keyring: Keyring, own: tuple[str, str] = ("", "")
) -> tuple[Place, ...]:
    """Providers with a key of theirs, the endpoint `own` (provider, base URL) where the person has one, and
    the ports on which engines listen.
    """
    return await in_thread(lambda: _places(environ, keyring, own), "hel-keyring")


def _places(environ: Mapping[str, str], keyring: Keyring, own: tuple[str, str]) -> tuple[Place, ...]:
    found: list[Place] = []
    provider, base_url = own
    if base_url and provider:
        variable = profile_of(provider).key_variable
        name = next((one for one in (HEL_KEY, variable) if one and environ.get(one, "").strip()), "")
        key = environ.get(name, "").strip()
        found.append(Place(provider, base_url, key, name, own_address=True))
    for profile in PROFILES.values():
        if not profile.key_variable or profile.name in _TWINS:
            continue
        if key := environ.get(profile.key_variable, "").strip():
            found.append(Place(profile.name, profile.base_url, key, profile.key_variable))
        elif key := (keyring(profile.name) or "").strip():
            found.append(Place(profile.name, profile.base_url, key, f"keyring hel {profile.name}"))
    found += [Place(name, url, is_local=True) for name, url in local_places() if name in LOCAL]
    return tuple(found)
