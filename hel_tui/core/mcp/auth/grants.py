"""The token endpoint: a code, a refresh token or the client's own word for an access token; and revocation.

RFC 6749 sections 4.1.3, 4.4, 6; RFC 7523 for signed clients; RFC 7009. Not here: when tokens are needed.
"""

from __future__ import annotations

import base64
import os
import stat
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from hel_tui.core.mcp.auth.asking import (
    HINTS,
    OK,
    Asker,
    Form,
    OAuthError,
    Refusal,
    Reply,
    Unreachable,
    foreign,
    shown,
)
from hel_tui.core.mcp.auth.challenges import scope_words
from hel_tui.core.mcp.auth.discovery import FAILING, PASSING, AuthorizationServer
from hel_tui.core.mcp.auth.registration import BASIC, DONE, POST, SIGNED, Registration
from hel_tui.core.mcp.auth.settings import OAuthSettings
from hel_tui.core.mcp.auth.tokens import Tokens
from hel_tui.core.threads import in_thread

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_LIFE = 300
"""Seconds."""
LONGEST_LIFE = 10 * 365 * 86_400.0
"""Seconds; a token said to live longer does not say."""
LARGEST_KEY = 64 * 1024
"""Bytes of a file with a key."""


@dataclass(frozen=True, slots=True)
class Client:
    """hel at one authorization server, ready to speak to its token endpoint."""

    asker: Asker
    server: AuthorizationServer
    registration: Registration
    settings: OAuthSettings
    resource: str
    clock: Callable[[], float] = time.time


async def redeem(client: Client, code: str, verifier: str, redirect: str, scopes: tuple[str, ...]) -> Tokens:
    """Exchange a code for tokens. Raises OAuthError, Unreachable, Refusal."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect,
        "code_verifier": verifier,
    }
    return await _tokens(client, form, scopes)


async def refresh(client: Client, old: Tokens) -> Tokens:
    """Exchange a refresh token; the old one stays where the server gives no new one. Raises as `redeem`."""
    form = {"grant_type": "refresh_token", "refresh_token": old.refresh}
    return await _tokens(client, form, old.scopes, old.refresh)


async def as_itself(client: Client, scopes: tuple[str, ...]) -> Tokens:
    """A token for the client itself, without a person (client credentials). Raises as `redeem`."""
    form = {"grant_type": "client_credentials"}
    if scopes:
        form["scope"] = " ".join(scopes)
    return await _tokens(client, form, scopes)


async def revoke(client: Client, tokens: Tokens) -> str:
    """End the tokens at the server, where it can do that. Returns a sentence on failure, else empty."""
    endpoint = client.server.revocation_endpoint
    if not endpoint:
        return ""
    hints = {"refresh_token": tokens.refresh, "access_token": tokens.access}
    for hint, token in hints.items():
        if not token:
            continue
        try:
            form, headers = await _authenticated(client, {"token": token, "token_type_hint": hint})
            reply = await client.asker.post_form(endpoint, form, headers)
        except Refusal as refusal:
            return str(refusal)
        if reply.status != OK and reply.text("error") != "unsupported_token_type":
            return f"{shown(endpoint)} did not revoke the {hint.replace('_', ' ')} (HTTP {reply.status})"
    return ""


async def _tokens(client: Client, form: Form, scopes: tuple[str, ...], refresh: str = "") -> Tokens:
    if client.resource:
        form = {**form, "resource": client.resource}
    form, headers = await _authenticated(client, form)
    asked = client.clock()
    reply = await client.asker.post_form(client.server.token_endpoint, form, headers)
    if reply.status not in DONE or not reply.text("access_token"):
        raise _refused(client, reply)
    kind = reply.text("token_type") or "Bearer"
    if kind.lower() != "bearer":
        raise Refusal(f"the token is of type {foreign(kind)}, which hel cannot use")
    if not _fits_a_header(reply.text("access_token")):
        raise Refusal("the token holds characters that no request can carry")
    granted = scope_words(reply.text("scope").split()) or scopes
    life = _life(reply)
    return Tokens(
        reply.text("access_token"),
        asked,
        asked + life if life else 0.0,
        reply.text("refresh_token") or refresh,
        granted,
    )


def _life(reply: Reply) -> float:
    """Seconds the token lives; 0 when that is not said."""
    life = reply.number("expires_in")
    return life if 0.0 < life < LONGEST_LIFE else 0.0


def _fits_a_header(token: str) -> bool:
    return token.isascii() and all("!" <= character <= "~" for character in token)


def _refused(client: Client, reply: Reply) -> Refusal:
    where = shown(client.server.token_endpoint)
    if reply.status >= FAILING or reply.status == PASSING:
        return Unreachable(f"{where} answered with HTTP {reply.status}: try again later")
    code = reply.text("error")
    said = foreign(": ".join(filter(None, (code, reply.text("error_description")))))
    if not code:
        return Refusal(f"{where} gave no token (HTTP {reply.status}{', ' + said if said else ''})")
    return OAuthError(f"{where} gave no token: {said}{HINTS.get(code, '')}", code)


async def _authenticated(client: Client, form: Form) -> tuple[Form, dict[str, str]]:
    """Add how hel authenticates itself (RFC 6749 section 2.3) to a form and its headers."""
    known = client.registration
    if known.method == BASIC and known.client_secret:
        pair = f"{quote(known.client_id, safe='')}:{quote(known.client_secret, safe='')}"
        return form, {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    form = {**form, "client_id": known.client_id}
    if known.method == POST and known.client_secret:
        return {**form, "client_secret": known.client_secret}, {}
    if known.method == SIGNED:
        assertion = await in_thread(lambda: _assertion(client), "hel-private-key")
        return {**form, "client_assertion_type": ASSERTION, "client_assertion": assertion}, {}
    return form, {}


def _assertion(client: Client) -> str:
    """A signed word that hel is this client, for this authorization server only (RFC 7523 section 3).

    Reads a file: call it beside the loop.
    """
    import jwt

    now = int(client.clock())
    claims = {
        "iss": client.registration.client_id,
        "sub": client.registration.client_id,
        "aud": client.server.issuer,
        "iat": now,
        "exp": now + ASSERTION_LIFE,
        "jti": str(uuid.uuid4()),
    }
    key = private_key(client.settings)
    try:
        return jwt.encode(claims, key, algorithm=client.settings.signing_algorithm or _algorithm(key))
    except (ValueError, TypeError, NotImplementedError, jwt.PyJWTError):
        raise Refusal(
            "`oauth.privateKey` cannot sign: it must be an unencrypted private key in PEM"
        ) from None


def private_key(settings: OAuthSettings) -> str:
    """The PEM text of the key. Raises Refusal when its file cannot be read, or can hold no key."""
    if settings.has_key_text:
        return settings.private_key
    try:
        with open(settings.private_key, encoding="ascii", opener=_at_once) as file:
            facts = os.fstat(file.fileno())
            if stat.S_ISREG(facts.st_mode) and facts.st_size <= LARGEST_KEY:
                return file.read(LARGEST_KEY)
    except (OSError, ValueError):
        pass
    raise Refusal("`oauth.privateKey` is neither a key in PEM nor a file with one that can be read")


def _at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe may have no other end."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _algorithm(pem: str) -> str:
    """The usual algorithm for the kind of key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = load_pem_private_key(pem.encode(), None)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return {"secp384r1": "ES384", "secp521r1": "ES512"}.get(key.curve.name, "ES256")
    return "EdDSA" if isinstance(key, ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey) else "RS256"
