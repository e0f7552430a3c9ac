"""Checks a call's arguments, and what comes back, against a tool's own schemas.

A schema is foreign: a broken one never blocks a call, a remote reference is never fetched, and neither
its patterns nor its depth can hold the program up. Imports jsonschema when first used.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Iterator
from typing import Any

from hel_tui.core.vocabulary import Json

MOST_ERRORS = 3
MOST_REFERENCES = 5000
"""References followed in one check; a schema that needs more counts as broken."""

_followed: contextvars.ContextVar[int] = contextvars.ContextVar("followed")
"""References followed so far in the check that runs."""


class _TooMuch(Exception):
    """The schema's references do not come to an end."""


def check_arguments(schema: Json, arguments: Json) -> str:
    """Return what is wrong with `arguments`, position first; "" when they fit or the schema is broken."""
    return _problems(schema, arguments, "arguments")


def check_output(schema: Json, value: Any) -> str:
    """Return what is wrong with the structured content of a result, likewise."""
    return _problems(schema, value, "structuredContent")


def _problems(schema: Json, value: Any, name: str) -> str:
    _followed.set(0)
    try:
        validator = _validator(schema)
        errors = []
        for error in validator.iter_errors(value):
            errors.append(error)
            if len(errors) == MOST_ERRORS:
                break
    except (Exception, RecursionError):
        return ""  # whatever a foreign schema does wrong, it is the server that judges then
    return "; ".join(f"{_position(error, name)}: {error.message[:300]}" for error in errors)


def warm_up() -> None:
    """Import what the first check needs. Takes a tenth of a second: call it in a thread."""
    check_arguments({"type": "object"}, {})


def _position(error: Any, name: str) -> str:
    text = name
    for part in error.absolute_path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text


def _validator(schema: Json) -> Any:
    from jsonschema import validators
    from referencing import Registry

    base = validators.validator_for(schema, default=_latest())
    return _tamed(base)(schema, registry=Registry())  # an empty registry fetches nothing


def _latest() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator


@functools.cache
def _tamed(base: Any) -> Any:
    """Return `base` without regular expressions and with a bound on references. Making it takes 1 ms."""
    from jsonschema import validators

    def bounded(original: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        @functools.wraps(original)
        def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            _followed.set(_followed.get() + 1)
            if _followed.get() > MOST_REFERENCES:
                raise _TooMuch
            yield from original(validator, value, instance, schema) or ()

        return check

    def beside_patterns(original: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        @functools.wraps(original)
        def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            if "patternProperties" not in schema:
                yield from original(validator, value, instance, schema) or ()

        return check

    def ignored(*_args: Any) -> Iterator[Any]:
        return iter(())

    rules: dict[str, Any] = {"pattern": ignored, "patternProperties": ignored, "format": ignored}
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in base.VALIDATORS:
            rules[name] = bounded(base.VALIDATORS[name])
    for name in ("additionalProperties", "unevaluatedProperties"):
        if name in base.VALIDATORS:
            rules[name] = beside_patterns(base.VALIDATORS[name])
    return validators.extend(base, rules)  # type: ignore[no-untyped-call]
