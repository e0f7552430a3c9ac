"""Files of the project by parts of their names, for a person who types `@`: quick among a hundred thousand.

What ignore files leave out is left out: ripgrep lists where it is installed, else git, else a walk. Not here:
reading a file that was named (session.own_files), the model's own search (glob).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from hel_tui.core.tools.paths import CLOSED_NAME, Workspace, is_closed_name
from hel_tui.core.tools.programs import find_program
from hel_tui.core.tools.walking import SKIPPED

FRESH = 3.0
"""Seconds for which a listing is taken as it was: a mention is typed key by key."""
LIMIT = 5.0
"""Seconds a listing may take."""
MOST = 300_000
"""Files that are known."""
SHOWN = 30

_RIPGREP = ("--no-config", "--files", "--null", "--no-messages", "--hidden", "--glob", "!.git")
_GIT = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"),  # no program of the repository's runs
    *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
)


class FileIndex:
    """The names of a project's files. For one thread at a time."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self._project = workspace.project
        self._environ = {name: environ[name] for name in ("PATH", "HOME", "LANG") if name in environ}
        self._paths: list[str] = []
        self._lower: list[str] = []
        self._listed = float("-inf")

    def find(self, word: str, most: int = SHOWN) -> tuple[str, ...]:
        """At most so many paths, relative to the project, in which all of `word` occurs; the best first.

        Names that begin with it come before names that have it, those before paths that have it, those before
        paths that have its letters in order; shorter ones first.
        """
        if time.monotonic() - self._listed > FRESH:
            self._paths = self._list()
            self._lower = [path.lower() for path in self._paths]
            self._listed = time.monotonic()
        low = word.lower()
        begin: list[str] = []
        name: list[str] = []
        path: list[str] = []
        letters: list[str] = []
        for at, one in enumerate(self._lower):
            if low in one:
                base = one[one.rfind("/") + 1 :]
                (begin if base.startswith(low) else name if low in base else path).append(self._paths[at])
            elif len(letters) < MOST and len(low) > 2 and _has_letters(one, low):
                letters.append(self._paths[at])
        found: list[str] = []
        for group in (begin, name, path, letters):
            if len(found) < most:
                found += sorted(group, key=lambda one: (one.count("/"), len(one), one))[: most - len(found)]
        return tuple(found)

    def _list(self) -> list[str]:
        ways: list[tuple[str, tuple[str, ...]]] = [("rg", _RIPGREP)]
        if (self._project / ".git").exists():
            ways.append(("git", _GIT))
        for name, arguments in ways:
            program = find_program(name, self._environ, self._project)
            if program is not None and (listed := self._told(program, arguments)) is not None:
                return listed
        return self._walked()

    def _told(self, program: str, arguments: tuple[str, ...]) -> list[str] | None:
        """What a program lists; None when it cannot."""
        try:
            done = subprocess.run(
                [program, *arguments],
                cwd=self._project,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode not in (0, 1) or (done.returncode and done.stdout):
            return None
        names = done.stdout.decode("utf-8", "replace").split("\0")[:MOST]
        return [name for name in names if name and not _is_closed(name)]

    def _walked(self) -> list[str]:
        end = time.monotonic() + LIMIT
        found: list[str] = []
        folders = [""]
        while folders and len(found) < MOST and time.monotonic() < end:
            folder = folders.pop()
            try:
                with os.scandir(self._project / folder) as entries:
                    for entry in sorted(entries, key=lambda one: one.name):
                        path = f"{folder}{entry.name}"
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in SKIPPED and not is_closed_name(entry.name):
                                folders.append(f"{path}/")
                        elif entry.is_file(follow_symlinks=False) and not is_closed_name(entry.name):
                            found.append(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            except OSError:
                continue
        return found


def _is_closed(path: str) -> bool:
    """Whether hel's own files are meant; the full look only where a part could be their name."""
    if path.isascii() and CLOSED_NAME not in path.lower():
        return False
    return any(is_closed_name(part) for part in Path(path).parts)


def _has_letters(path: str, word: str) -> bool:
    at = -1
    for letter in word:
        at = path.find(letter, at + 1)
        if at < 0:
            return False
    return True
