"""The files inside a project that a server's command line runs, and their hashes.

So that a changed server program is noticed though its definition is the same. What a program loads in turn
is not seen. Not here: what follows from a change (trust).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

MAX_PROGRAM = 64 << 20
"""Bytes of a file that are hashed; larger ones are told by size and time of change."""


def program_hashes(command: str, args: Sequence[str], cwd: Path, project: Path) -> dict[str, str]:
    """Return hash by path (relative to the project) of each regular file in it that the words name.

    Also `--option=FILE`, and for `-m MODULE` the module's file. Links are followed; what lies outside the
    project afterwards is left out, and so is what cannot be read.
    """
    root = Path(os.path.realpath(project))
    hashes: dict[str, str] = {}
    for word in _candidates(command, args):
        try:
            real = Path(os.path.realpath(cwd / word))
            if real.is_relative_to(root) and real != root:
                digest = _digest(real)
                if digest:
                    hashes[str(real.relative_to(root))] = digest
        except (OSError, ValueError):
            continue
    return hashes


def changed_programs(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files whose content is not what it was, sorted; one that is gone or new counts.

    A new one may stand earlier on PATH than the program that was looked at.
    """
    return tuple(sorted(path for path in {*before, *now} if before.get(path) != now.get(path)))


def _candidates(command: str, args: Sequence[str]) -> Iterator[str]:
    if "/" in command:
        yield command
    for at, arg in enumerate(args):
        if arg == "-m" and at + 1 < len(args):
            module = args[at + 1].replace(".", "/")
            for base in (module, f"src/{module}"):
                yield from (f"{base}.py", f"{base}/__main__.py", f"{base}/__init__.py")
        yield arg.partition("=")[2] if arg.startswith("-") and "=" in arg else arg


def _digest(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle, not a path
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return ""
        if facts.st_size > MAX_PROGRAM:
            return f"{facts.st_size}:{facts.st_mtime_ns}"
        return hashlib.file_digest(file, "sha256").hexdigest()
