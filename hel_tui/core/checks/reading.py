"""Reads the checks of a project: `.hel/checks/*.toml`, one or several checks a file.

Whatever is wrong costs one check, and is said. The files belong to a repository: they are foreign. Not here:
what a check is (check), running them, agreeing to them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from hel_tui.core.checks.check import (
    DEFAULT_TIMEOUT,
    FOLDER,
    MAX_DEPTH,
    NOTHING,
    SNAPSHOTS,
    TOO_DEEP,
    Check,
    Expected,
)
from hel_tui.core.checks.masks import mask_problem
from hel_tui.core.checks.secrets import credential_in
from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.protocol import CheckKind
from hel_tui.core.store.reading import Unreadable, read_plain
from hel_tui.core.store.toml import BadToml, parse_toml

MAX_BYTES = 1 << 20
"""Of one file of checks."""
MAX_FILES = 1_000
KINDS = get_args(CheckKind)
_KEYS = {"name", "server", "tool", "arguments", "arguments_json", "expect", "timeout"}
_EXPECT = {"kind", "text", "value", "value_json", "content", "content_json", "schema", "schema_json"} | {
    "snapshot",
    "is_error",
    "masks",
    "ignore",
}
_COMPARED = ("text", "value", "content", "schema", "snapshot")


class _Wrong(ValueError):
    """A check cannot be used; the text says why, without a full stop."""


def read_checks(project: Path) -> tuple[Check, ...]:
    """Return the checks of `project` in order of file and place, those that cannot be run with their problem.

    No link is followed below the project. A file that cannot be read is one check with that problem.
    """
    folder = project / FOLDER
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError:
        return ()
    found: list[Check] = []
    for path in files[:MAX_FILES]:
        data = read_plain(path, within=project, limit=MAX_BYTES)
        if data is not None:
            found += _read_file(path.relative_to(project), data)
    return tuple(_told_apart(found))


def _told_apart(checks: Iterable[Check]) -> Iterable[Check]:
    """A name that is there already is a problem of the second one: results are told by name."""
    seen: dict[str, Path] = {}
    for check in checks:
        if check.name in seen and not check.problem:
            yield replace(check, problem=f"{seen[check.name].name} has a check of this name already")
        else:
            yield check
        seen.setdefault(check.name, check.file)


def _read_file(path: Path, data: bytes | Unreadable) -> list[Check]:
    if isinstance(data, Unreadable):
        return [Check(path.stem, "", "", path, problem=f"the file was not read: {data.sentence.rstrip('.')}")]
    try:
        document = parse_toml(data.decode(), MAX_BYTES)
    except UnicodeDecodeError:
        return [Check(path.stem, "", "", path, problem="the file is not UTF-8")]
    except BadToml as bad:
        line = f"line {bad.line}: " if bad.line else ""
        return [Check(path.stem, "", "", path, problem=f"the file was not read: {line}{bad}")]
    digest = hashlib.sha256(data).hexdigest()
    several = document.get("check")
    if several is None:
        return [replace(_check(document, path, path.stem), digest=digest)]
    if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
        return [Check(path.stem, "", "", path, problem="`check` is written as [[check]], once a check")]
    if strange := sorted(document.keys() - {"check"}):
        return [Check(path.stem, "", "", path, problem=f"beside [[check]] it has {', '.join(strange)[:100]}")]
    return [
        replace(_check(one, path, f"{path.stem} {number}"), digest=digest)
        for number, one in enumerate(several, 1)
    ]


def _check(raw: dict[str, Any], path: Path, name: str) -> Check:
    """One check; with its problem when it cannot be used."""
    texts = {key: raw.get(key) for key in ("name", "server", "tool")}
    said = {key: value if isinstance(value, str) else "" for key, value in texts.items()}
    check = Check(said["name"].strip() or name, said["server"], said["tool"], path)
    expect = raw.get("expect")
    if isinstance(expect, dict) and expect.get("kind") in KINDS:
        check = replace(check, expected=Expected(expect["kind"]))
    try:
        for key, value in texts.items():
            if not isinstance(value, str) or not value.strip():
                raise _Wrong(f"`{key}` is missing" if value is None else f"`{key}` must be a text")
        _only(raw, _KEYS, "")
        arguments = _value(raw, "arguments", "")
        arguments = {} if arguments is NOTHING else arguments
        if not isinstance(arguments, dict):
            raise _Wrong("`arguments` must be a table")
        if problem := credential_in(arguments):
            raise _Wrong(problem)
        expected = _expected(expect)
        return replace(check, arguments=arguments, expected=expected, timeout=_timeout(raw))
    except _Wrong as wrong:
        return replace(check, problem=str(wrong))


def _expected(raw: Any) -> Expected:
    if not isinstance(raw, dict):
        raise _Wrong("`expect` is missing" if raw is None else "`expect` must be a table")
    _only(raw, _EXPECT, "expect.")
    kind = raw.get("kind", "exact")
    if kind not in KINDS:
        raise _Wrong(f"`expect.kind` must be one of {', '.join(KINDS)}")
    text = raw.get("text")
    if text is not None and not isinstance(text, str):
        raise _Wrong("`expect.text` must be a text")
    value, content, schema = (_value(raw, key, "expect.") for key in ("value", "content", "schema"))
    is_error = raw.get("is_error", False)
    if not isinstance(is_error, bool):
        raise _Wrong("`expect.is_error` must be true or false")
    snapshot = _snapshot(raw, kind)
    masks = _texts(raw, "masks")
    if problem := next(filter(None, map(mask_problem, masks)), ""):
        raise _Wrong(problem)
    given = [key for key in _COMPARED if raw.get(key) is not None or raw.get(f"{key}_json") is not None]
    fitting = {"schema": {"schema"}, "snapshot": {"snapshot"}}.get(kind, {"text", "value", "content"})
    if strange := [key for key in given if key not in fitting]:
        raise _Wrong(f"`expect.{strange[0]}` is nothing for a check of kind {kind}")
    if kind != "snapshot" and not given and not (kind == "exact" and is_error):
        raise _Wrong(f"`expect` says nothing to compare: {', '.join(sorted(fitting))}")
    if kind == "schema" and not isinstance(schema, dict | bool):
        raise _Wrong("`expect.schema` must be a table")
    return Expected(
        kind,
        text,
        value,
        content,
        schema,
        snapshot,
        is_error,
        masks,
        _texts(raw, "ignore"),
    )


def _snapshot(raw: dict[str, Any], kind: str) -> str:
    """The name of the file of a snapshot; empty leaves it to the name of the check."""
    name = raw.get("snapshot", "")
    if not isinstance(name, str) or name != Path(name).name or name.startswith("."):
        raise _Wrong(f"`expect.snapshot` is the name of a file in {FOLDER / SNAPSHOTS}, without folders")
    return name if kind == "snapshot" else ""


def _only(raw: dict[str, Any], known: set[str], within: str) -> None:
    if strange := sorted(raw.keys() - known):
        raise _Wrong(f"there is no `{within}{strange[0][:60]}`; known are {', '.join(sorted(known))}")


def _value(raw: dict[str, Any], key: str, within: str) -> Any:
    """A JSON value: as TOML, or as JSON text under the key with `_json` behind it (null, large numbers)."""
    text = raw.get(f"{key}_json")
    if text is None:
        return _plain(_flat(raw[key], f"{within}{key}"), f"{within}{key}") if key in raw else NOTHING
    if key in raw:
        raise _Wrong(f"`{within}{key}` and `{within}{key}_json` say the same thing: keep one")
    if not isinstance(text, str):
        raise _Wrong(f"`{within}{key}_json` must be a text")
    try:
        return _flat(json.loads(text), f"{within}{key}_json")
    except RecursionError:
        raise _Wrong(f"`{within}{key}_json` is {TOO_DEEP}") from None
    except _Wrong:
        raise
    except ValueError as error:
        raise _Wrong(f"`{within}{key}_json` is not JSON: {error}") from None


def _flat(value: Any, where: str) -> Any:
    """The value, if it is not nested too deeply."""
    if is_nested_deeper(value, MAX_DEPTH):
        raise _Wrong(f"`{where}` is {TOO_DEEP}")
    return value


def _plain(value: Any, where: str) -> Any:
    """TOML that is JSON too: no dates, no nan."""
    if isinstance(value, dict):
        return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, f"{where}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, bool | str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise _Wrong(f"`{where}` is no JSON value; write a date as a text")


def _texts(raw: dict[str, Any], key: str) -> tuple[str, ...]:
    value = raw.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Wrong(f"`expect.{key}` must be a list of texts")
    return tuple(value)


def _timeout(raw: dict[str, Any]) -> float:
    value = raw.get("timeout", DEFAULT_TIMEOUT)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise _Wrong("`timeout` must be a positive number of seconds")
    return float(value)
