"""A login by a person: the address to open, and what the browser or the person brings back from there.

Authorization code with PKCE (OAuth 2.1), `state`, resource indicators (RFC 8707) and issuer
identification (RFC 9207). Pure but for chance. Not here: listening (callback), tokens (grants).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from hel_tui.core.mcp.auth.asking import HINTS, Refusal, foreign, shown
from hel_tui.core.mcp.auth.challenges import Wanted
from hel_tui.core.mcp.auth.discovery import AuthorizationServer, Found
from hel_tui.core.mcp.auth.settings import OAuthSettings

OFFLINE = "offline_access"
MOST_FIELDS = 20
"""Of an answer; it has five."""
LONGEST = 16_000
"""Characters of what is pasted."""


class NotOurs(Exception):
    """This is not the answer to this login. The text says why; the login goes on."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One login: what was sent along to recognise its answer, and the issuer it was sent to."""

    url: str
    state: str
    verifier: str
    redirect: str
    issuer: str
    sends_issuer: bool


def begin(
    server: AuthorizationServer, client_id: str, redirect: str, resource: str, scopes: tuple[str, ...]
) -> Attempt:
    """Make the address to open. Raises Refusal when the server cannot do it safely."""
    if not server.authorization_endpoint:
        raise Refusal(f"{shown(server.issuer)} has no page for a login")
    if server.challenge_methods is not None and "S256" not in server.challenge_methods:
        raise Refusal(f"{shown(server.issuer)} does not protect the login by PKCE with S256")
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(32)
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    fields = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect,
        "state": state,
        "code_challenge": digest,
        "code_challenge_method": "S256",
    }
    if resource:
        fields["resource"] = resource
    if scopes:
        fields["scope"] = " ".join(scopes)
    if OFFLINE in scopes:
        fields["prompt"] = "consent"  # OpenID Connect Core section 11 wants it asked
    parts = urlsplit(server.authorization_endpoint)
    query = "&".join(filter(None, (parts.query, urlencode(fields))))
    url = urlunsplit(parts._replace(query=query, fragment=""))
    return Attempt(url, state, verifier, redirect, server.issuer, server.sends_issuer)


def scopes_for(
    wanted: Wanted, found: Found, before: tuple[str, ...], settings: OAuthSettings
) -> tuple[str, ...]:
    """The scopes to ask for: what the entry says, else the refusal, else the resource; and those of before.

    Least rights at first (specification, scope selection); a later login keeps what an earlier one got.
    """
    asked = settings.scopes or wanted.scopes or found.scopes
    more = wanted.scopes if wanted.more_scopes else ()
    return tuple(dict.fromkeys((*before, *asked, *more)))


def with_offline(scopes: tuple[str, ...], server: AuthorizationServer) -> tuple[str, ...]:
    """Ask for a refresh token too, where the server says that it takes that as a scope.

    No scope at all means the server's own default, which `offline_access` alone would replace.
    """
    wants = scopes and OFFLINE in server.scopes and OFFLINE not in scopes
    return (*scopes, OFFLINE) if wants else scopes


def read_fields(query: str) -> dict[str, str]:
    """The fields of an answer's query; of repeated ones none, as they cannot be told apart."""
    try:
        pairs = parse_qsl(query[:LONGEST], keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    names = [name for name, _ in pairs]
    return {name: value for name, value in pairs if names.count(name) == 1}


def is_answer(attempt: Attempt, fields: Mapping[str, str]) -> bool:
    """Whether an answer belongs to this login: it brings the state that was sent along."""
    return secrets.compare_digest(fields.get("state", "").encode(), attempt.state.encode())


def code_of(attempt: Attempt, fields: Mapping[str, str]) -> str:
    """Return the code of an answer. Raises NotOurs for another login's, Refusal when there is none.

    The issuer is compared first and as it is: what another server says is not even shown (RFC 9207).
    """
    if not is_answer(attempt, fields):
        raise NotOurs("that answer belongs to another login")
    issuer = fields.get("iss")
    if issuer is None and attempt.sends_issuer:
        raise Refusal("the answer does not say which authorization server it is from, as it promised to")
    if issuer is not None and issuer != attempt.issuer:
        raise Refusal("the answer is from another authorization server than the one that was asked")
    if error := fields.get("error"):
        said = foreign(": ".join(filter(None, (error, fields.get("error_description", "")))))
        if error == "access_denied":
            raise Refusal(f"access was not given ({said})")
        raise Refusal(f"the authorization server refused: {said}{HINTS.get(error, '')}")
    if not fields.get("code"):
        raise Refusal("the answer holds no code")
    return fields["code"]


def code_in(attempt: Attempt, pasted: str) -> str:
    """Return the code in what a person pasted: the URL the browser ended at, its query, or the code alone.

    Raises NotOurs when something else was pasted, Refusal as `code_of`.
    """
    text = pasted.strip().strip("<>\"'`")
    if len(text) > LONGEST or any(character.isspace() for character in text):
        raise NotOurs("that is neither the URL of the page nor a code")
    if "://" in text or "code=" in text or "error=" in text:
        query = urlsplit(text).query if "?" in text else text
        fields = read_fields(query)
        if "code" not in fields and "error" not in fields:
            raise NotOurs("that URL holds no code: it must be the one the browser was sent to at the end")
        return code_of(attempt, fields)
    if attempt.sends_issuer:
        raise NotOurs("the code alone does not do here: paste the whole URL the browser was sent to")
    return text
