"""Files of the project by parts of their names, for a person who types `@`: quick among a hundred thousand.

What ignore files leave out is left out: ripgrep lists where it is installed, else git, else a walk. Not here:
reading a file that was named (session.own_files), the model's own search (glob).
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from itertools import islice
from operator import methodcaller
from pathlib import Path

from hel_tui.core.tools.paths import CLOSED_NAME, Workspace, is_closed_name
from hel_tui.core.tools.programs import find_program
from hel_tui.core.tools.walking import SKIPPED

FRESH = 3.0
"""Seconds for which a listing is taken as it was: a mention is typed key by key."""
REST = 10
"""How many times as long as a listing took there is none."""
LIMIT = 5.0
"""Seconds a listing may take."""
MOST = 300_000
"""Files that are known."""
SHOWN = 30
_NO_TEXT = re.compile("[\udc80-\udcff]")
"""Bytes of a name that are no UTF-8."""

_RIPGREP = (
    *("--no-config", "--files", "--null", "--no-messages", "--hidden", "--glob", "!.git"),
    *("--threads", "1"),  # in the same order each time
)
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
        """The best first: not deep, short."""
        self._lower: list[str] = []
        self._said = b""
        self._until = float("-inf")
        """When names are to be looked for anew."""

    def find(self, word: str, most: int = SHOWN) -> tuple[str, ...]:
        """At most so many paths, relative to the project, in which all of `word` occurs; the best first.

        Names that begin with it come before names that have it, those before paths that have it, those before
        paths that have its letters in order; shorter ones first.
        """
        now = time.monotonic()
        if now > self._until:
            self._look()
            took = time.monotonic() - now
            self._until = now + took + max(FRESH, took * REST)
        low = word.lower()
        begin: list[int] = []
        name: list[int] = []
        path: list[int] = []
        for at, one in enumerate(self._lower):
            if low in one:
                base = one[one.rfind("/") + 1 :]
                (begin if base.startswith(low) else name if low in base else path).append(at)
                if len(begin) == most:
                    break
        found = [*begin, *name, *path][:most]
        if len(found) < most and len(low) > 2:
            known = set(found)
            letters = (at for at, one in enumerate(self._lower) if _has_letters(one, low) and at not in known)
            found += islice(letters, most - len(found))
        return tuple(self._paths[at] for at in found)

    def _look(self) -> None:
        """Know the names there are now; what was told the last time is not put in order anew."""
        said = self._list()
        if said == self._said:
            return
        self._said = said
        text = said.decode("utf-8", "surrogateescape")
        names = text.split("\0")[:MOST]
        if not text.isascii() and _NO_TEXT.search(text):
            names = [name for name in names if not _NO_TEXT.search(name)]  # nobody can type it
        if not text.isascii() or CLOSED_NAME in text.lower():
            names = [name for name in names if not _is_closed(name)]
        names.sort()
        names.sort(key=len)
        names.sort(key=methodcaller("count", "/"))
        self._paths = [name for name in names if name]
        self._lower = [name.lower() for name in self._paths]

    def _list(self) -> bytes:
        """Paths, with a zero byte between two."""
        ways: list[tuple[str, tuple[str, ...]]] = [("rg", _RIPGREP)]
        if (self._project / ".git").exists():
            ways.append(("git", _GIT))
        for name, arguments in ways:
            program = find_program(name, self._environ, self._project)
            if program is not None and (listed := self._told(program, arguments)) is not None:
                return listed
        return self._walked()

    def _told(self, program: str, arguments: tuple[str, ...]) -> bytes | None:
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
        except subprocess.TimeoutExpired as late:  # a tree of millions: what is known of it by then
            return (late.stdout or b"").rpartition(b"\0")[0] or None
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode not in (0, 1) or (done.returncode and done.stdout):
            return None
        return done.stdout

    def _walked(self) -> bytes:
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
                            found.append(path)
            except OSError:
                continue
        return "\0".join(found).encode("utf-8", "surrogateescape")


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
