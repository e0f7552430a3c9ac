"""One server in or out of a server file, and nothing else of the file changed.

A file that cannot be read as it will be by everybody is never written to. Not here: the text of the edit
(jsonedit), which servers there are (config), asking the person (cli).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.mcp import jsonc
from hel_tui.core.mcp.config import TOP_LEVEL
from hel_tui.core.mcp.jsonedit import drop_member, put_member
from hel_tui.core.store.atomic import PRIVATE_FILE, locked, why, write_atomic
from hel_tui.core.store.places import Places
from hel_tui.core.store.reading import MAX_CONFIGURATION, Unreadable, read_plain

OwnScope = Literal["local", "user", "project"]
SHARED_FILE = 0o644
_NEW = "{}\n"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A file that hel may edit for the person."""

    path: Path
    scope: OwnScope
    within: Path | None = None
    """The project, for files that are part of it: no link is followed below it."""

    @property
    def mode(self) -> int:
        """Of a new file."""
        return PRIVATE_FILE if self.within is None else SHARED_FILE


@dataclass(frozen=True, slots=True)
class NotEdited:
    """The file is as it was. `sentence` says why and names it."""

    sentence: str


class _Refused(Exception):
    """The edit cannot be made; the text is a sentence without the file's name."""


def files_of(scope: OwnScope, project: Path, places: Places) -> tuple[ServerFile, ...]:
    """The files of a scope in their order; new entries go into the first."""
    match scope:
        case "local":
            return (ServerFile(places.local_servers(project), scope),)
        case "user":
            return (ServerFile(places.user_servers, scope),)
        case "project":
            paths = (project / ".hel" / "mcp.json", project / ".mcp.json")
            return tuple(ServerFile(path, scope, project) for path in paths)


def put_entries(
    file: ServerFile, entries: dict[str, dict[str, Any]], places: Places, *, replace: bool = False
) -> NotEdited | None:
    """Write entries into the file, all or none. With `replace` those of the same name are overwritten.

    A new name goes behind the others, under the key the file has (`servers` in a new one). None when done.
    """

    def change(parsed: jsonc.Parsed) -> str:
        for name, entry in entries.items():
            group = _group_of(parsed, name)
            if group is not None and not replace:
                line, _ = parsed.place((group, name))
                raise _Refused(f'it has a server named "{name}" already (line {line})')
            parsed = _again(put_member(*_in_group(parsed, group), name, entry))
        return parsed.text

    return _edited(file, places, change)


def take_entry(file: ServerFile, name: str, places: Places) -> NotEdited | None:
    """Take a server out of the file. None when done; it is refused where there is none of that name."""

    def change(parsed: jsonc.Parsed) -> str:
        group = _group_of(parsed, name)
        if group is None:
            raise _Refused(f'it has no server named "{name}"')
        return drop_member(parsed, (group,), name)

    return _edited(file, places, change)


def switch_entry(file: ServerFile, name: str, places: Places, *, on: bool) -> NotEdited | None:
    """Switch a server of the file off or on, by the keys it has: `enabled` and `disabled` are both read."""

    def change(parsed: jsonc.Parsed) -> str:
        group = _group_of(parsed, name)
        entry = parsed.value[group].get(name) if group is not None else None
        if group is None or not isinstance(entry, dict):
            raise _Refused(f'it has no usable server named "{name}"')
        path = (group, name)
        if "disabled" in entry:
            done = drop_member(parsed, path, "disabled") if on else put_member(parsed, path, "disabled", True)
            parsed = _again(done)
        if "enabled" in entry:
            parsed = _again(put_member(parsed, path, "enabled", on))
        elif not on and "disabled" not in entry:
            return put_member(parsed, path, "disabled", True)
        return parsed.text

    return _edited(file, places, change)


def names_in(file: ServerFile) -> tuple[str, ...] | NotEdited:
    """The names in the file, good ones and bad ones; none when there is no file."""
    read = _read(file)
    if isinstance(read, NotEdited):
        return read
    parsed = _again(read[1])
    groups = (parsed.value.get(key) for key in TOP_LEVEL)
    return tuple(dict.fromkeys(name for group in groups if isinstance(group, dict) for name in group))


def _edited(file: ServerFile, places: Places, change: Callable[[jsonc.Parsed], str]) -> NotEdited | None:
    """Read, change and write under a lock that every hel takes."""
    lock = places.state / "locks" / hashlib.sha256(os.fsencode(os.path.realpath(file.path))).hexdigest()[:16]
    try:
        with locked(lock):
            return _changed(file, change)
    except OSError as error:
        return NotEdited(f"{file.path} was not changed: {why(error)}.")


def _changed(file: ServerFile, change: Callable[[jsonc.Parsed], str]) -> NotEdited | None:
    read = _read(file)
    if isinstance(read, NotEdited):
        return read
    before, text = read
    try:
        after = change(_again(text))
    except _Refused as refusal:
        return NotEdited(f"{file.path} was not changed: {refusal}.")
    except (KeyError, jsonc.BadJson):
        return NotEdited(f"{file.path} was not changed: hel cannot edit it safely; please do it by hand.")
    data = (_BOM if before is not None and before.startswith(_BOM) else b"") + after.encode()
    if data == before:
        return None
    if len(data) > MAX_CONFIGURATION:
        return NotEdited(f"{file.path} was not changed: it would be larger than 1 MiB.")
    return _written(file, data)


def _read(file: ServerFile) -> tuple[bytes | None, str] | NotEdited:
    """The bytes and the text of the file; of a new one None and an empty object."""
    data = read_plain(file.path, within=file.within)
    if isinstance(data, Unreadable):
        return NotEdited(f"{file.path} was not changed: {data.sentence}")
    if data is None:
        return None, _NEW
    try:
        parsed = jsonc.parse(data)
    except jsonc.BadJson as bad:
        return NotEdited(f"{file.path} was not changed, since it cannot be read: {bad}")
    if not isinstance(parsed.value, dict):
        return NotEdited(f"{file.path} was not changed: it must hold an object with `mcpServers` in it.")
    for key in TOP_LEVEL:
        if not isinstance(parsed.value.get(key, {}), dict):
            line, column = parsed.place((key,))
            return NotEdited(
                f"{file.path} was not changed: line {line}, column {column}: `{key}` must be an object."
            )
    return data, parsed.text


def _written(file: ServerFile, data: bytes) -> NotEdited | None:
    """Replace the file, keeping its mode. The project's own folder `.hel` is made like any other folder."""
    if file.within is not None and file.path.parent != file.within:
        file.path.parent.mkdir(exist_ok=True)
    try:
        mode = stat.S_IMODE(file.path.stat().st_mode)
    except FileNotFoundError:
        mode = file.mode
    failed = write_atomic(file.path, data, mode)
    return NotEdited(failed.sentence) if failed is not None else None


def _again(text: str) -> jsonc.Parsed:
    return jsonc.parse(text.encode())


def _group_of(parsed: jsonc.Parsed, name: str) -> str | None:
    """The key whose object has the server; the first counts, as it does when the file is read."""
    return next((key for key in TOP_LEVEL if name in parsed.value.get(key, {})), None)


def _in_group(parsed: jsonc.Parsed, group: str | None) -> tuple[jsonc.Parsed, tuple[str]]:
    """The text with an object for servers in it, and the key of that."""
    group = group or next((key for key in TOP_LEVEL if key in parsed.value), None)
    if group is not None:
        return parsed, (group,)
    return _again(put_member(parsed, (), TOP_LEVEL[0], {})), (TOP_LEVEL[0],)
