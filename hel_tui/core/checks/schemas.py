"""Whether a value fits the JSON Schema that a check expects.

The schema comes with a repository: it is foreign. Not here: how it is kept from holding the program up or
reaching anyone (forms.validator), where the value comes from (comparing).
"""

from __future__ import annotations

import time
from typing import Any

from hel_tui.core.checks.masks import TooSlow, found_in
from hel_tui.forms.validator import Unfit, each_error, flaw

LIMIT = 2.0
"""Seconds that all patterns of a schema together may take on one value."""
MOST_REFERENCES = 100_000
"""References followed: a long list has one an item."""
_BROKEN = "the schema cannot be used"


def schema_problem(schema: Any, value: Any) -> str:
    """How a value breaks a schema, the place first; "" when it does not."""
    from jsonschema.exceptions import best_match

    end = time.monotonic() + LIMIT

    def search(pattern: str, text: str) -> bool:
        return found_in(pattern, text, end - time.monotonic())

    try:
        if wrong := flaw(schema):
            return f"{_BROKEN}: {wrong[:200]}"
        error = best_match(each_error(schema, value, search=search, references=MOST_REFERENCES))
    except TooSlow as slow:
        return str(slow)
    except Unfit as unfit:
        return f"{_BROKEN}: {unfit}"
    except (Exception, RecursionError) as fault:  # references that lead nowhere, and whatever it does wrong
        return f"{_BROKEN}: {type(fault).__name__}: {str(fault).splitlines()[0][:200]}"
    if error is None:
        return ""
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"value{where}: {error.message.splitlines()[0][:200]}"
