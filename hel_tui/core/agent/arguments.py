"""From the JSON text of a call's arguments to the one object that is shown, checked and sent.

Parsed once: what a person approves and what the server gets are the same object. Not here: checking
against a tool's schema (the tools do that).
"""

from __future__ import annotations

import difflib
import json
from typing import Any, NoReturn

from hel_tui.core.vocabulary import Json


def parse_arguments(text: str) -> Json | str:
    """The object in `text` ("" and null count as no arguments), or a sentence that says what is wrong.

    NaN and Infinity are refused (they are not JSON); of a key given twice the last value counts.
    """
    if not text.strip():
        return {}
    try:
        value: Any = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return (
            f"The arguments are not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "The call was not executed."
        )
    except (ValueError, RecursionError) as error:
        return f"The arguments are not valid JSON: {error}. The call was not executed."
    if value is None:
        return {}
    if not isinstance(value, dict):
        return "The arguments must be a JSON object. The call was not executed."
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def shown(arguments: Json) -> str:
    """Pretty JSON of exactly what is sent; lone surrogates and control characters as escapes."""
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def changed_since(before: Json | None, now: Json) -> str:
    """Unified diff from the last call's arguments; empty at the first call and when equal."""
    if before is None or before == now:
        return ""
    lines = difflib.unified_diff(
        shown(before).splitlines(), shown(now).splitlines(), "last call", "this call", lineterm="", n=1
    )
    return "\n".join(lines)
