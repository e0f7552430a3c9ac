"""`${VAR}` and `${VAR:-default}` in a piece of text.

One pure function, linear in the length of the text. Not here: which fields of a server entry are
expanded (mcp.expand), where a value in the keyring comes from (secrets).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

_HEAD = re.compile(r"\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|keyring:(?P<key>[A-Za-z0-9_.-]+))(?=\}|:-)")


def expand(
    text: str, environ: Mapping[str, str], keyring: Callable[[str], str | None] | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return `text` with its variables filled in, and the names that have neither value nor default.

    `${VAR}` takes a set variable, also an empty one; `${VAR:-default}` uses the default when the variable
    is unset or empty, as a shell does. Braces are balanced, a default may hold further variables, and only
    the default in use counts. Values are never expanded again. Every other dollar form is left alone as a
    whole, and so is everything from a `${` that is never closed. With `keyring`, `${keyring:NAME}` asks it
    for a value; an unknown one is reported as `keyring:NAME`.
    """
    if "${" not in text:
        return text, ()
    closing = _matching_braces(text)
    out: list[str] = []
    unset: dict[str, None] = {}
    ends: set[int] = set()
    at = 0
    while at < len(text):
        if at in ends:  # the brace that ends a default in use
            at += 1
            continue
        if not text.startswith("${", at):
            at += 1
            out.append(text[at - 1])
            continue
        close = closing.get(at + 1)
        if close is None:
            out.append(text[at:])
            break
        head = _HEAD.match(text, at)
        if head is None or (head["key"] and keyring is None):
            out.append(text[at : close + 1])
            at = close + 1
            continue
        name = head["name"] or f"keyring:{head['key']}"
        value = environ.get(name) if head["name"] else keyring(head["key"]) if keyring else None
        has_default = head.end() < close
        if value or (value is not None and not has_default):
            out.append(value)
        elif has_default:
            ends.add(close)
            at = head.end() + len(":-")
            continue
        else:
            unset[name] = None
        at = close + 1
    return "".join(out), tuple(unset)


def expand_home(path: str, environ: Mapping[str, str]) -> str:
    """Return `path` with a leading `~` or `~/` as the home folder; other users' homes as the system says."""
    if path == "~" or path.startswith("~/"):
        return (environ.get("HOME") or str(Path.home())) + path[1:]
    return str(Path(path).expanduser()) if path.startswith("~") else path


def _matching_braces(text: str) -> dict[int, int]:
    """Map the offset of each opening brace to that of the brace that closes it."""
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    for found in re.finditer(r"[{}]", text):
        if found[0] == "{":
            open_at.append(found.start())
        elif open_at:
            pairs[open_at.pop()] = found.start()
    return pairs
