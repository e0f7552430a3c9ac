"""Arguments of a built-in against its own schema: the small part of JSON Schema the built-ins use.

Not here: schemas of servers (mcp).
"""

from __future__ import annotations

import difflib

from hel_tui.core.vocabulary import Json

_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list}
_AN = {"string": "a string", "integer": "an integer", "boolean": "true or false", "array": "an array"}


def check(tool: str, schema: Json, arguments: Json) -> Json | str:
    """The arguments with defaults left out and null dropped where optional, or a sentence with the position.

    Knows `properties` of type string, integer, boolean and array (whose items the tool reads itself),
    `required`, `enum`, `minimum` and `maximum`.
    """
    properties: Json = schema["properties"]
    required = schema.get("required", ())
    checked: Json = {}
    for name, given in arguments.items():
        value = given
        if name not in properties:
            return _wrong(tool, name, _unknown(name, list(properties)))
        if value is None and name not in required:
            continue
        if isinstance(value, float) and value.is_integer() and properties[name]["type"] == "integer":
            value = int(value)
        if problem := _mismatch(properties[name], value):
            return _wrong(tool, name, problem)
        checked[name] = value
    for name in required:
        if name not in checked:
            return _wrong(tool, name, "it is required")
    return checked


def _mismatch(schema: Json, value: object) -> str:
    kind: str = schema["type"]
    if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
        return f"expected {_AN[kind]}, got {_named(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{str(value)[:40]!r} is not one of {', '.join(schema['enum'])}"
    least = schema.get("minimum")
    if least is not None and isinstance(value, int) and value < least:
        return f"{value} is less than {least}"
    most = schema.get("maximum")
    if most is not None and isinstance(value, int) and value > most:
        return f"{value} is more than {most}"
    return ""


def _named(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, int | float):
        return "a number"
    return "an array" if isinstance(value, list) else "an object"


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean `{near[0]}`" if near else f"; there are {', '.join(known)}"
    return f"there is no such argument{hint}"


def _wrong(tool: str, name: str, problem: str) -> str:
    return f"The arguments of {tool} do not fit at `{name[:80]}`: {problem}. The call was not executed."
