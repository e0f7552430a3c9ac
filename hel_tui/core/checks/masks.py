"""Masks: regular expressions whose matches do not count; and other patterns of checks.

They come with a repository, and may be slow on purpose: they can be stopped.
Not here: comparing (comparing).
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import regex

MASKED = "‹masked›"
MAX_MASK = 500
"""Characters of a mask."""
LIMIT = 2.0
"""Seconds one mask may take on one text; other threads go on meanwhile."""
TOGETHER = 10.0
"""Seconds all masks of a check may take on one result."""


class TooSlow(ValueError):
    """A mask took too long; the text says which."""


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # can be stopped, which `re` cannot

    return regex.compile(pattern)


def mask_problem(pattern: str) -> str:
    """Why a mask cannot be used, without a full stop; "" when it can."""
    import regex

    shown = pattern[:60]
    if len(pattern) > MAX_MASK:
        return f"a mask is longer than {MAX_MASK} characters"
    try:
        found = _compiled(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        return f"the mask {shown} is no regular expression: {error}"
    if found.fullmatch("", timeout=LIMIT):
        return f"the mask {shown} matches nothing at all, everywhere"
    return ""


def masked(text: str, masks: tuple[str, ...]) -> str:
    """`text` with one word in the place of what the masks match. Raises TooSlow."""
    return _masked(text, masks, time.monotonic() + TOGETHER)


def _masked(text: str, masks: tuple[str, ...], end: float) -> str:
    for pattern in masks:
        seconds = min(LIMIT, max(end - time.monotonic(), 0.001))
        try:
            text = _compiled(pattern).sub(MASKED, text, timeout=seconds, concurrent=True)
        except TimeoutError:
            raise TooSlow(f"the mask {pattern[:60]} takes too long on what came") from None
    return text


def pattern_problem(pattern: str) -> str:
    """Why a regular expression cannot be used, without a full stop; "" when it can."""
    import regex

    try:
        _compiled(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        return str(error)
    return ""


def found_in(pattern: str, text: str, seconds: float) -> bool:
    """Whether a regular expression is found in `text` within this time. Raises TooSlow."""
    return search(pattern, text, seconds) is not None


def search(pattern: str, text: str, seconds: float) -> regex.Match[str] | None:
    """Where a regular expression is found in `text` within this time. Raises TooSlow."""
    try:
        return _compiled(pattern).search(text, timeout=max(seconds, 0.001), concurrent=True)
    except TimeoutError:
        raise TooSlow(f"the pattern {pattern[:60]} takes too long on what came") from None


def masked_value(value: Any, masks: tuple[str, ...]) -> Any:
    """The same in every text of a JSON value. Raises TooSlow."""
    end = time.monotonic() + TOGETHER

    def each(value: Any) -> Any:
        if isinstance(value, str):
            return _masked(value, masks, end)
        if isinstance(value, dict):
            return {key: each(item) for key, item in value.items()}
        return [each(item) for item in value] if isinstance(value, list) else value

    return each(value) if masks else value
