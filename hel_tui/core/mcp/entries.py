"""One configured server: the entry as read from a file, and what is launched after expansion.

Data only. Not here: reading files (config), trust (permissions), processes (process).
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.protocol import LogLevel
from hel_tui.core.vocabulary import Json

Scope = Literal["command line", "local", "project", "user"]
Transport = Literal["stdio", "http", "sse"]
Protocol = Literal["auto", "handshake", "stateless"]
"""Which era of the protocol to speak: find out, `initialize` (up to 2025-11-25), `server/discover` (from
2026-07-28)."""
OnListChanged = Literal["refresh", "ignore"]

DEFAULT_TIMEOUT = 300.0
"""Seconds a call may wait."""
DEFAULT_STARTUP_TIMEOUT = 30.0
"""Seconds after which a starting server is shown as slow."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A valid entry of a server file, variables not yet expanded."""

    name: str
    scope: Scope
    file: Path
    transport: Transport
    definition: Json
    """The entry as parsed: what trust is bound to."""
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    """As written; empty means `default_cwd`."""
    default_cwd: Path = Path()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = DEFAULT_TIMEOUT
    startup_timeout: float = DEFAULT_STARTUP_TIMEOUT
    enabled: bool = True
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    always_load: bool = False
    trust_annotations: bool = False
    reconnect: bool = True
    parallel: bool = False
    roots: bool = True
    elicitation: bool = True
    sampling: bool = False
    utility_tools: bool = False
    on_list_changed: OnListChanged | None = None
    """None leaves it to the settings."""
    protocol: Protocol = "auto"
    log_level: LogLevel | None = None
    watch: tuple[str, ...] = ()
    """Globs of author mode, relative to `default_cwd`: a save starts the next generation."""
    headers_helper: str = ""
    """A command whose output are headers, as JSON."""
    oauth: Json | bool | None = None
    """Settings for authorization; False for none whatever the server says."""
    ca: str = ""
    """A file of certificates to trust besides the system's."""
    insecure: bool = False
    """Do not check the server's certificate."""
    is_typed: bool = False
    """It was given on the command line: no file has it, and nothing in it is a variable."""

    @property
    def oauth_settings(self) -> tuple[tuple[str, str, Any], ...]:
        """What `oauth` says: hel's name of each key ("" for none), the key as written, its value."""
        from hel_tui.core.mcp.auth.settings import named

        return named(self.oauth) if isinstance(self.oauth, dict) else ()

    @property
    def identity(self) -> str:
        """A hash of how it is configured, its file and definition; the order of keys does not count."""
        where = os.path.realpath(self.file)
        text = json.dumps([where, self.definition], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Launch:
    """A stdio server ready to be started: everything expanded."""

    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    """What the entry adds on top of the safe base environment."""
    cwd: Path


@dataclass(frozen=True, slots=True)
class Address:
    """A server to be reached over HTTP: everything expanded."""

    url: str
    headers: tuple[tuple[str, str], ...]
    ca: str
    """Path of a file; empty for none."""
    helper: tuple[str, ...]
    """The words of `headersHelper`; empty for none."""
    env: tuple[tuple[str, str], ...]
    """What the entry adds to the environment of the helper."""
    cwd: Path
    oauth: Json
    """Settings for authorization with their variables filled in."""


@dataclass(frozen=True, slots=True)
class Unset:
    """The entry cannot be started: variables without value and without default."""

    names: tuple[str, ...] = field(default=())

    def fault(self) -> ServerFault:
        """Why the server is not started."""
        verb = "is" if len(self.names) == 1 else "are"
        whats = [f"keyring entry {name[8:]}" if _is_kept(name) else name for name in self.names]
        mend = next((f": hel mcp secret set {name[8:]}" for name in self.names if _is_kept(name)), "")
        return ServerFault("entry", f"not started: {' and '.join(whats)} {verb} not set{mend}", lasting=True)


def _is_kept(name: str) -> bool:
    return name.startswith("keyring:")
