"""Looks at a project after a run: files, the answer, the server's own log. A check says why it does not hold.

Not here: which checks there are (lab), what the report makes of them (reporting).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import regex

from hel_tui.core.checks.masks import TooSlow, found_in
from hel_tui.labs.lab import Check, Wanted
from hel_tui.labs.reading import files_of, laid_name

COMMAND_TIME = 120.0
"""Seconds a check's program may take."""
PATTERN_TIME = 10.0
"""Seconds a pattern may take on one text."""
_MOST = 16 << 20
"""Bytes of a file that are looked at."""
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


def look(check: Check, scene: Scene) -> Held:
    """Whether all that a check says is so."""
    return Held(check.name, "; ".join(_misses(check, scene)))


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
    if check.command:
        yield from _command_misses(check.command, scene)


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


def _command_misses(command: Sequence[str], scene: Scene) -> Iterator[str]:
    try:
        done = subprocess.run(
            command,
            cwd=scene.project,
            env=dict(scene.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=COMMAND_TIME,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield f"{command[0]}: {error}"
        return
    if done.returncode:
        last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:]
        yield f"{command[0]} ended with {done.returncode}: {''.join(last)[:_SHOWN]}"


# -------------------------------------------------------------------- files


def changed_files(scene: Scene) -> tuple[str, ...]:
    """Files outside `.hel` that are new, gone or different, sorted; as paths in the project."""
    before = {laid_name(one.relative_to(scene.template)).as_posix(): one for one in files_of(scene.template)}
    after = {one.relative_to(scene.project).as_posix(): one for one in files_of(scene.project)}
    names = sorted(name for name in {*before, *after} if not name.startswith(".hel/"))
    return tuple(name for name in names if _content(before.get(name)) != _content(after.get(name)))


def _content(path: Path | None) -> object:
    """What a file is made of; a link is where it points to."""
    if path is None:
        return None
    try:
        return path.readlink() if path.is_symlink() else path.read_bytes()
    except OSError:
        return path


def _read(path: Path) -> bytes | None:
    """The bytes of a file; None when there is none, or when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError:
        return None
