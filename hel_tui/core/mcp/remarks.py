"""What is said of a valid entry of a server file: keys that do nothing, risks, secrets written out.

Not here: what makes an entry invalid (validation).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.store.redact import looks_like_secret, redact_shapes

FLAGS = (
    "always_load",
    "trust_annotations",
    "reconnect",
    "parallel",
    "roots",
    "elicitation",
    "sampling",
    "utility_tools",
    "insecure",
)
"""Keys that are true or false."""
_REMOTE = ("headersHelper", "oauth", "ca", "insecure")
"""Keys that only concern servers behind a URL."""
_LOCAL = ("watch",)
"""Keys that only concern servers that are programs."""
SWITCHES = ("disabled", "enabled")
"""Two spellings of one switch."""
KNOWN = frozenset(
    {"type", "command", "args", "env", "cwd", "url", "headers", "timeout"}
    | {"startup_timeout", "tools", "protocol", "on_list_changed", "log_level"}
    | {*FLAGS, *_REMOTE, *_LOCAL, *SWITCHES}
)
"""Every key an entry may have."""
_OTHERS = {"alwaysLoad": "always_load"}
"""Spellings of other clients whose files hel reads as they are."""
_LONG = 3600.0
"""Seconds above which a time is taken for one meant in milliseconds, and remarked on."""
_APPROVING = frozenset(("autoapprove", "alwaysallow", "auto_approve", "always_allow", "trust", "autoallow"))
_NAMED = 10
"""Unknown keys that are named; more are counted."""


def named(words: list[str]) -> list[str]:
    """The first ten of `words`, and how many more there are."""
    more = len(words) - _NAMED
    return [*words[:_NAMED], f"and {more:,} more"] if more > 0 else words


def in_own_names(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with hel's spelling of keys that it has in another client's."""
    if not raw.keys() & _OTHERS.keys():
        return raw
    own = {_OTHERS[key]: value for key, value in raw.items() if key in _OTHERS}
    return own | {key: value for key, value in raw.items() if key not in _OTHERS}


def remarks(entry: ServerEntry, raw: dict[str, Any]) -> list[str]:
    """Say what of a valid entry does nothing, is dangerous, or holds a secret it should not."""
    notes = []
    approving = [key for key in raw if key.lower() in _APPROVING]
    if approving:
        notes.append(f"{_listed(approving)} never counts as approval; hel asks by its own rules.")
    strange = [key for key in raw if key not in KNOWN and key.lower() not in _APPROVING]
    unknown = [f"`{key[:60]}`" for key in strange]
    for at, key in enumerate(strange[:_NAMED]):
        near = difflib.get_close_matches(key.lower().replace("-", "_"), KNOWN, 1, 0.8)
        unknown[at] += f" (did you mean `{near[0]}`?)" if near else ""
    tools = raw.get("tools")
    if isinstance(tools, dict):
        unknown += [f"`tools.{key[:60]}`" for key in tools if key not in ("include", "exclude")]
    if entry.transport != "stdio":
        unknown += [f"`oauth.{key[:60]}`" for name, key, _ in entry.oauth_settings if not name]
    if unknown:
        notes.append(f"unknown and left out: {', '.join(named(unknown))}.")
    if entry.transport == "stdio" and (odd := [key for key in _REMOTE if raw.get(key)]):
        notes.append(f"{_listed(odd)} only concerns servers with a `url`: left out.")
    notes += _doubts(entry)
    if entry.insecure and entry.transport != "stdio":
        notes.append("`insecure`: whoever is between hel and this server can read and change everything.")
    if entry.transport != "stdio" and (odd := [key for key in _LOCAL if raw.get(key)]):
        notes.append(f"{_listed(odd)} only concerns servers with a `command`: left out.")
    if entry.scope == "project":
        notes += _secret_remarks(entry)
    return notes


def _doubts(entry: ServerEntry) -> Iterator[str]:
    """What is allowed and hardly meant."""
    for name, seconds in (("timeout", entry.timeout), ("startup_timeout", entry.startup_timeout)):
        if seconds > _LONG:
            yield f"`{name}` is in seconds: {seconds:g} are {seconds / 3600:,.1f} hours."
    values = [("command", entry.command), ("url", entry.url)]
    values += [(f"env.{name}", value) for name, value in entry.env]
    values += [(f"headers.{name}", value) for name, value in entry.headers]
    if spaced := [f"`{name}`" for name, value in values if value != value.strip()]:
        yield f"{', '.join(named(spaced))} begins or ends with white space."


def _secret_remarks(entry: ServerEntry) -> list[str]:
    where = [f"`env.{name}`" for name, value in entry.env if looks_like_secret(name, value)]
    where += [f"`headers.{name}`" for name, value in entry.headers if looks_like_secret(name, value)]
    where += [f"`oauth.{key}`" for name, key, value in entry.oauth_settings if _is_secret(name, key, value)]
    where += ["`args`"] if any(redact_shapes(arg) != arg for arg in entry.args) else []
    where += ["`url`"] if redact_shapes(entry.url) != entry.url else []
    if not where:
        return []
    return [
        f"{', '.join(where)} seems to hold a credential in a file that is committed; "
        "write ${NAME} and set NAME in the environment, or ${keyring:NAME}."
    ]


def _is_secret(name: str, key: str, value: Any) -> bool:
    """Whether a setting of `oauth` is a credential written out; where a key is kept is none."""
    if not isinstance(value, str) or name not in ("client_secret", "private_key"):
        return False
    return looks_like_secret("" if name == "private_key" else key, value)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
