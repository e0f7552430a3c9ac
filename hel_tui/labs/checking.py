"""Looks at a project after a run: files, the answer, the server's own log. A check says why it does not hold.

Not here: which checks there are (lab), what the report makes of them (reporting).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import regex

from hel_tui.core.checks.masks import TooSlow, found_in
from hel_tui.core.store.reading import open_plain
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.processes import Bounded, run_program
from hel_tui.labs.lab import Check, Wanted
from hel_tui.labs.laying import files_of, laid_name, named

COMMAND_TIME = 120.0
"""Seconds a check's program may take."""
PATTERN_TIME = 10.0
"""Seconds a pattern may take on one text."""
_MOST = 16 << 20
"""Bytes of a file that are looked at."""
_OUTPUT = 16_000
"""Bytes of a program's output that are kept."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Held:
    """What came of one check. `why` is empty when it holds."""

    name: str
    why: str = ""

    @property
    def passed(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class Scene:
    """What a check looks at."""

    project: Path
    """As the run left it."""
    template: Path
    """As it was laid."""
    answer: str
    environ: Mapping[str, str]


async def look(check: Check, scene: Scene) -> Held:
    """Whether all that a check says is so. What a program started is ended with it, also when cancelled."""
    misses = await in_thread(lambda: list(_misses(check, scene)))
    if check.command and (miss := await _command_miss(check.command, scene)):
        misses.append(miss)
    return Held(check.name, "; ".join(misses))


def server_calls(project: Path, log: str) -> list[tuple[str, Any]]:
    """(raw tool name, arguments) of each call a server wrote down, in order; none without a log."""
    data = _read(project / log)
    calls: list[tuple[str, Any]] = []
    for line in (data or b"").splitlines():
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):  # a line it was in the middle of
            continue
        if isinstance(message, dict) and isinstance(message.get("message"), dict):
            message = message["message"]
        if isinstance(message, dict) and message.get("method") == "tools/call":
            params = message.get("params")
            params = params if isinstance(params, dict) else {}
            calls.append((str(params.get("name")), params.get("arguments") or {}))
    return calls


# ------------------------------------------------------------------ clauses


def _misses(check: Check, scene: Scene) -> Iterator[str]:
    """Sentences on what is not as the check says."""
    yield from _file_misses(check, scene.project)
    changes = changed_files(scene) if check.changed or check.only_changed is not None else ()
    yield from (f"{path} is as it was" for path in check.changed if path not in changes)
    if check.only_changed is not None:
        other = [one for one in changes if not any(fnmatchcase(one, glob) for glob in check.only_changed)]
        if other:
            yield f"changed too: {', '.join(other)[:_SHOWN]}"
    yield from (f"the answer has no {one!r}" for one in check.answer_contains if one not in scene.answer)
    yield from _pattern_misses("the answer", check.answer_matches, scene.answer)
    if check.log:
        yield from _log_misses(check, server_calls(scene.project, check.log))


def _file_misses(check: Check, project: Path) -> Iterator[str]:
    if not check.file:
        return
    data = _read(project / check.file)
    if check.absent:
        if data is not None:
            yield f"{check.file} is there"
        return
    if data is None:
        yield f"{check.file} is not there"
        return
    if check.exact is not None and data != check.exact.encode():
        yield f"{check.file} is {data[:_SHOWN].decode('utf-8', 'replace')!r}"
    text = data.decode("utf-8", "replace")
    yield from (f"{check.file} has no {one!r}" for one in check.contains if one not in text)
    yield from _pattern_misses(check.file, check.matches, text)


def _pattern_misses(what: str, patterns: Sequence[str], text: str) -> Iterator[str]:
    for one in patterns:
        try:
            if not found_in(one, text, PATTERN_TIME):
                yield f"{what} does not match {one}"
        except TooSlow as slow:
            yield str(slow)
        except regex.error as error:
            yield f"{one} is no regular expression: {error}"


def _log_misses(check: Check, made: Sequence[tuple[str, Any]]) -> Iterator[str]:
    names = ", ".join(name for name, _ in made) or "none"
    if check.calls and not _in_order(check.calls, made):
        yield f"calls the server saw: {names[:_SHOWN]}"
    elif check.exactly and len(made) != len(check.calls):
        yield f"other calls, too: {names[:_SHOWN]}"
    called = {name for name, _ in made}
    yield from (f"{name} was called" for name in check.not_called if name in called)


def _in_order(wanted: Sequence[Wanted], made: Sequence[tuple[str, Any]]) -> bool:
    """Whether the wanted calls are among those made, in this order."""
    rest = iter(made)
    return all(any(_is_one(one, name, arguments) for name, arguments in rest) for one in wanted)


def _is_one(wanted: Wanted, name: str, arguments: Any) -> bool:
    if name != wanted.tool:
        return False
    given = arguments if isinstance(arguments, dict) else {}
    return all(key in given and given[key] == value for key, value in wanted.arguments.items())


async def _command_miss(command: Sequence[str], scene: Scene) -> str:
    """Why a program says no; empty when it says yes."""
    output = Bounded(_OUTPUT)
    try:
        status = await run_program(
            command,
            cwd=scene.project,
            env=scene.environ,
            limit=COMMAND_TIME,
            out=output.feed,
            err=output.feed,
            find_marked=True,
        )
    except OSError as error:
        return f"{command[0]}: {error}"
    if status is None:
        return f"{command[0]} did not end within {COMMAND_TIME:g} seconds"
    return f"{command[0]} ended with {status}: {output.last_line()[:_SHOWN]}" if status else ""


# -------------------------------------------------------------------- files


def changed_files(scene: Scene) -> tuple[str, ...]:
    """Files outside `.hel` that are new, gone or different, sorted; as paths in the project."""
    before = {named(laid_name(one.relative_to(scene.template))): one for one in files_of(scene.template)}
    after = {named(one.relative_to(scene.project)): one for one in files_of(scene.project, odd=True)}
    names = sorted(name for name in {*before, *after} if not name.startswith(".hel/"))
    return tuple(name for name in names if _content(before.get(name)) != _content(after.get(name)))


def _content(path: Path | None) -> object:
    """What a file is made of; a link is where it points to."""
    if path is None:
        return None
    try:
        if path.is_symlink():
            return path.readlink()
        with open_plain(path) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return path


def _read(path: Path) -> bytes | None:
    """The beginning of a file; None when there is none, or when it cannot be read."""
    try:
        with open_plain(path) as file:
            return file.read(_MOST)
    except OSError:
        return None
