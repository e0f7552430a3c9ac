"""Becoming known to an authorization server: a client id from the entry, a metadata URL, or registration.

The order is the specification's (client registration). Not here: what is kept between runs (tokens).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hel_tui import __version__
from hel_tui.core.mcp.auth.asking import Asker, OAuthError, Refusal, Reply, Unreachable, foreign, shown
from hel_tui.core.mcp.auth.discovery import FAILING, PASSING, AuthorizationServer, is_same_issuer
from hel_tui.core.mcp.auth.settings import METHODS, OAuthSettings

How = Literal["configured", "document", "dynamic"]

DONE = (200, 201)
BASIC, POST, NONE, SIGNED = "client_secret_basic", "client_secret_post", "none", "private_key_jwt"
_SECRET_METHODS = (BASIC, POST)
_TAIL = 4


@dataclass(frozen=True, slots=True)
class Registration:
    """hel as one authorization server knows it. Never used with another one."""

    client_id: str
    issuer: str
    how: How
    method: str = NONE
    """How hel authenticates itself at the token endpoint."""
    client_secret: str = ""
    expires: float = 0.0
    """Unix time at which the secret ends; 0 for never."""
    redirects: tuple[str, ...] = ()
    """The redirect URIs it was registered with; empty where hel does not know."""
    doubtful: bool = False
    """The last login with it never came back: the server may have forgotten it."""

    @property
    def label(self) -> str:
        """The client id for a step: its end."""
        return self.client_id if self.how == "document" else "…" + foreign(self.client_id)[-_TAIL:]


def usable(
    known: Registration | None,
    server: AuthorizationServer,
    settings: OAuthSettings,
    redirects: tuple[str, ...],
    now: float,
) -> Registration | None:
    """Return the registration of an earlier login if it holds for this server and these settings."""
    if known is None or known.doubtful or known.how != "dynamic" or settings.client_id:
        return None
    if settings.client_metadata_url and server.takes_metadata_urls:
        return None
    if not is_same_issuer(known.issuer, server.issuer) or (known.expires and known.expires <= now):
        return None
    if known.redirects and not set(map(_end, known.redirects)) & set(map(_end, redirects)):
        return None
    return known


def _end(redirect: str) -> str:
    """Port and path: how this machine is called may differ, as some servers only take one name."""
    return redirect.rpartition(":")[2]


def check_configured(
    known: Registration | None, server: AuthorizationServer, settings: OAuthSettings
) -> None:
    """Refuse to show a configured client to another authorization server than the one it was used with."""
    if known is None or known.how != "configured" or known.client_id != settings.client_id:
        return
    if not is_same_issuer(known.issuer, server.issuer):
        raise Refusal(
            f"the server now names the authorization server {shown(server.issuer)}; the configured "
            f"client was used with {shown(known.issuer)}. If that is right, log out first"
        )


async def register(
    asker: Asker,
    server: AuthorizationServer,
    settings: OAuthSettings,
    redirects: tuple[str, ...],
    scopes: tuple[str, ...],
) -> Registration:
    """Return hel's registration with `server`, registering now where needed. Raises Refusal."""
    if settings.client_id:
        return configured(server, settings)
    if settings.client_metadata_url and server.takes_metadata_urls:
        return _by_document(asker, server, settings)
    if not server.registration_endpoint:
        raise Refusal(
            f"{shown(server.issuer)} takes no registrations: register a client there and put its id into "
            "`oauth.clientId` of the entry"
        )
    return await _dynamic(asker, server, redirects, scopes)


def configured(server: AuthorizationServer, settings: OAuthSettings) -> Registration:
    """The client the entry names. Raises Refusal when it cannot authenticate itself there."""
    offered = server.auth_methods
    method = settings.token_auth_method
    if not method and settings.private_key:
        method = SIGNED
    elif not method and settings.client_secret:
        usable_ones = [one for one in _SECRET_METHODS if not offered or one in offered]
        method = usable_ones[0] if usable_ones else BASIC
    return Registration(
        settings.client_id, server.issuer, "configured", method or NONE, settings.client_secret
    )


