"""`hel` typed at a shell without a process of its own: quick, where a process adds nothing."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backends import null

from hel_tui.cli import main
from tests.cli.shell import Ran
from tests.rig import environment


class Typed:
    """Runs command lines in one project, with a home of its own and no keyring."""

    def __init__(self, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        self.env = environment(home)
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        for name, value in self.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(project)
        monkeypatch.setattr(keyring, "get_keyring", lambda: null.Keyring())

    def __call__(self, *arguments: str, stdin: str = "") -> Ran:
        """Run `hel ARGUMENTS` to its end."""
        self._capfd.readouterr()
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        self._monkeypatch.setattr(sys, "stdin", given)
        try:
            status = main(arguments)
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = self._capfd.readouterr()
        return Ran(int(status), out, err)
