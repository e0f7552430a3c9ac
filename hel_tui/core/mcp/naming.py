"""Names under which the model sees MCP tools.

Pure functions of (server, raw name): order, time and neighbours never change a name.
Not here: which tools exist (catalogue), what a person sees (always the raw name).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Literal

MAX_NAME = 64
"""The strictest limit among model providers."""
HASH_DIGITS = 12

_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_LOOKS_HASHED = re.compile(rf"_[0-9a-f]{{{HASH_DIGITS}}}\Z")


Naming = Literal["hash", "exclude"]
"""What becomes of a tool whose name cannot be used as it is: a hashed name, or it is not offered."""


def public_name(server: str, raw: str) -> str:
    """Return the name the model uses for tool `raw` of `server`: at most 64 of [A-Za-z0-9_-].

    `mcp__server__raw` where that is clean, short and cannot be the name of any other tool; else
    its cleaned head and a hash of (server, raw). Two plain names can only meet where a server's name
    ends in `_` (the border between the parts is then unclear), and a plain name can only meet a hashed
    one where it ends like one: both are hashed always, so that equality needs a SHA-256 collision.
    """
    plain = f"mcp__{server}__{raw}"
    cleaned = _FOREIGN.sub("_", plain)
    unclear = server.endswith("_") or not raw or _LOOKS_HASHED.search(plain) is not None
    if cleaned == plain and len(plain) <= MAX_NAME and not unclear:
        return plain
    secret = f"{server}\0{raw}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(secret).hexdigest()[:HASH_DIGITS]
    return f"{cleaned[: MAX_NAME - 1 - HASH_DIGITS]}_{digest}"


def excluded_names(server: str, raws: Sequence[str]) -> dict[str, str]:
    """Return why tools of `server` are left out under naming "exclude", by raw name.

    Left out is what `public_name` would have to change, and what then would be equal to such a one; the
    order of `raws` does not matter.
    """
    reasons: dict[str, str] = {}
    cleaned: dict[str, list[str]] = {}
    for raw in raws:
        name = _FOREIGN.sub("_", f"mcp__{server}__{raw}")
        cleaned.setdefault(name, []).append(raw)
        if public_name(server, raw) != f"mcp__{server}__{raw}":
            reasons[raw] = f"its name cannot be used as it is (at most {MAX_NAME} of A-Z a-z 0-9 _ -)"
    for same in cleaned.values():
        different = sorted(set(same))
        for raw in different if len(different) > 1 else ():
            others = ", ".join(other for other in different if other != raw)[:100]
            reasons[raw] = f"its name would be the same as that of {others}"
    return reasons
