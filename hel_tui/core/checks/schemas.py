"""Whether a value fits the JSON Schema that a check expects.

The schema comes with a repository: it is sent nowhere (a remote reference is never fetched), and its patterns
can be stopped. Not here: where the value comes from (comparing).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hel_tui.core.checks.masks import TooSlow, found_in


def schema_problem(schema: Any, value: Any) -> str:
    """How a value breaks a schema, the place first; "" when it does not."""
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry

    base: Any = validators.validator_for(schema, Draft202012Validator)
    kind: Any = validators.extend(base, {"pattern": _pattern})  # type: ignore[no-untyped-call]
    try:
        base.check_schema(schema)
        error = best_match(kind(schema, registry=Registry()).iter_errors(value))
    except SchemaError as wrong:
        return f"the schema cannot be used: {wrong.message.splitlines()[0][:200]}"
    except TooSlow as slow:
        return str(slow)
    except (
        Exception,
        RecursionError,
    ) as fault:  # references that lead nowhere, and whatever else it does wrong
        return f"the schema cannot be used: {type(fault).__name__}: {str(fault).splitlines()[0][:200]}"
    if error is None:
        return ""
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"value{where}: {error.message.splitlines()[0][:200]}"


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and isinstance(pattern, str) and not found_in(pattern, instance):
        yield ValidationError(f"{instance[:100]!r} does not match {pattern[:100]!r}")
