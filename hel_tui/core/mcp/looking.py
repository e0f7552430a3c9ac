"""Looking for text in what servers send: a literal in any case, or a regular expression with a limit of time.

Not here: where is looked (frames, logs).
"""

from __future__ import annotations

import functools
import json
import time
from typing import Any

LIMIT = 0.25
"""Seconds one look may take with a regular expression; what takes longer is no use for filtering."""
LONGEST = 1000
"""Characters of an expression."""


class Wanted:
    """What is looked for. Raises ValueError with a sentence for a regular expression that is none."""

    def __init__(self, text: str, *, is_regex: bool) -> None:
        self._pattern = _compiled(text) if is_regex and text else None
        self._text = text.casefold()
        self._needles = _needles(text)
        self._until = time.monotonic() + LIMIT

    @property
    def is_literal(self) -> bool:
        """Whether `text` says all."""
        return self._pattern is None

    @property
    def text(self) -> str:
        """A literal, folded: what is looked into has to be folded too."""
        return self._text

    def in_text(self, text: str) -> bool:
        """Whether it is in `text`. Raises ValueError when the looking has taken too long."""
        if self._pattern is None:
            return self._text in text.casefold()
        left = self._until - time.monotonic()
        if left <= 0:
            raise ValueError(_TOO_SLOW)
        try:
            return self._pattern.search(text, timeout=left, concurrent=True) is not None
        except TimeoutError:
            raise ValueError(_TOO_SLOW) from None

    def in_bytes(self, data: bytes) -> bool:
        """Whether it is in the JSON text `data`; of a literal also as JSON may escape it."""
        if self._pattern is not None:
            return self.in_text(data.decode("utf-8", "replace"))
        lower = data.lower()
        if any(needle in lower for needle in self._needles):
            return True
        return not self._text.isascii() and self._text in data.decode("utf-8", "replace").casefold()


_TOO_SLOW = "This expression takes too long: it was stopped."


def _needles(text: str) -> tuple[bytes, ...]:
    """How a literal may stand in lower-cased bytes of JSON: as it is, with escapes, all in ASCII."""
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return tuple(form.encode("utf-8", "replace").lower() for form in forms)


@functools.lru_cache(maxsize=32)
def _compiled(text: str) -> Any:
    """The expression. Raises ValueError with a sentence."""
    import regex

    if len(text) > LONGEST:
        raise ValueError(f"This expression is longer than {LONGEST:,} characters.")
    try:
        return regex.compile(text, regex.IGNORECASE)
    except (regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"This is no regular expression: {error}.") from None
