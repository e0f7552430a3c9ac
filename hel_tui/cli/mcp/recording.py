"""`hel mcp record`: stands between a client and a server over stdio, and keeps what they say.

Any client can start it in the place of the server: bytes pass unchanged both ways, stderr and signals go
through, and it ends as the server ended. Not here: passing on (between), the file (core.mcp.cassette).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.alone import approved
from hel_tui.cli.mcp.between import Between
from hel_tui.cli.mcp.ground import Ground, note
from hel_tui.core.guard import COMMAND, RECORDED, SERVER, Guard
from hel_tui.core.mcp.cassette import SUFFIX, Tape, create, empty
from hel_tui.core.mcp.entries import Unset
from hel_tui.core.mcp.expand import expand_launch
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.launching import child_environment, find_command
from hel_tui.core.mcp.validation import server_name_problem
from hel_tui.core.store.atomic import why
from hel_tui.core.store.redact import Redactor, secret_words, secrets_in
from hel_tui.core.store.secrets import kept_value


@dataclass(frozen=True, slots=True)
class _Program:
    """What is started."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None
    secrets: tuple[str, ...]


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp record`; returns the exit status of the server."""
    if args.verbatim is not None and (problem := server_name_problem(args.server)):
        return ground.sorry(problem.rstrip("."), Exit.USAGE)
    program = _given(args.verbatim) if args.verbatim is not None else _configured(args.server, ground)
    if isinstance(program, int):
        return program
    if not program.words:
        return ground.sorry("behind -- there must be a command", Exit.USAGE)
    try:
        file, path, is_new = _file(args)
    except FileExistsError as error:
        return ground.sorry(f"{error.filename} is there already; --force writes over it", Exit.USAGE)
    except OSError as error:
        return ground.sorry(f"{error.filename}: {why(error)}")
    if args.output is None:
        note(f"hel mcp record: {path}")
    with file:
        redactor = Redactor((*secrets_in(os.environ), *program.secrets))
        guard = Guard(RECORDED)
        try:
            popen = _started(program, guard)
        except OSError as error:
            asyncio.run(guard.close())
            if is_new:
                path.unlink(missing_ok=True)
            return ground.sorry(f"{program.words[0]} could not be started: {why(error)}")
        try:
            empty(file)
            tape = Tape(file, args.server, redactor)
        except OSError as error:
            popen.kill()
            popen.wait()
            asyncio.run(guard.close())
            return ground.sorry(f"{path}: {why(error)}")
        code = Between(popen, tape).run()
        asyncio.run(guard.close())
    return code if code >= 0 else _end_by(-code)


def _end_by(number: int) -> int:
    """End by the signal that ended the server; returns the status a shell gives for it if that fails."""
    with contextlib.suppress(OSError, ValueError):  # SIGKILL has no handler to be set
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _given(words: list[str]) -> _Program:
    """The program behind `--`, as a client would have started it."""
    return _Program(tuple(words), os.environ, None, secret_words(words))


def _configured(name: str, ground: Ground) -> _Program | int:
    """The program of a configured server, or the exit status after it was said why there is none."""
    entry = approved(name, ground)
    if isinstance(entry, int):
        return entry
    if entry.transport != "stdio":
        return ground.sorry(f"{name} is no program but an address; record it with the app (`x` in its wire)")

    values: list[str] = []

    def kept(key: str) -> str | None:
        value = kept_value(key, ground.places.state)
        values.extend(filter(None, [value]))
        return value

    launch = expand_launch(entry, os.environ, kept)
    try:
        if isinstance(launch, Unset):
            raise launch.fault()
        env = child_environment(launch, os.environ)
        command = find_command(launch, env)
    except ServerFault as fault:
        return ground.sorry(f"{name}: {fault.sentence}")
    # what ends with this one ends with what this one starts
    env |= {name: os.environ[name] for name in (SERVER, COMMAND) if name in os.environ}
    secrets = (*values, *secrets_in(dict(launch.env)), *secret_words(launch.args))
    return _Program((command, *launch.args), env, launch.cwd, secrets)


def _file(args: argparse.Namespace) -> tuple[IO[bytes], Path, bool]:
    """A file for the cassette, and whether it is new. Without a name, each start has one of its own."""
    if args.output is not None:
        try:
            return create(args.output), args.output, True
        except FileExistsError:
            if not args.force:
                raise
            return create(args.output, over=True), args.output, False
    stem = f"{args.server}-{time.strftime('%Y%m%d-%H%M%S')}"
    for number in range(1, 100):
        path = Path(f"{stem}{'' if number == 1 else f'-{number}'}{SUFFIX}")
        with contextlib.suppress(FileExistsError):
            return create(path), path, True
    raise FileExistsError(17, "exists", f"{stem}{SUFFIX}")


def _started(program: _Program, guard: Guard) -> subprocess.Popen[bytes]:
    """Start it in a process group of its own: what this one is told by signals is passed on once."""
    marked = {**program.env, guard.variable: guard.mark()}
    popen = subprocess.Popen(
        program.words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=marked,
        cwd=program.cwd,
        bufsize=0,
        process_group=0,
    )
    guard.watch(popen.pid)
    return popen
