"""What an entry's `oauth` says, in hel's words and in those of other clients.

Pure functions over parsed JSON, light to import. Not here: filling in variables (expand), using it (auth).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.store.expansion import expand_home

Grant = Literal["authorization_code", "client_credentials"]
GRANTS: tuple[Grant, ...] = ("authorization_code", "client_credentials")

METHODS = ("none", "client_secret_basic", "client_secret_post", "private_key_jwt")
"""Ways of a client to authenticate itself at the token endpoint that hel can do."""
HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """An entry's `oauth`, variables filled in. Everything is optional: empty means hel finds out."""

    enabled: bool = True
    """False (`"oauth": false`): hel never asks for a login there."""
    grant: Grant = "authorization_code"
    client_id: str = ""
    client_secret: str = ""
    client_metadata_url: str = ""
    """Where a client id metadata document for hel is published; it is the client id then."""
    token_auth_method: str = ""
    """One of METHODS; empty leaves it to what the authorization server supports."""
    private_key: str = ""
    """PEM text for `private_key_jwt`, or the path of a file with it."""
    signing_algorithm: str = ""
    """Such as ES256; empty follows the kind of key."""
    scopes: tuple[str, ...] = ()
    """Asked for in place of what the server suggests."""
    callback_port: int = 0
    redirect_uri: str = ""
    """A whole loopback URL, where a client was registered with one."""
    metadata_url: str = ""
    """Where the authorization server's metadata is, in place of discovery."""
    resource: str | None = None
    """The `resource` parameter; None is the server's own URL, empty leaves it out."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be seen anywhere. Where a key is kept is no secret."""
        key = self.private_key if self.has_key_text else ""
        return tuple(one for one in (self.client_secret, key) if one)

    @property
    def has_key_text(self) -> bool:
        """Whether `private_key` is the key itself, and not where it is."""
        return "-----BEGIN" in self.private_key


_KEYS: dict[str, tuple[str, ...]] = {
    "enabled": ("enabled",),
    "grant": ("grant", "grantType"),
    "client_id": ("clientId",),
    "client_secret": ("clientSecret",),
    "client_metadata_url": ("clientMetadataUrl",),
    "token_auth_method": ("tokenEndpointAuthMethod", "tokenAuthMethod"),
    "private_key": ("privateKey", "privateKeyPem"),
    "signing_algorithm": ("signingAlgorithm",),
    "scopes": ("scopes", "scope"),
    "callback_port": ("callbackPort", "redirectPort"),
    "redirect_uri": ("redirectUri",),
    "metadata_url": ("authServerMetadataUrl",),
    "resource": ("resource",),
}
_PICKED = ("grant", "token_auth_method", "callback_port")
"""Settings that take only some texts."""


class InvalidSettings(Exception):
    """`oauth` cannot be used. The text is a sentence; `field` is the key as it was written."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


def named(raw: Mapping[str, Any]) -> tuple[tuple[str, str, Any], ...]:
    """Return what `oauth` says: hel's name of each key ("" for none), the key as written, its value.

    Keys may be written `clientId` or `client_id`.
    """
    known = {_folded(spelling): field for field, spellings in _KEYS.items() for spelling in spellings}
    return tuple((known.get(_folded(str(key)), ""), str(key), value) for key, value in raw.items())


def read_settings(raw: Any, *, as_written: bool = False) -> tuple[OAuthSettings, tuple[str, ...]]:
    """Return what `oauth` says, and the keys hel does not know. Raises InvalidSettings.

    `true` and a missing value mean: find everything out. `as_written`, variables are not filled in yet: what
    has one where only some texts will do is not judged.
    """
    if raw is None or raw is True:
        return OAuthSettings(), ()
    if raw is False:
        return OAuthSettings(enabled=False), ()
    if not isinstance(raw, Mapping):
        raise InvalidSettings("`oauth` must be an object, true or false.")
    given: dict[str, Any] = {}
    for field, key, value in named(raw):
        is_open = as_written and field in _PICKED and isinstance(value, str) and "${" in value
        if field and value is not None and not is_open:
            given[field] = _read(field, key, value)
    settings = OAuthSettings(**given)
    _check(settings)
    return settings, tuple(key for field, key, _ in named(raw) if not field)


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _read(field: str, key: str, value: Any) -> Any:
    if field == "enabled":
        if not isinstance(value, bool):
            raise InvalidSettings(f"`oauth.{key}` must be true or false.", key)
        return value
    if field == "callback_port":
        return _port(key, value)
    if field == "scopes":
        if isinstance(value, str):
            return tuple(value.replace(",", " ").split())
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise InvalidSettings(f"`oauth.{key}` must be text or a list of texts.", key)
    if not isinstance(value, str):
        raise InvalidSettings(f"`oauth.{key}` must be text.", key)
    return value.strip()


def _port(key: str, value: Any) -> int:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= HIGHEST_PORT:
        raise InvalidSettings(f"`oauth.{key}` must be a port from 1 to {HIGHEST_PORT}.", key)
    return number


def _check(settings: OAuthSettings) -> None:
    if settings.grant not in GRANTS:
        raise InvalidSettings(f"`oauth.grant` must be one of {', '.join(GRANTS)}.", "grant")
    method = settings.token_auth_method
    if method and method not in METHODS:
        raise InvalidSettings(f"`oauth.tokenEndpointAuthMethod` must be one of {', '.join(METHODS)}.")
    if settings.grant == "client_credentials" and not settings.client_id:
        raise InvalidSettings("`oauth.clientId` is needed for the client_credentials grant.", "clientId")
    if method == "private_key_jwt" and not settings.private_key:
        raise InvalidSettings("`oauth.privateKey` is needed for private_key_jwt.", "privateKey")
    if settings.client_secret and not settings.client_id:
        raise InvalidSettings("`oauth.clientSecret` needs a `clientId` beside it.", "clientSecret")


def located(settings: OAuthSettings, folder: Path, environ: Mapping[str, str]) -> OAuthSettings:
    """Return the settings with the path of a private key made whole: a relative one starts at `folder`."""
    if not settings.private_key or settings.has_key_text:
        return settings
    path = os.path.normpath(folder / expand_home(settings.private_key, environ))
    return replace(settings, private_key=path)
