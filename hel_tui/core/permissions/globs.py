"""Patterns in permission rules: `*`, `**`, `?` and a backslash that takes their meaning away.

Matching takes time in line with pattern times text, whatever the pattern. Not here: commands (commands),
what a rule is (rules).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

_SPECIAL = re.compile(r"[\\*?]")


def escape(text: str) -> str:
    """Return the pattern that matches exactly `text`."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def has_wildcard(pattern: str) -> bool:
    return any(len(token) == 2 for token in _tokens(pattern))


def matches(pattern: str, text: str) -> bool:
    """Return whether the whole `text` fits: `*` is any run of characters, `?` any one."""
    tokens = _tokens(pattern)
    at = place = 0
    star = -1
    tried = 0
    while place < len(text):
        if at < len(tokens) and tokens[at] == "*?":
            star, tried = at, place
            at += 1
        elif at < len(tokens) and (tokens[at] == "??" or tokens[at] == text[place]):
            at += 1
            place += 1
        elif star >= 0:
            tried += 1
            at, place = star + 1, tried
        else:
            return False
    return all(token == "*?" for token in tokens[at:])


def _tokens(pattern: str) -> list[str]:
    """Split a pattern: a plain character as itself, a wildcard as `*?` or `??`."""
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\" and pattern[at + 1 : at + 2] in ("\\", "*", "?"):
            tokens.append(pattern[at + 1])
            at += 2
            continue
        tokens.append(pattern[at] + "?" if pattern[at] in "*?" else pattern[at])
        at += 1
    return tokens


def path_matches(pattern: str, path: str, environ: Mapping[str, str], *, strict: bool) -> bool:
    """Return whether `path` (relative to the project, or absolute) fits a path pattern.

    As in ignore files: `*` stays within one part, `**` crosses parts, a pattern without a slash fits at any
    depth, a leading `/` or `./` starts at the project, and what lies below a fitting folder fits too. `//`
    and `~/` start absolute paths. Not `strict`, letter case and ways to compose a letter are ignored, as some
    file systems do.
    """
    anchored = True
    if pattern.startswith("~/"):
        pattern = escape(environ.get("HOME", "~")) + pattern[1:]
    elif pattern.startswith("//"):
        pattern = pattern[1:]
    elif pattern.startswith(("/", "./")):
        pattern = pattern.partition("/")[2]
    else:
        anchored = "/" in pattern.rstrip("/")
    wanted = [part for part in pattern.split("/") if part != "."]
    wanted = [part for at, part in enumerate(wanted) if part or at == 0]
    parts = path.split("/")
    if ".." in parts:
        return not strict
    if not strict:
        wanted, parts = [_folded(part) for part in wanted], [_folded(part) for part in parts]
    return _parts_match(wanted if anchored else ["**", *wanted], parts)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _parts_match(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether `wanted` fits `parts` or the beginning of them."""
    reached = {0}
    for pattern in wanted:
        if pattern == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(parts) and matches(pattern, parts[at])}
    return bool(reached)
