"""Credentials have no place in a file of checks: variables have.

Not here: what looks like a credential (store.redact), the text form of variables (store.expansion).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hel_tui.core.store.expansion import expand
from hel_tui.core.store.redact import looks_like_secret
from hel_tui.core.vocabulary import Json


def credential_in(arguments: Json) -> str:
    """Say which argument seems to be a credential written out; "" when none does."""
    for path, name, value in _strings(arguments, "arguments", "arguments"):
        if looks_like_secret(name, value):
            return f"`{path}` seems to be a credential: write ${{VAR}} and set VAR where checks are run"
    return ""


def filled_in(arguments: Json, environ: Mapping[str, str]) -> tuple[Json, tuple[str, ...], tuple[str, ...]]:
    """Return the arguments with `${VAR}` filled in, those of them that are credentials now, and variables
    without a value.

    Only the environment is asked, never the keyring: a file of a repository gets nothing out of it.
    """
    unset: dict[str, None] = {}
    values: dict[str, None] = {}

    def fill(value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            text, missing = expand(value, environ)
            unset.update(dict.fromkeys(missing))
            if text != value and looks_like_secret(name, text):
                values[text] = None
            return text
        if isinstance(value, dict):
            return {key: fill(item, key) for key, item in value.items()}
        return [fill(item, name) for item in value] if isinstance(value, list) else value

    return fill(arguments), tuple(values), tuple(unset)


def _strings(value: Any, path: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Every text in a JSON value: its path, the key it stands under, itself."""
    if isinstance(value, str):
        yield path, name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{path}.{key}", key)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _strings(item, f"{path}[{at}]", name)
