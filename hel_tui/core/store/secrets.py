"""Values a person keeps in the system's keyring instead of in a file; in a private file where there is none.

Asking may block while the keyring is unlocked: call it outside the loop. Not here: finding secrets in
text (redact), tokens that hel got itself (mcp.auth).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from hel_tui.core.store.atomic import Document, NotWritten, read_toml, update_toml

SERVICE = "hel"
"""The keyring service under which hel's values are kept: `keyring set hel NAME`."""
FILE = "secrets.toml"
LIMIT = 60.0
"""Seconds a keyring may take to keep or forget a value, such as for asking the person to unlock it."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")

Result = TypeVar("Result")


def is_name(name: str) -> bool:
    """Whether `${keyring:NAME}` can be written with this name."""
    return _NAME.fullmatch(name) is not None


def keyring_value(name: str) -> str | None:
    """Return the value kept under `name`, or None when there is none or no keyring can be used."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, name)
    except (KeyringError, OSError, RuntimeError):
        return None


def kept_value(name: str, state: Path) -> str | None:
    """Return what `${keyring:NAME}` stands for: hel's own file in `state` first, which asks nobody."""
    value = _in_file(state).get(name)
    return value if isinstance(value, str) else keyring_value(name)


def is_in_file(name: str, state: Path) -> bool:
    """Whether hel's own file has a value of this name; the keyring is not asked."""
    return name in _in_file(state)


def keep_value(name: str, value: str, state: Path) -> Literal["keyring", "file"] | NotWritten:
    """Keep a value: in the keyring, or in a file only the person can read where no keyring takes it."""
    if _bounded(lambda: _set(name, value), False):
        return _forget_in_file(name, state) or "keyring"

    def change(document: Document) -> None:
        document[name] = value

    return update_toml(state / FILE, change) or "file"


def forget_value(name: str, state: Path) -> bool | NotWritten:
    """Forget a value wherever it is. False when there was none of that name."""
    was_in_file = is_in_file(name, state)
    failed = _forget_in_file(name, state)
    return failed or _bounded(lambda: _delete(name), False) or was_in_file


def has_keyring() -> bool:
    """Whether the system has a keyring that keeps anything."""
    import keyring
    from keyring.backends import fail, null

    return not isinstance(keyring.get_keyring(), fail.Keyring | null.Keyring)


def _in_file(state: Path) -> Document:
    return read_toml(state / FILE)[0]


def _forget_in_file(name: str, state: Path) -> NotWritten | None:
    if not is_in_file(name, state):
        return None

    def change(document: Document) -> None:
        document.pop(name, None)

    return update_toml(state / FILE, change)


def _set(name: str, value: str) -> bool:
    import keyring

    if not has_keyring():
        return False
    keyring.set_password(SERVICE, name, value)
    return True


def _delete(name: str) -> bool:
    import keyring
    from keyring.errors import PasswordDeleteError

    if not has_keyring():
        return False
    try:
        keyring.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return False
    return True


def _bounded(work: Callable[[], Result], otherwise: Result) -> Result:
    """What `work` returns; `otherwise` when the keyring fails or hangs."""
    done: list[Result] = []

    def run() -> None:
        from keyring.errors import KeyringError

        try:
            done.append(work())
        except (KeyringError, OSError, RuntimeError, ValueError, ImportError):
            return

    thread = threading.Thread(target=run, name="hel-keyring", daemon=True)
    thread.start()
    thread.join(LIMIT)
    return done[0] if done else otherwise
