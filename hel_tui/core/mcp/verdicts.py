"""What was learned of servers at great cost, remembered so that it costs once: who ignores the probe of the
stateless protocol, who only speaks the older HTTP.

The specification (2026-07-28, versioning) allows to keep the verdict per server definition.
Not here: the negotiation itself (handshake).
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

from hel_tui.core.store.atomic import read_toml, update_toml
from hel_tui.core.vocabulary import Json

FILE = "protocols.toml"
LIFETIME = 14 * 86_400
"""Seconds after which a server is probed again: it may have been updated."""
IGNORES_PROBE = "ignores_probe"
SPEAKS_SSE = "speaks_sse"
_MOST = 500


class Verdicts:
    """The remembered verdicts, in a file of the state folder."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / FILE

    def ignores_probe(self, definition: Json) -> bool:
        """True if this server did not answer the probe lately."""
        return self._holds(IGNORES_PROBE, definition)

    def speaks_sse(self, definition: Json) -> bool:
        """True if this server lately spoke only the older HTTP with SSE."""
        return self._holds(SPEAKS_SSE, definition)

    def note_silence(self, definition: Json) -> None:
        """The probe was not answered, yet the old handshake was."""
        self._change(IGNORES_PROBE, definition, int(time.time()))

    def note_sse(self, definition: Json) -> None:
        """It refused streamable HTTP, yet the older transport worked."""
        self._change(SPEAKS_SSE, definition, int(time.time()))

    def forget(self, definition: Json) -> None:
        """It does know the stateless protocol after all."""
        self._change(IGNORES_PROBE, definition, None)

    def forget_sse(self, definition: Json) -> None:
        """It does not speak the older transport any more."""
        self._change(SPEAKS_SSE, definition, None)

    def _holds(self, verdict: str, definition: Json) -> bool:
        document, _ = read_toml(self._path)
        noted = document.get(verdict, {})
        when = noted.get(_key(definition)) if isinstance(noted, dict) else None
        return isinstance(when, int) and time.time() - when < LIFETIME

    def _change(self, verdict: str, definition: Json, when: int | None) -> None:
        def change(document: Json) -> None:
            noted = document.get(verdict)
            noted = dict(noted) if isinstance(noted, dict) else {}
            noted.pop(_key(definition), None)
            if when is not None:
                noted[_key(definition)] = when
            document[verdict] = dict(list(noted.items())[-_MOST:])

        update_toml(self._path, change)


def _key(definition: Json) -> str:
    text = json.dumps(definition, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
