"""Before a process starts: its environment and where its command is found.

Not here: starting it (process), expanding variables (expand).
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping

from hel_tui.core.mcp.entries import Launch
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.store.lookup import find_program, search_path

BASE_NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "SHELL", "TMPDIR", "TZ"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    }
)
"""What a server needs of the person's environment; nothing that holds a key."""
BASE_PREFIXES = ("LC_", "XDG_")


def child_environment(launch: Launch, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: the safe base of `environ`, then what its entry sets."""
    return {**base_environment(environ), **dict(launch.env)}


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What every program hel starts for a server gets of the person's environment."""
    return {
        name: value for name, value in environ.items() if name in BASE_NAMES or name.startswith(BASE_PREFIXES)
    }


def advice_for(launch: Launch) -> str:
    """What may help when the start takes long: npx asks on stdin, unless told not to, and nobody answers."""
    is_npx = launch.command.rpartition(os.sep)[2] in ("npx", "npx.cmd")
    options = itertools.takewhile(lambda arg: arg.startswith("-"), launch.args)
    if is_npx and not {"-y", "--yes", "--no", "--no-install"} & set(options):
        return "npx may be waiting for a yes: add -y in front of its other arguments"
    return ""


def find_command(launch: Launch, env: Mapping[str, str]) -> str:
    """Return the absolute path of the program. Raises ServerFault naming command and PATH searched."""
    command = launch.command
    if not launch.cwd.is_dir():
        raise ServerFault("spawn", f"the folder {launch.cwd} to start in does not exist", lasting=True)
    if os.sep in command:
        path = launch.cwd / command
        if not path.exists():
            raise ServerFault("find", f"no such file: {command} (looked at {path})", lasting=True)
        if path.is_dir() or not os.access(path, os.X_OK):
            raise ServerFault("find", f"{path} is not an executable file", lasting=True)
    searched = search_path(env)
    found = find_program(command, launch.cwd, searched)
    if not found:
        raise ServerFault(
            "find",
            f"not found on PATH: {command}. "
            f"Give its absolute path as command, or set PATH in the entry's env. Searched: {searched}",
            lasting=True,
        )
    return found
