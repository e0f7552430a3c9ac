"""Whether typed text matches a regular expression that a server gave, without letting it hold up the screen.

Not here: patterns of hel's own rules (permissions).
"""

from __future__ import annotations

import re

LONGEST = 500
"""Characters of a pattern that is still looked at."""
BUDGET = 20_000_000
"""Steps a match may take in the worst case: about half a second."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{)")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+[:)]")
"""Flags in the pattern, such as verbose, under which it does not mean what it looks like."""
_QUANTIFIER = re.compile(r"[*+?]|\{\d*,?\d*\}")
_GROUP_HEAD = re.compile(r"\(\?(?:[:=!>]|<[=!]|P?<\w+>|P=\w+|[a-zA-Z-]+:?)?")


def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`; True where it cannot be told here, for the server checks it too.

    Python's matching backtracks and cannot be stopped: with k quantifiers it takes about n^(k+1) steps on n
    characters, and more than that only where a group is repeated. What would pass the budget is not tried,
    and neither is a pattern that sets flags or that Python does not know.
    """
    if not pattern or len(pattern) > LONGEST:
        return True
    bare = _CLASS.sub("c", _ESCAPED.sub("c", pattern))
    if _REPEATED_GROUP.search(bare) or _FLAGS.search(bare):
        return True
    quantifiers = len(_QUANTIFIER.findall(_GROUP_HEAD.sub("(", bare)))
    if (len(text) + 1) ** (quantifiers + 1) > BUDGET:
        return True
    try:
        return re.search(pattern, text) is not None
    except (re.error, OverflowError, RecursionError, ValueError):
        return True
