"""From a server entry to what is launched: variables filled in, paths made whole.

Not here: the text form of variables (store.expansion), looking a command up on PATH (process).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hel_tui.core.mcp.entries import Address, Launch, ServerEntry, Unset
from hel_tui.core.store.expansion import expand, expand_home
from hel_tui.core.store.lookup import start_folder
from hel_tui.core.store.secrets import keyring_value


def expand_address(
    entry: ServerEntry,
    environ: Mapping[str, str],
    keyring: Callable[[str], str | None] = keyring_value,
) -> Address | Unset:
    """Fill in the variables of a remote entry: url, headers, ca, helper and its env, oauth.

    Returns `Unset` with every name that lacks a value. A relative `ca` starts at the entry's default folder.
    The helper is parted into words first: what a variable holds is part of one word.
    """
    unset: dict[str, None] = {}

    def fill(text: str) -> str:
        if entry.is_typed:
            return text
        filled, missing = expand(text, environ, keyring)
        unset.update(dict.fromkeys(missing))
        return filled

    def fill_all(value: Any) -> Any:
        if isinstance(value, str):
            return fill(value)
        if isinstance(value, dict):
            return {key: fill_all(item) for key, item in value.items()}
        return [fill_all(item) for item in value] if isinstance(value, list) else value

    url = fill(entry.url)
    headers = tuple((name, fill(value)) for name, value in entry.headers)
    env = tuple((name, fill(value)) for name, value in entry.env)
    ca = fill(entry.ca)
    helper = tuple(fill(word) for word in shlex.split(entry.headers_helper))
    oauth = fill_all(entry.oauth) if isinstance(entry.oauth, dict) else {}
    written = fill(entry.cwd)
    if unset:
        return Unset(tuple(unset))
    cwd = start_folder(written, entry.default_cwd, environ)
    if helper:
        helper = (expand_home(helper[0], environ), *helper[1:])
    if ca:
        ca = os.path.normpath(cwd / expand_home(ca, environ))
    return Address(url, headers, ca, helper, env, cwd, oauth)


def values_filled_in(texts: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the environment's variables that `texts` refer to."""
    names = {name for text in texts for name in re.findall(r"\$\{([A-Za-z_][A-Za-z0-9_]*)", text)}
    return tuple(environ[name] for name in sorted(names) if environ.get(name))


def expand_launch(
    entry: ServerEntry,
    environ: Mapping[str, str],
    keyring: Callable[[str], str | None] = keyring_value,
) -> Launch | Unset:
    """Fill in the variables of a stdio entry's command, args, env and cwd.

    A leading `~` is the home folder in `command` and `cwd`. A relative `cwd` starts at the entry's default
    folder, and a relative command with a slash in it at the `cwd`, so that neither depends on where hel was
    started. Returns `Unset` with every name that lacks a value. Only an entry that says `${keyring:…}`
    asks the keyring, which may block.
    """
    unset: dict[str, None] = {}

    def fill(text: str) -> str:
        if entry.is_typed:
            return text
        filled, missing = expand(text, environ, keyring)
        unset.update(dict.fromkeys(missing))
        return filled

    command = expand_home(fill(entry.command), environ)
    args = tuple(fill(arg) for arg in entry.args)
    env = tuple((name, fill(value)) for name, value in entry.env)
    written = fill(entry.cwd)
    if unset:
        return Unset(tuple(unset))
    cwd = start_folder(written, entry.default_cwd, environ)
    if "/" in command:
        command = os.path.normpath(cwd / command)
    return Launch(command, args, env, cwd)
