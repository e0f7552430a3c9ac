"""Writes a new check into a file of its own; no file that is there is ever touched.

Not here: what a check is (check), reading (reading).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.core.checks.check import FOLDER, MAX_DEPTH, NOTHING, TOO_DEEP, Check, Expected, slug
from hel_tui.core.checks.comparing import text_of, value_of
from hel_tui.core.checks.reading import read_checks
from hel_tui.core.checks.running import keep_snapshot
from hel_tui.core.checks.secrets import credential_in
from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.protocol import CheckKind
from hel_tui.core.store.atomic import why
from hel_tui.core.vocabulary import Json

_LONGEST_INTEGER = 2**63
HEAD = (
    "# A saved call and what it must come to: `hel mcp test` runs it, `hel help checks` tells the format.\n\n"
)


class NotSaved(ValueError):
    """The check was not saved; the text is a sentence."""


def expected_of(result: Json, kind: CheckKind, masks: tuple[str, ...] = ()) -> Expected:
    """What a result becomes as an expectation. Raises NotSaved when it cannot be one of this kind."""
    return replace(_expected_of(result, kind), masks=masks)


def _expected_of(result: Json, kind: CheckKind) -> Expected:
    is_error = result.get("isError") is True
    if kind == "snapshot":
        return Expected("snapshot", is_error=is_error)
    structured = result.get("structuredContent")
    if kind == "schema":
        value = value_of(result)
        if value is NOTHING:
            raise NotSaved("Not saved: the result has no structured content, and its text is no JSON.")
        return Expected("schema", schema=schema_of(value), is_error=is_error)
    if structured is not None:
        return Expected(kind, value=structured, is_error=is_error)
    blocks = result.get("content")
    has_text_only = isinstance(blocks, list) and all(
        isinstance(block, dict) and block.get("type") == "text" for block in blocks
    )
    if has_text_only:
        return Expected(kind, text=text_of(result), is_error=is_error)
    return Expected(kind, content=blocks if isinstance(blocks, list) else [], is_error=is_error)


def schema_of(value: Any) -> Json:
    """A JSON Schema that the value fits: types, keys that must be there, the items of lists."""
    if isinstance(value, dict):
        return {
            "type": "object",
            "required": sorted(value),
            "properties": {key: schema_of(item) for key, item in value.items()},
        }
    if isinstance(value, list):
        kinds: list[Json] = []
        for item in value:
            if (kind := schema_of(item)) not in kinds:
                kinds.append(kind)
        items: Json = {} if not kinds else {"items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}
        return {"type": "array", **items}
    names: tuple[tuple[type, str], ...] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
    )
    return {"type": next((name for kind, name in names if isinstance(value, kind)), "null")}


def save(project: Path, check: Check, result: Json, mask: Callable[[str], str]) -> Path:
    """Write a check (its `file` does not count) and return its file. Raises NotSaved.

    `mask` takes out what is or looks like a secret: when that would change the expectation or the arguments,
    nothing is written.
    """
    if not check.name.strip():
        raise NotSaved("Not saved: a check needs a name.")
    if any(one.name == check.name for one in read_checks(project)):
        raise NotSaved(f"Not saved: there is a check named {check.name} already.")
    if is_nested_deeper(check.arguments, MAX_DEPTH):
        raise NotSaved(f"Not saved: the arguments are {TOO_DEEP}.")
    if problem := credential_in(check.arguments):
        raise NotSaved(f"Not saved: {problem}.")
    text = text_for(check)
    if mask(text) != text:
        raise NotSaved(
            "Not saved: the arguments or the result hold what looks like a credential. Write ${VAR} for an "
            "argument; save the result as a snapshot with a mask, or as a schema."
        )
    path = project / FOLDER / f"{slug(check.name)}.toml"
    for part in (project / FOLDER.parts[0], project / FOLDER):
        if part.is_symlink():
            raise NotSaved(f"Not saved: {part} is a link.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise NotSaved(f"Not saved: there is a file {path} already.") from None
    except OSError as error:
        raise NotSaved(f"Not saved: {path}: {why(error)}.") from None
    if check.expected.kind == "snapshot" and (problem := keep_snapshot(project, check, result, mask)):
        path.unlink(missing_ok=True)
        raise NotSaved(problem)
    return path


def text_for(check: Check) -> str:
    """The text of a file with this check."""
    import tomli_w

    expected = check.expected
    expect: Json = {"kind": expected.kind}
    if expected.text is not None:
        expect["text"] = expected.text
    for key in ("value", "content", "schema"):
        if (value := getattr(expected, key)) is not NOTHING:
            expect |= _said(key, value)
    if expected.is_error:
        expect["is_error"] = True
    if expected.masks:
        expect["masks"] = list(expected.masks)
    if expected.ignore:
        expect["ignore"] = list(expected.ignore)
    document: Json = {"name": check.name, "server": check.server, "tool": check.tool}
    document |= _said("arguments", check.arguments)
    document["expect"] = expect
    return HEAD + tomli_w.dumps(document, multiline_strings=True)


def _said(key: str, value: Any) -> Json:
    """A JSON value under its key, as JSON text where TOML has no word for it."""
    if _fits_toml(value):
        return {key: value}
    return {f"{key}_json": json.dumps(value, indent=2, ensure_ascii=False) + "\n"}


def _fits_toml(value: Any) -> bool:
    """TOML knows no null, no larger numbers than 64 bits, and no carriage return in a long text."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _fits_toml(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_fits_toml, value))
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -_LONGEST_INTEGER <= value < _LONGEST_INTEGER
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str)
