"""Whether a person approved what a project's settings file loosens.

Bound to the project's path and the very bytes of the file. Not here: reading it (store.settings), servers
(trust), the dialog (a screen).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.atomic import Document, read_toml, update_toml
from hel_tui.core.store.settings import Loosening

FILE = "trust-settings.toml"
NAME = ".hel/config.toml"
"""What the claim is called, where servers have their names."""
_RISKS = {
    "access": "changes what runs without a question",
    "permissions.allow": "lets these calls run without a question",
    "base_url": "sends the conversation to this address",
    "model": "chooses which provider gets the conversation",
    "network": "lets sandboxed commands reach the network",
    "tools": "offers the model more of the built-in tools",
    "max_steps": "lets a turn go on for longer",
    "loading": "sends every definition of every server in each request",
    "inventory_budget": "lets the list of tools take more of each request",
}


class SettingsTrust:
    """Approvals of projects' settings, in the state folder; what was allowed once, in this process."""

    def __init__(self, state: Path) -> None:
        self._path = state / FILE
        self._once: set[tuple[str, str]] = set()

    def is_trusted(self, loosening: Loosening, project: Path) -> bool:
        """Whether exactly these bytes were approved for this project."""
        real = os.path.realpath(project)
        if (real, loosening.sha256) in self._once:
            return True
        record = self._record(real)
        return record is not None and record.get("sha256") == loosening.sha256

    def claim(self, loosening: Loosening, project: Path) -> ServerClaim:
        """What the person is shown: the lines that loosen, and how they differ from what was approved."""
        record = self._record(os.path.realpath(project))
        changed = ""
        if record is not None:
            before = str(record.get("shown", "")).splitlines()
            lines = list(difflib.unified_diff(before, loosening.lines, "approved", "now", lineterm="", n=50))
            changed = "\n".join(lines) or "# the file changed since it was approved; what it loosens did not"
        names = [line.partition(" = ")[0] for line in loosening.lines]
        return ServerClaim(
            NAME,
            "project",
            str(loosening.file),
            "\n".join(loosening.lines),
            risks=tuple(f"{name}: {_RISKS[name]}" for name in names if name in _RISKS),
            changed=changed,
            kind="settings",
        )

    def allow_once(self, loosening: Loosening, project: Path) -> None:
        """Approve it until this process ends."""
        self._once.add((os.path.realpath(project), loosening.sha256))

    def remember(self, loosening: Loosening, project: Path) -> str:
        """Approve it for good. A sentence when it was not saved; then it holds for this run."""
        self.allow_once(loosening, project)
        real = os.path.realpath(project)
        row = {"project": real, "sha256": loosening.sha256, "shown": "\n".join(loosening.lines)}

        def change(document: Document) -> None:
            document["version"] = 1
            document["settings"] = [*(each for each in _rows(document) if each["project"] != real), row]

        failed = update_toml(self._path, change)
        return failed.sentence if failed is not None else ""

    def forget(self, project: Path) -> str:
        """Withdraw the approval. As `remember` otherwise."""
        real = os.path.realpath(project)
        self._once = {seal for seal in self._once if seal[0] != real}

        def change(document: Document) -> None:
            if rows := list(_rows(document)):
                document["settings"] = [row for row in rows if row["project"] != real]

        failed = update_toml(self._path, change)
        return failed.sentence if failed is not None else ""

    def _record(self, real: str) -> Mapping[str, Any] | None:
        document, _ = read_toml(self._path)
        return next((row for row in _rows(document) if row["project"] == real), None)


def _rows(document: Document) -> Iterator[Mapping[str, Any]]:
    rows = document.get("settings")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, Mapping) and isinstance(row.get("project"), str):
            yield row
