"""What the `hel mcp` commands stand on: the project, its configuration, what is trusted. Read when asked for.

Not here: reading files (core.mcp.config), what trust is bound to (core.permissions).
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.core.mcp.config import ConfigProblem, Configuration, load_servers
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.permissions.trust import Review, TrustStore
from hel_tui.core.store.places import Places, find_places
from hel_tui.foreign import printable


@dataclass
class Ground:
    """One command's view of a project. `command` is its name, for sentences."""

    command: str
    project: Path
    named_files: tuple[Path, ...] = ()

    @cached_property
    def places(self) -> Places:
        return find_places(os.environ)

    @cached_property
    def configuration(self) -> Configuration:
        return self.read()

    @cached_property
    def store(self) -> TrustStore:
        return TrustStore(self.places.state)

    @cached_property
    def review(self) -> Review[ServerEntry]:
        return self.store.review(self.configuration, self.project, os.environ)

    def read(self) -> Configuration:
        """The configuration as it is now."""
        return load_servers(self.project, self.places, named_files=self.named_files, environ=os.environ)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is configured, good and bad ones, sorted."""
        found = {entry.name for entry in self.configuration.entries}
        found |= {one.server for one in self.configuration.problems if one.server and one.severity == "error"}
        return tuple(sorted(found))

    def sorry(self, sentence: str, status: int = Exit.FAILED) -> int:
        """Say on stderr what went wrong; returns the exit status."""
        sys.stderr.write(f"hel mcp {self.command}: {printable(sentence)}\n")
        return status

    def unknown(self, name: str) -> str:
        """A sentence on a server that is not there, with the name that may be meant."""
        return f"there is no server named {name}{did_you_mean(name, self.names)}"

    def trouble_with(self, name: str) -> ConfigProblem | None:
        """Why an entry of this name cannot be used, where there is one that cannot."""
        return next(
            (one for one in self.configuration.problems if one.server == name and one.severity == "error"),
            None,
        )


def did_you_mean(name: str, names: Iterable[str], otherwise: str = ": see `hel mcp list`") -> str:
    """The end of a sentence about a name that is none: the nearest one, else `otherwise`."""
    near = difflib.get_close_matches(name.lower(), {one.lower(): one for one in names}, 1, 0.6)
    meant = next((one for one in names if near and one.lower() == near[0]), None)
    return f"; did you mean {meant}?" if meant else otherwise


def say(sentence: str) -> None:
    """A line of foreign text on stdout."""
    sys.stdout.write(f"{printable(sentence)}\n")


def note(sentence: str) -> None:
    """A line of foreign text on stderr: something to know, not a failure."""
    sys.stderr.write(f"{printable(sentence)}\n")


def print_json(data: Any) -> None:
    """A value on stdout, whole."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")
