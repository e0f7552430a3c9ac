"""What a person agrees to with the `oauth` of an entry: where credentials go, and who is asked no more.

Not here: the rest of an entry (claims), OAuth itself (mcp.auth).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hel_tui.core.permissions.risks import url_risks
from hel_tui.core.permissions.shown import references, shown_secret
from hel_tui.core.store.redact import looks_like_secret, redact_shapes

Settings = Iterable[tuple[str, str, Any]]
"""hel's name of each key ("" where it knows none), the key as written, its value."""


def shown_setting(name: str, key: str, value: Any) -> str:
    """What is shown of one setting: as written, a credential as dots with the variables it is made of."""
    if not isinstance(value, str):
        return redact_shapes(json.dumps(value, ensure_ascii=False))
    is_key = name == "private_key" and "-----BEGIN" in value
    if name == "client_secret" or is_key or (name != "private_key" and looks_like_secret(key, value)):
        return shown_secret(value)
    return redact_shapes(value)


def login_risks(settings: Settings, fill: Callable[[str], str]) -> Iterator[str]:
    """Say in words what the settings let a server have that a login by itself would not."""
    for name, _, value in settings:
        if not isinstance(value, str) or not (said := fill(value).strip()):
            continue
        match name:
            case "metadata_url":
                yield f"oauth: logs in where {redact_shapes(said)} says, not where the server does"
                yield from url_risks(said)
            case "grant" if said == "client_credentials":
                yield "oauth: gets its tokens by itself, without a login by you"
            case "client_secret":
                names = " ".join(references(value)) or "a secret of its own"
                yield f"oauth: sends {names} to where it logs in"
            case "private_key":
                key = "in its definition" if "-----BEGIN" in said else f"in {redact_shapes(said)}"
                yield f"oauth: signs with the private key {key}"
            case "redirect_uri":
                yield f"oauth: the login comes back to {redact_shapes(said)}"