def _by_document(asker: Asker, server: AuthorizationServer, settings: OAuthSettings) -> Registration:
    from mcp.client.auth.utils import is_valid_client_metadata_url

    url = settings.client_metadata_url
    if not is_valid_client_metadata_url(url):
        raise Refusal("`oauth.clientMetadataUrl` must be an https URL with a path")
    asker.tell(f"known by the client metadata at {shown(url)}")
    method = SIGNED if settings.private_key and SIGNED in server.auth_methods else NONE
    return Registration(url, server.issuer, "document", method)


async def _dynamic(
    asker: Asker, server: AuthorizationServer, redirects: tuple[str, ...], scopes: tuple[str, ...]
) -> Registration:
    """RFC 7591, with what servers are known to be particular about asked for in another way once each."""
    method = _asked_method(server)
    named = redirects
    for _ in range(3):
        reply = await asker.post_json(server.registration_endpoint, _client_metadata(named, method, scopes))
        if reply.status in DONE:
            return _registered(asker, reply, server, method, named)
        code = reply.text("error")
        local = tuple(one.replace("//127.0.0.1:", "//localhost:") for one in redirects[:1])
        if code == "invalid_redirect_uri" and named != local:
            named = local
        elif code == "invalid_client_metadata" and method == NONE:
            method = BASIC
        else:
            break
    raise _registration_refused(reply, server)


def _registration_refused(reply: Reply, server: AuthorizationServer) -> Refusal:
    where = shown(server.registration_endpoint)
    said = foreign(" ".join(filter(None, (reply.text("error"), reply.text("error_description")))))
    if reply.status >= FAILING or reply.status == PASSING:
        return Unreachable(f"{where} answered with HTTP {reply.status}: try again later")
    hint = "register a client yourself and put its id into `oauth.clientId` of the entry"
    if reply.status in (404, 405, 501) and not said:
        return Refusal(f"there is no registration at {where} (HTTP {reply.status}): {hint}")
    sentence = f"{where} refused to register hel (HTTP {reply.status}{': ' + said if said else ''}): {hint}"
    return OAuthError(sentence, reply.text("error"))


def _asked_method(server: AuthorizationServer) -> str:
    """Without a secret where the server allows it: hel on a person's machine cannot keep one from them."""
    offered = server.auth_methods or (NONE,)
    return next((one for one in (NONE, BASIC, POST) if one in offered), NONE)


def _client_metadata(redirects: tuple[str, ...], method: str, scopes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "client_name": "hel",
        "software_id": "hel-tui",
        "software_version": __version__,
        "application_type": "native",
        "redirect_uris": list(redirects),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        **({"scope": " ".join(scopes)} if scopes else {}),
    }


def _registered(
    asker: Asker, reply: Reply, server: AuthorizationServer, asked: str, redirects: tuple[str, ...]
) -> Registration:
    """Read the answer: the server may have replaced anything that was asked (RFC 7591 section 3.2.1)."""
    data = reply.data or {}
    client_id, secret = reply.text("client_id"), reply.text("client_secret")
    if not client_id:
        raise Refusal(f"{shown(server.registration_endpoint)} registered hel, but gave it no client id")
    method = reply.text("token_endpoint_auth_method") or asked
    if method == NONE and secret and NONE not in server.auth_methods:
        method = POST if POST in server.auth_methods and BASIC not in server.auth_methods else BASIC
    if method not in METHODS or method == SIGNED:
        raise Refusal(f"hel was registered to authenticate itself by {foreign(method)}, which it cannot")
    if method in _SECRET_METHODS and not secret:
        raise Refusal("hel was registered to authenticate itself by a secret, but got none")
    listed = data.get("redirect_uris")
    kept = tuple(one for one in redirects if one in listed) if isinstance(listed, list) else ()
    made = Registration(
        client_id,
        server.issuer,
        "dynamic",
        method,
        secret,
        reply.number("client_secret_expires_at") if secret else 0.0,
        kept or redirects,
    )
    asker.tell(f"registered as client {made.label}")
    return made
