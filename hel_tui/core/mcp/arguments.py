"""Checks a call's arguments, and what comes back, against a tool's own schemas.

A schema is foreign: a broken one never blocks a call. Not here: how a schema is kept from holding the
program up (forms.validator).
"""

from __future__ import annotations

from typing import Any

from hel_tui.core.vocabulary import Json
from hel_tui.forms.validator import errors
from hel_tui.forms.validator import warm_up as warm_up

MOST_ERRORS = 3


def check_arguments(schema: Json, arguments: Json) -> str:
    """Return what is wrong with `arguments`, position first; "" when they fit or the schema is broken."""
    return _problems(schema, arguments, "arguments")


def check_output(schema: Json, value: Any) -> str:
    """Return what is wrong with the structured content of a result, likewise."""
    return _problems(schema, value, "structuredContent")


def _problems(schema: Json, value: Any, name: str) -> str:
    found = errors(schema, value, MOST_ERRORS)
    return "; ".join(f"{_position(error, name)}: {error.message[:300]}" for error in found)


def _position(error: Any, name: str) -> str:
    text = name
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text
