"""An answer that has to be JSON of a certain shape: what the model is told, and whether its answer fits.

Pure functions over a schema. Not here: asking again (agent, cli), what a provider takes of it (models).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hel_tui.api.results import HelError
from hel_tui.core.checks.masks import TooSlow, found_in
from hel_tui.forms.validator import Unfit, each_error

NAME = "JSON schema"
"""What the person sees of what the model is told of it."""
TRIES = 3
"""Answers a run may give until one fits."""
_MOST_ERRORS = 8
"""Errors the model is told of at once."""
LIMIT = 2.0
"""Seconds that all patterns of a schema together may take on one answer."""
_MOST_REFERENCES = 100_000
_FENCE = re.compile(r"^```[A-Za-z]*[ \t]*\r?\n(.*)\n```$", re.DOTALL)


class BadSchema(HelError):
    """The schema is none, or refers to something outside itself."""


@dataclass(frozen=True, slots=True)
class Fits:
    """The answer is such a value."""

    data: Any


@dataclass(frozen=True, slots=True)
class Misfit:
    """It is not; `errors` are sentences for the model."""

    errors: tuple[str, ...]


class Shape:
    """A JSON schema that answers are held to."""

    def __init__(self, schema: Any) -> None:
        """Raises BadSchema."""
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for

        if not isinstance(schema, dict):
            raise BadSchema("the schema is no JSON object")
        from jsonschema import Draft202012Validator

        kind = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema)
        except SchemaError as error:
            raise BadSchema(f"the schema is none: {error.message[:300]}") from None
        if outside := next(_outside(schema), ""):
            raise BadSchema(f"the schema refers to {outside[:200]}, which is not in it")
        self.schema = schema

    def instruction(self) -> str:
        """What stands behind the prompt, as `Submit.behind`."""
        return (
            "When you are done, answer with one JSON value and nothing else: no words around it, no "
            f"fence. It must fit this JSON schema:\n{json.dumps(self.schema, ensure_ascii=False)}"
        )

    def look(self, text: str) -> Fits | Misfit:
        """Whether an answer is JSON that fits. A fence around the whole of it does not count."""
        bare = text.strip()
        if fenced := _FENCE.match(bare):
            bare = fenced[1].strip()
        try:
            data = json.loads(bare, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            said = str(error) if isinstance(error, ValueError) else "too deep"
            return Misfit((f"it is not JSON: {said}",))
        try:
            found = sorted(self._errors(data), key=lambda one: one.json_path)
        except RecursionError:
            return Misfit(("it is too deep to be looked at",))
        except (TooSlow, Unfit) as unfit:
            return Misfit((f"it cannot be looked at: {unfit}",))
        except Exception as fault:  # a reference that leads nowhere, and whatever else a schema does wrong
            return Misfit((f"the schema cannot be used: {str(fault)[:300]}",))
        if not found:
            return Fits(data)
        errors = [f"{one.json_path}: {one.message[:300]}" for one in found[:_MOST_ERRORS]]
        if len(found) > _MOST_ERRORS:
            errors.append(f"and {len(found) - _MOST_ERRORS} more")
        return Misfit(tuple(errors))

    def _errors(self, data: Any) -> Iterator[Any]:
        end = time.monotonic() + LIMIT

        def search(pattern: str, text: str) -> bool:
            return found_in(pattern, text, end - time.monotonic())

        return each_error(self.schema, data, search=search, references=_MOST_REFERENCES, formats=True)

    def again(self, misfit: Misfit) -> str:
        """What the model is told after an answer that does not fit."""
        said = "\n".join(f"- {one}" for one in misfit.errors)
        return (
            f"That answer does not fit the schema:\n{said}\n"
            "Answer again with the whole JSON value, and nothing else."
        )

    @staticmethod
    def gave_up(misfit: Misfit, tries: int) -> str:
        """Why there is no value, for a person."""
        return f"No answer of {tries} fits the schema: {'; '.join(misfit.errors)[:600]}"


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _outside(value: Any) -> Any:
    """References to anything but the schema itself."""
    if isinstance(value, dict):
        for key in ("$ref", "$dynamicRef"):
            reference = value.get(key)
            if isinstance(reference, str) and not reference.startswith("#"):
                yield reference
        for inner in value.values():
            yield from _outside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _outside(inner)
