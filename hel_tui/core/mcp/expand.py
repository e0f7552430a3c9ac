"""From a server entry to what is launched: variables filled in, paths made whole.

Not here: the text form of variables (store.expansion), looking a command up on PATH (process).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from hel_tui.core.mcp.entries import Launch, ServerEntry, Unset
from hel_tui.core.store.expansion import expand, expand_home
from hel_tui.core.store.lookup import start_folder
from hel_tui.core.store.secrets import keyring_value


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
