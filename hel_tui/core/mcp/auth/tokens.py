"""Tokens and what belongs to them, per server URL, in the system's keyring or in a private file.

They outlive hel, and several hels at once share them: a refresh is done by one, with what the store holds
then. Not here: getting tokens (grants, authorization), the keyring's own oddities (keyrings).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hel_tui.core.mcp.auth.discovery import AuthorizationServer
from hel_tui.core.mcp.auth.keyrings import Ring
from hel_tui.core.mcp.auth.registration import Registration
from hel_tui.core.store.atomic import Document, locked, read_toml, update_toml
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    from pydantic import TypeAdapter

EARLY = 60.0
"""Seconds before its end at which a token counts as stale, so that no request carries one that just ended."""
SHARE = 0.1
"""Of a short token's life, at most."""
_IN_KEYRING: Document = {"in_keyring": True}

TURN_LIMIT = 45.0
"""Seconds to wait for another hel that refreshes the same token; longer than a request may take."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token and what it came with."""

    access: str
    obtained: float
    """Unix time."""
    expires: float = 0.0
    """Unix time; 0 when the server did not say."""
    refresh: str = ""
    scopes: tuple[str, ...] = ()
    """Granted; as requested where the server does not say (RFC 6749 section 5.1)."""

    def is_stale(self, now: float) -> bool:
        """Whether it has ended or is about to."""
        if not self.expires:
            return False
        early = min(EARLY, SHARE * max(0.0, self.expires - self.obtained))
        return now >= self.expires - early


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of the authorization at one server."""

    tokens: Tokens | None = None
    registration: Registration | None = None
    server: AuthorizationServer | None = None
    """The authorization server the tokens are of: a refresh goes there and nowhere else."""
    resource: str = ""
    requested: tuple[str, ...] = ()
    """Every scope asked for so far: a further login asks for these too."""

    def data(self) -> dict[str, Any]:
        """As plain data for a store. The secret of a configured client stays where the person keeps it."""
        kept = self
        if self.registration is not None and self.registration.how == "configured":
            kept = replace(self, registration=replace(self.registration, client_secret=""))
        data: dict[str, Any] = _form().dump_python(kept, mode="json", exclude_defaults=True)
        return data

    @classmethod
    def of(cls, data: Any) -> Known:
        """From plain data; nothing when it is not what `data` makes."""
        from pydantic import ValidationError

        try:
            return _form().validate_python(data or {})
        except ValidationError:
            return cls()


@cache
def _form() -> TypeAdapter[Known]:
    from pydantic import TypeAdapter

    return TypeAdapter(Known)


class TokenStore:
    """Where `Known` is kept between runs. Its methods wait for keyring and disk beside the loop.

    The file says what the keyring holds: it is not asked about other servers, as it may ask the person.
    """

    def __init__(self, state: Path, *, keyring: bool = True) -> None:
        """`state` is hel's state folder; without `keyring` everything is kept in a file there."""
        self._file = state / "tokens.toml"
        self._turns = state / "tokens"
        self._ring = Ring() if keyring else None

    async def load(self, url: str) -> tuple[Known, str]:
        """Return what is known of the server at `url` (canonical), and a sentence when it cannot be read."""
        document, problem = await in_thread(lambda: read_toml(self._file), "hel-tokens")
        data = document.get(url)
        if data != _IN_KEYRING:
            return Known.of(data), problem
        if self._ring is None or (kept := await self._ring.get(url)) is None:
            return Known(), "the system's keyring, which has the tokens, cannot be read"
        return Known.of(kept), ""

    async def save(self, url: str, known: Known) -> str:
        """Keep `known`. Returns why it could not be kept, as a sentence; empty when it is safe."""
        data = known.data()
        if self._ring is not None and await self._ring.put(url, data):
            data = _IN_KEYRING
        return await self._in_file(url, data)

    async def forget(self, url: str) -> str:
        """Forget all about the server. Returns a sentence when something is left; empty when nothing is."""
        dropped = self._ring is None or await self._ring.drop(url)
        return await self._in_file(url, None) or ("" if dropped else "the keyring did not forget the tokens")

    async def _in_file(self, url: str, data: Document | None) -> str:
        def change(document: Document) -> None:
            if data is None:
                document.pop(url, None)
            else:
                document[url] = data

        def write() -> str:
            if data is None and not self._file.exists():
                return ""
            problem = update_toml(self._file, change)
            return problem.sentence if problem else ""

        return await in_thread(write, "hel-tokens")

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """Hold the right to refresh the tokens of `url` among all hels of this person.

        A hel that was stopped in the middle keeps others waiting for TURN_LIMIT at most.
        """
        name = self._turns / hashlib.sha256(url.encode()).hexdigest()[:16]
        with ExitStack() as held:
            taking = asyncio.ensure_future(
                in_thread(lambda: held.enter_context(locked(name, TURN_LIMIT)), "hel-tokens")
            )
            try:
                with suppress(OSError):  # no lock can be had: better to go on alone than not at all
                    await asyncio.shield(taking)
            except asyncio.CancelledError:
                taking.add_done_callback(lambda done: _let_go(done, held))
                raise
            yield


def _let_go(taken: asyncio.Future[Any], held: ExitStack) -> None:
    """Give back what was taken after nobody waited for it any more."""
    taken.exception()
    held.close()
