"""A JSON Schema validator that a foreign schema can neither hold up nor send anywhere.

A remote reference is never fetched, references and depth are bounded. Patterns can backtrack for ever: they
are tried only by a search that can be stopped, where one is given. Imports jsonschema when first used.
Not here: what is said of an error (checks).
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

Search = Callable[[str, str], bool]
"""Whether a regular expression is found in a text; it may raise to end the check."""

_search: contextvars.ContextVar[Search] = contextvars.ContextVar("search")
"""How the check that runs tries patterns, if it does."""
_left: contextvars.ContextVar[int] = contextvars.ContextVar("left")
"""References that may still be followed in the check that runs."""


class Unfit(Exception):
    """The schema asks for what is not done here; the text is a phrase."""


class _TooMuch(Unfit):
    """The schema's references do not come to an end."""

    def __init__(self) -> None:
        super().__init__("its references do not come to an end")


def errors(schema: Any, value: Any, most: int, *, root: Any = None) -> list[Any]:
    """The first `most` errors (jsonschema's) of a value; none when it fits or the schema is broken.

    `root`: where the references of `schema` lead, when it is a part of a larger one.
    """
    found: list[Any] = []
    try:
        for error in each_error(schema, value, root=root):
            found.append(error)
            if len(found) == most:
                break
    except (Exception, RecursionError):
        return []  # whatever a foreign schema does wrong, it is the server that judges then
    return found


def each_error(
    schema: Any,
    value: Any,
    *,
    root: Any = None,
    search: Search | None = None,
    references: int = MOST_REFERENCES,
    formats: bool = False,
) -> Iterator[Any]:
    """All errors of a value, one after the other; patterns count with a `search`, formats where asked for.

    Raises whatever a broken schema makes jsonschema raise, `Unfit`, and what `search` raises.
    """
    _left.set(references)
    if search is not None:
        _search.set(search)
    made = _validator(schema, schema if root is None else root, search is not None, formats)
    yield from made.iter_errors(value)


def flaw(schema: Any) -> str:
    """What is wrong with a schema by its own draft, in one line; "" when nothing is."""
    from jsonschema.exceptions import SchemaError

    try:
        _draft(schema).check_schema(schema)
    except SchemaError as wrong:
        return str(wrong.message).splitlines()[0]
    return ""


def is_valid(schema: Any, value: Any, *, root: Any = None) -> bool:
    """Whether a value fits; True for a schema that is broken."""
    return not errors(schema, value, 1, root=root)


def warm_up() -> None:
    """Import what the first check needs. Takes a tenth of a second: call it in a thread."""
    errors({"type": "object"}, {}, 1)


def _validator(schema: Any, root: Any, with_patterns: bool, formats: bool) -> Any:
    from referencing import Registry

    named = _names_patterns(root)
    kind = _tamed(_draft(root), with_patterns, named, formats)
    checker = kind.FORMAT_CHECKER if formats else None
    made = kind(root, registry=Registry(), format_checker=checker)  # an empty registry fetches nothing
    return made if schema is root else made.evolve(schema=schema)


def _draft(schema: Any) -> Any:
    """The draft that a schema names, or whose words it speaks."""
    from jsonschema import validators

    base = _by_words(schema)
    if isinstance(schema, Mapping) and "$schema" in schema:
        return validators.validator_for(schema, default=base)
    return base


def _names_patterns(schema: Any) -> bool:
    """Whether patterns for names of properties stand anywhere in a schema, or it is too large to tell."""
    left, seen = [schema], 0
    while left:
        one = left.pop()
        seen += 1
        if seen > MOST_LOOKED_AT:
            return True
        if isinstance(one, Mapping):
            if "patternProperties" in one:
                return True
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            left.extend(one)
    return False


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
def _tamed(base: Any, with_patterns: bool, named: bool, formats: bool) -> Any:
    """Return `base` with a bound on references, and patterns tried by `_search` or not at all. Takes 1 ms.

    `named`: there are patterns for names of properties. jsonschema would try them itself, wherever they
    stand, to tell which properties nothing speaks of.
    """
    from jsonschema import validators

    def bounded(original: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        @functools.wraps(original)
        def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            _left.set(_left.get() - 1)
            if _left.get() < 0:
                raise _TooMuch
            yield from original(validator, value, instance, schema) or ()

        return check

    rules: dict[str, Any] = {} if formats else {"format": _ignored}
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in base.VALIDATORS:
            rules[name] = bounded(base.VALIDATORS[name])
    if with_patterns:
        rules |= {"pattern": _pattern, "patternProperties": _pattern_properties}
    else:
        rules |= {"pattern": _ignored, "patternProperties": _ignored}
    if named:
        rules["additionalProperties"] = _additional(base.VALIDATORS["additionalProperties"], with_patterns)
        if "unevaluatedProperties" in base.VALIDATORS:
            rules["unevaluatedProperties"] = _not_done if with_patterns else _ignored
    return validators.extend(base, rules)  # type: ignore[no-untyped-call]


def _ignored(*_args: Any) -> Iterator[Any]:
    return iter(())


def _not_done(*_args: Any) -> Iterator[Any]:
    raise Unfit("unevaluatedProperties does not go together with patternProperties here")


def _pattern(validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "string") and not _search.get()(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, schema in patterns.items():
            for name, value in instance.items():
                if _search.get()(pattern, name):
                    yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional(original: Callable[..., Any], with_patterns: bool) -> Callable[..., Iterator[Any]]:
    """What holds for properties that are not named: beside patterns, for those that fit none."""

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if "patternProperties" not in schema:
            yield from original(validator, value, instance, schema) or ()
        elif with_patterns and validator.is_type(instance, "object"):
            fits, named = _search.get(), schema.get("properties", {})
            left = {
                name: item
                for name, item in instance.items()
                if name not in named and not any(fits(one, name) for one in schema["patternProperties"])
            }
            bare = {"additionalProperties": value}
            yield from original(validator, value, left, bare) or ()

    return check
