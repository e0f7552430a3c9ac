"""A JSON Schema validator that a foreign schema can neither hold up nor send anywhere.

A remote reference is never fetched, references and depth are bounded, patterns are not tried (they can
backtrack for ever). Imports jsonschema when first used. Not here: what is said of an error (checks).
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MOST_REFERENCES = 5_000
"""References followed in one check; a schema that needs more counts as broken."""
MOST_LOOKED_AT = 20_000
"""Parts of a schema that are looked at to tell its draft."""

_followed: contextvars.ContextVar[int] = contextvars.ContextVar("followed")
"""References followed so far in the check that runs."""


class _TooMuch(Exception):
    """The schema's references do not come to an end."""


def errors(schema: Any, value: Any, most: int, *, root: Any = None) -> list[Any]:
    """The first `most` errors (jsonschema's) of a value; none when it fits or the schema is broken.

    `root`: where the references of `schema` lead, when it is a part of a larger one.
    """
    _followed.set(0)
    found: list[Any] = []
    try:
        for error in _validator(schema, schema if root is None else root).iter_errors(value):
            found.append(error)
            if len(found) == most:
                break
    except (Exception, RecursionError):
        return []  # whatever a foreign schema does wrong, it is the server that judges then
    return found


def is_valid(schema: Any, value: Any, *, root: Any = None) -> bool:
    """Whether a value fits; True for a schema that is broken."""
    return not errors(schema, value, 1, root=root)


def warm_up() -> None:
    """Import what the first check needs. Takes a tenth of a second: call it in a thread."""
    errors({"type": "object"}, {}, 1)


def _validator(schema: Any, root: Any) -> Any:
    from jsonschema import validators
    from referencing import Registry

    base = _by_words(root)
    if isinstance(root, Mapping) and "$schema" in root:
        base = validators.validator_for(root, default=base)
    made = _tamed(base)(root, registry=Registry())  # an empty registry fetches nothing
    return made if schema is root else made.evolve(schema=schema)


def _by_words(schema: Any) -> Any:
    """The draft of a schema that does not name one: old words mean what they meant then."""
    import jsonschema

    draft: Any = jsonschema.Draft202012Validator
    left, seen = [schema], 0
    while left and seen < MOST_LOOKED_AT:
        one = left.pop()
        seen += 1
        if isinstance(one, Mapping):
            for word in ("exclusiveMinimum", "exclusiveMaximum"):
                if isinstance(one.get(word), bool):
                    return jsonschema.Draft4Validator
            if isinstance(one.get("items"), list | tuple):
                draft = jsonschema.Draft7Validator
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            left.extend(one)
    return draft


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
