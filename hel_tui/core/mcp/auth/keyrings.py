"""JSON in the system's keyring, whatever the keyring can hold, and quick to give up where there is none.

A keyring may ask the person, block or be locked: every call is made beside the loop and has a limit. Not
here: what is kept (tokens), values a person put there (store.secrets).
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from hel_tui.core.store.secrets import has_keyring
from hel_tui.core.threads import in_thread

SERVICE = "hel-mcp"
LIMIT = 60.0
"""Seconds a keyring may take, such as for asking the person to unlock it."""
PIECE = 1_000
"""Characters in one entry: some keyrings hold little more than two thousand bytes."""

Result = TypeVar("Result")


class Ring:
    """The keyring, as far as it works: after it failed or hung it is left alone for this run."""

    def __init__(self) -> None:
        self._state: Literal["unknown", "works", "none", "fails"] = "unknown"

    async def get(self, name: str) -> dict[str, Any] | None:
        """Return the object kept under `name`; None when there is none or no keyring."""
        return await self._ask(lambda: _read(name), None)

    async def put(self, name: str, data: dict[str, Any]) -> bool:
        """Keep an object under `name`; False when no keyring takes it."""
        return await self._ask(lambda: _write(name, data), False)

    async def drop(self, name: str) -> bool:
        """Forget what is kept under `name`; False when that is not sure."""
        gone = await self._ask(lambda: _drop(name), False)
        return gone or self._state == "none"

    async def _ask(self, work: Callable[[], Result], otherwise: Result) -> Result:
        if self._state in ("none", "fails"):
            return otherwise
        try:
            self._state, result = await asyncio.wait_for(
                in_thread(lambda: _guarded(work, otherwise), "hel-keyring"), LIMIT
            )
        except TimeoutError:
            self._state = "fails"
            return otherwise
        return result


def _guarded(
    work: Callable[[], Result], otherwise: Result
) -> tuple[Literal["works", "none", "fails"], Result]:
    from keyring.errors import KeyringError

    try:
        return ("works", work()) if has_keyring() else ("none", otherwise)
    except (KeyringError, OSError, RuntimeError, ValueError, ImportError):
        return "fails", otherwise


def _read(name: str) -> dict[str, Any] | None:
    import keyring

    head = keyring.get_password(SERVICE, name)
    if head is None:
        return None
    pieces = _named_pieces(head)
    if pieces:
        head = "".join(keyring.get_password(SERVICE, f"{name} {piece}") or "" for piece in pieces)
    return _object(head)


def _write(name: str, data: dict[str, Any]) -> bool:
    """Pieces first, then the head that names them, then the old pieces go: a reader sees old or new."""
    import keyring

    old = _pieces(name)
    text = json.dumps(data)
    if len(text) <= PIECE:
        keyring.set_password(SERVICE, name, text)
    else:
        mark = secrets.token_hex(4)
        pieces = {
            f"{mark}.{start // PIECE}": text[start : start + PIECE] for start in range(0, len(text), PIECE)
        }
        for piece, part in pieces.items():
            keyring.set_password(SERVICE, f"{name} {piece}", part)
        keyring.set_password(SERVICE, name, json.dumps({"pieces": list(pieces)}))
    _forget_pieces(name, old)
    return True


def _drop(name: str) -> bool:
    import keyring
    from keyring.errors import PasswordDeleteError

    old = _pieces(name)
    try:
        keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return keyring.get_password(SERVICE, name) is None
    _forget_pieces(name, old)
    return True


def _pieces(name: str) -> list[str]:
    import keyring

    return _named_pieces(keyring.get_password(SERVICE, name) or "")


def _named_pieces(head: str) -> list[str]:
    """The pieces that the entry `head` names; none when it holds the object itself."""
    named = (_object(head) or {}).get("pieces")
    return [piece for piece in named if isinstance(piece, str)] if isinstance(named, list) else []


def _object(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _forget_pieces(name: str, pieces: list[str]) -> None:
    import keyring
    from keyring.errors import KeyringError

    for piece in pieces:
        try:
            keyring.delete_password(SERVICE, f"{name} {piece}")
        except KeyringError:
            continue
