"""Ids of calls that a provider takes, for calls that another one made.

A function of the history alone, so that a request and the next one spell an id the same way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]+")


def fitting(longest: int = 64) -> Callable[[str], str]:
    """A function that makes any id one of at most `longest` of `[a-zA-Z0-9_-]`, and two never the same.

    Anthropic: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"; OpenAI: "call_id: string too
    long. Expected a string with maximum length 64".
    """

    def fit(id: str) -> str:
        if id and len(id) <= longest and not _FOREIGN.search(id):
            return id
        digest = hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:12]
        return f"{_FOREIGN.sub('_', id)[: longest - 13]}_{digest}"

    return fit
