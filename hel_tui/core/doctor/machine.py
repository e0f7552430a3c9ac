"""What hel itself stands on: Python, the terminal, helpers, folders, files, the keyring. Facts with a mend.

Not here: servers (behaviour, remote).
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from hel_tui import __version__
from hel_tui.core.mcp.config import Configuration
from hel_tui.core.protocol import Finding, Health
from hel_tui.core.store.places import Places

_HELPERS = (
    ("rg", "grep searches with it", "install ripgrep: searches are slower without"),
    ("bwrap", "bash runs in a sandbox", "install bubblewrap: without it bash asks each time"),
    ("git", "projects under version control", ""),
    ("npx", "servers from npm", "install Node.js for servers that npx starts"),
    ("uvx", "servers from PyPI", "install uv for servers that uvx starts"),
)


def machine(environ: Mapping[str, str], places: Places, project: Path) -> Iterator[Finding]:
    """What is true of this machine and this terminal."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "hel", f"hel {__version__}, textual {version('textual')}, Python {python}")
    yield Finding("info", "system", f"{platform.system()} {platform.release()} {platform.machine()}")
    yield from _terminal(environ)
    for name, what, mend in _HELPERS:
        found = shutil.which(name, path=environ.get("PATH"))
        if name == "bwrap" and sys.platform != "linux":
            continue
        if found:
            yield Finding("ok", "programs", f"{name}: {what} ({found})")
        else:
            yield Finding(
                "warning" if name in ("rg", "bwrap") else "info", "programs", f"{name} is missing", mend=mend
            )
    for label, folder in (("configuration", places.config), ("state", places.state)):
        yield _folder(label, folder)
    yield _keyring(places)
    if not (project / ".git").exists():
        yield Finding("info", "project", f"{project} is no git repository")


def _terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    term, colours = environ.get("TERM", ""), environ.get("COLORTERM", "")
    if not term or term == "dumb":
        yield Finding("warning", "terminal", f"TERM is {term or 'not set'}", mend="run hel in a terminal")
        return
    depth = (
        "24-bit colours" if colours in ("truecolor", "24bit") else "COLORTERM does not promise 24-bit colours"
    )
    inside = " inside tmux" if environ.get("TMUX") else ""
    yield Finding("ok", "terminal", f"{term}{inside}, {depth}")
    encoding = (environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or "").lower()
    if "utf" not in encoding:
        sentence = "the locale does not say UTF-8"
        yield Finding("warning", "terminal", sentence, mend="export LANG=C.UTF-8, or your own with .UTF-8")
    if environ.get("TMUX"):
        mend = "in tmux.conf: set -g set-clipboard on; set -g allow-passthrough on"
        yield Finding(
            "info", "terminal", "copying goes through tmux, which must be told to pass it on", mend=mend
        )


def _folder(label: str, folder: Path) -> Finding:
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding(
            "error",
            "folders",
            f"the {label} folder cannot be written: {folder}",
            mend=f"chown or chmod {there}",
        )
    return Finding("ok", "folders", f"{label}: {folder}")


def _keyring(places: Places) -> Finding:
    from hel_tui.core.store.secrets import has_keyring

    if has_keyring():
        return Finding("ok", "keyring", "the system's keyring keeps tokens and secrets")
    return Finding("info", "keyring", f"there is no keyring: secrets go to a private file in {places.state}")


def files(configuration: Configuration, pending: tuple[str, ...]) -> Iterator[Finding]:
    """What is true of the server files: what was read, what is wrong in them, what waits for approval."""
    for one in configuration.files:
        yield Finding("ok", "files", f"{one.scope}: {one.path}")
    for problem in configuration.problems:
        health: Health = "error" if problem.severity == "error" else "info"
        yield Finding(health, "files", str(problem))
    for entry, winner in configuration.shadowed:
        sentence = f"{entry.name} in {entry.file} is not used: {winner.file} ({winner.scope}) has that name"
        yield Finding("info", "files", sentence)
    for name in pending:
        yield Finding("warning", "trust", f"{name} is not approved for this project", mend="hel mcp trust")
    if not configuration.entries and not configuration.problems:
        yield Finding("info", "files", "no server is configured", mend="hel mcp add NAME -- COMMAND …")
