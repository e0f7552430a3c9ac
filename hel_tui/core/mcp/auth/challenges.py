"""What a server's refusal asks for: the WWW-Authenticate header, read as RFC 9110 and RFC 6750 write it.

Pure functions over foreign text, linear in its length. Not here: acting on it (discovery, authorization).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hel_tui.core.mcp.authorizing import Challenge

LONGEST = 16_000
"""Characters of a header that are looked at."""

MOST_SCOPES = 100
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}")

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PIECE = re.compile(
    rf"[\s,]*(?:(?P<name>{_TOKEN})\s*=\s*(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"?|(?P<plain>[^\s,\"]+))"
    rf"|(?P<scheme>{_TOKEN})(?:[ \t]+(?P<opaque>[A-Za-z0-9._~+/-]+=+)(?=\s*(?:,|$)))?"
    r"|(?P<rest>.))",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The Bearer challenge of a refusal."""

    scopes: tuple[str, ...] = ()
    resource_metadata: str = ""
    error: str = ""
    more_scopes: bool = False
    """The token is good but does not reach far enough (RFC 6750 section 3.1, insufficient_scope)."""


def read_challenge(challenge: Challenge) -> Wanted:
    """Return what a 401 or 403 asks for. A header nobody could read asks for nothing in particular."""
    fields = _bearer_fields(challenge.www_authenticate[:LONGEST])
    error = fields.get("error", "")
    scopes = scope_words(fields.get("scope", "").split())
    said = error == "insufficient_scope" or "insufficient_scope" in challenge.body
    more = challenge.status == 403 and (said or bool(scopes))
    return Wanted(scopes, fields.get("resource_metadata", ""), error, more)


def scope_words(words: Iterable[str]) -> tuple[str, ...]:
    """Those of `words` that can be scopes (RFC 6749 section 3.3), each once, and not too many."""
    return tuple(dict.fromkeys(word for word in words if _SCOPE.fullmatch(word)))[:MOST_SCOPES]


def _bearer_fields(header: str) -> dict[str, str]:
    """The parameters of the first Bearer challenge; of the whole header when it names no Bearer."""
    challenges: list[tuple[str, dict[str, str]]] = [("", {})]
    for found in _PIECE.finditer(header):
        if found["scheme"]:
            challenges.append((found["scheme"].lower(), {}))
        elif found["name"]:
            quoted = found["quoted"]
            value = found["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            challenges[-1][1].setdefault(found["name"].lower(), value)
    bearer = [fields for scheme, fields in challenges if scheme == "bearer"]
    if bearer:
        return max(bearer, key=len)
    return {name: value for _, fields in reversed(challenges) for name, value in fields.items()}
