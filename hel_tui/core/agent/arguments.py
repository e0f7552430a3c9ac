"""From the JSON text of a call's arguments to the one object that is shown, checked and sent.

Parsed once: what a person approves and what the server gets are the same object. Not here: checking
against a tool's schema (the tools do that).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.vocabulary import Json

MAX_DEPTH = 200
"""Levels of objects and lists that arguments may be nested: what shows and checks them recurses."""
_TOO_DEEP = f"The arguments are nested more than {MAX_DEPTH} levels deep. The call was not executed."


def parse_arguments(text: str) -> Json | str:
    """The object in `text` ("" and null count as no arguments), or a sentence that says what is wrong.

    NaN and Infinity are refused (they are not JSON); of a key given twice the last value counts.
    """
    if not text.strip():
        return {}
    try:
        value: Any = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        return (
            f"The arguments are not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "The call was not executed."
        )
    except _Refused as refused:
        return f"The arguments are not valid JSON: {refused}. The call was not executed."
    except RecursionError:
        return _TOO_DEEP
    except ValueError:  # Python's limit on the digits of a whole number
        return "A number in the arguments has too many digits. The call was not executed."
    if value is None:
        return {}
    if not isinstance(value, dict):
        return "The arguments must be a JSON object. The call was not executed."
    if text.count("{") + text.count("[") > MAX_DEPTH and is_nested_deeper(value, MAX_DEPTH):
        return _TOO_DEEP
    return value


class _Refused(ValueError):
    """A value that no server could be sent; the text says which."""


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Refused(f"{text[:20]}{'…' if len(text) > 20 else ''} is too large a number")
    return number


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


def hidden_json(text: str, hide: Callable[[str], str]) -> str:
    """JSON text with `hide` applied to every text in it, keys too: a secret may be written with escapes."""

    def walked(value: Any) -> Any:
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, dict):
            return {hide(name): walked(one) for name, one in value.items()}
        return [walked(one) for one in value] if isinstance(value, list) else value

    if not text:
        return ""
    try:
        return json.dumps(walked(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return ""
