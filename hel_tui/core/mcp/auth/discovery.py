"""Whom to ask for a token: from a server's refusal to its authorization server's endpoints.

RFC 9728 for the resource, RFC 8414 and OpenID Connect discovery for the authorization server, and the
defaults of 2025-03-26 for servers without either. Not here: registration, tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hel_tui.core.addresses import origin_of
from hel_tui.core.mcp.auth.asking import OK, Asker, Refusal, Reply, foreign, shown
from hel_tui.core.mcp.auth.challenges import Wanted, scope_words
from hel_tui.core.mcp.auth.settings import OAuthSettings

AUTHORIZATION_SERVERS = 3
"""Of those a resource names, how many are tried."""
MOST = 200
"""Entries of a list in metadata that are kept."""
CLOSED = (401, 403)
PASSING = 429
FAILING = 500


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """What hel uses of an authorization server's metadata (RFC 8414 section 2), texts as they were sent."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str = ""
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scopes: tuple[str, ...] = ()
    auth_methods: tuple[str, ...] = ()
    """Of the token endpoint; empty when it does not say."""
    challenge_methods: tuple[str, ...] | None = None
    """None when it does not say."""
    takes_metadata_urls: bool = False
    sends_issuer: bool = False
    """It promised to send `iss` along with every code (RFC 9207)."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a token for the server can be had."""

    server: AuthorizationServer
    resource: str
    """What tokens are asked for (RFC 8707); empty leaves the parameter out."""
    scopes: tuple[str, ...] = ()
    """What the resource names as needed for ordinary use."""


@dataclass(frozen=True, slots=True)
class _Resource:
    authorization_servers: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    resource: str = ""


async def discover(
    asker: Asker,
    server_url: str,
    wanted: Wanted,
    settings: OAuthSettings,
    preferred: str = "",
    *,
    guess: bool = True,
) -> Found:
    """Find the authorization server of `server_url`. Raises Refusal with what was in the way.

    `preferred` is the issuer hel is registered with: taken first when the resource still names it. With
    `guess` off the server never asked for authorization, so that without metadata it has none.
    """
    from mcp.shared.auth_utils import resource_url_from_server_url

    metadata, closed = await _resource(asker, server_url, wanted, settings)
    resource = metadata.resource or resource_url_from_server_url(server_url)
    if settings.resource is not None:
        resource = settings.resource
    if settings.metadata_url:
        server = await _at(asker, settings.metadata_url)
    elif metadata.authorization_servers:
        server = await _named(asker, metadata.authorization_servers, preferred)
    else:
        server = await _at_origin(asker, server_url, closed, guess)
    _check(asker, server)
    return Found(server, resource, metadata.scopes)


async def _resource(
    asker: Asker, server_url: str, wanted: Wanted, settings: OAuthSettings
) -> tuple[_Resource, bool]:
    """The resource's metadata, and whether some place for it asks for authorization itself."""
    from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls

    closed = False
    named = wanted.resource_metadata or None
    for url in dict.fromkeys(build_protected_resource_metadata_discovery_urls(named, server_url)):
        if why := asker.problem(url):
            asker.tell(f"{why}: not asked")
            continue
        reply = await asker.get(url)
        closed = closed or reply.status in CLOSED
        if reply.status >= FAILING or reply.status == PASSING:
            raise Refusal(f"{shown(url)} answered with HTTP {reply.status}: try again later")
        if reply.status == OK and reply.data is not None and reply.text("resource"):
            return _read_resource(reply, server_url, settings), closed
    asker.tell("the server has no metadata about its authorization")
    return _Resource(), closed


def _read_resource(reply: Reply, server_url: str, settings: OAuthSettings) -> _Resource:
    from mcp.shared.auth_utils import resource_url_from_server_url

    resource = reply.text("resource")
    mine = resource_url_from_server_url(server_url)
    if resource != settings.resource and not _covers(resource, mine):
        raise Refusal(
            f"the metadata is for another server: {shown(resource)}, not {shown(mine)}; if that is right, "
            "name it in `oauth.resource` of the entry"
        )
    return _Resource(
        _texts(reply.data, "authorization_servers"),
        scope_words(_texts(reply.data, "scopes_supported")),
        resource,
    )


def _covers(resource: str, mine: str) -> bool:
    """Whether metadata about `resource` is about the server at `mine`."""
    from mcp.shared.auth_utils import check_resource_allowed

    try:
        return check_resource_allowed(requested_resource=mine, configured_resource=resource)
    except ValueError:  # it is no URL at all
        return False


def is_same_issuer(one: str, other: str) -> bool:
    """Whether two issuers are the same; a text that is no URL is only itself."""
    from mcp.client.auth.utils import issuers_match

    try:
        return issuers_match(one, other)
    except ValueError:
        return False


async def _named(asker: Asker, issuers: tuple[str, ...], preferred: str) -> AuthorizationServer:
    """The first of the named authorization servers that answers, the one hel knows before the others."""
    ordered = sorted(issuers, key=lambda issuer: not (preferred and is_same_issuer(issuer, preferred)))
    reason = Refusal("no authorization server is named")
    for issuer in ordered[:AUTHORIZATION_SERVERS]:
        try:
            return await _at_issuer(asker, issuer)
        except Refusal as refusal:
            asker.tell(str(refusal))
            reason = refusal
    raise reason


async def _at_issuer(asker: Asker, issuer: str) -> AuthorizationServer:
    """The metadata of an issuer, which must say that it is the one of that issuer (RFC 8414 section 3.3)."""
    if why := asker.problem(issuer):
        raise Refusal(why)
    statuses = []
    for url in _places(issuer):
        reply = await asker.get(url)
        statuses.append(reply.status)
        if reply.status >= FAILING:
            break
        server = _read_server(reply)
        if server is None:
            continue
        if not is_same_issuer(server.issuer, issuer):
            raise Refusal(
                f"the authorization server calls itself {shown(server.issuer)}, but was named {shown(issuer)}"
                "; if that is right, name its metadata in `oauth.authServerMetadataUrl` of the entry"
            )
        return server
    said = ", ".join(str(status) for status in dict.fromkeys(statuses))
    raise Refusal(f"the authorization server {shown(issuer)} has no usable metadata (HTTP {said})")


def _places(issuer: str) -> list[str]:
    """Where an issuer's metadata may be: as specified, then where some put it by mistake."""
    from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls

    places = build_oauth_authorization_server_metadata_discovery_urls(issuer, issuer)
    parts = urlsplit(issuer)
    if path := parts.path.rstrip("/"):
        origin = f"{parts.scheme}://{parts.netloc}"
        last = "/.well-known/oauth-authorization-server"
        places += [f"{origin}{path}{last}", f"{origin}{last}"]
    return places


async def _at_origin(asker: Asker, server_url: str, closed: bool, guess: bool) -> AuthorizationServer:
    """Servers of 2025-03-26 are their own authorization server; without metadata it has default endpoints."""
    parts = urlsplit(server_url)
    origin = f"{parts.scheme}://{parts.netloc}"
    for url in _places(origin):
        reply = await asker.get(url)
        closed = closed or reply.status in CLOSED
        if reply.status >= FAILING or reply.status == PASSING:
            raise Refusal(f"{shown(url)} answered with HTTP {reply.status}: try again later")
        server = _read_server(reply)
        if server is None:
            continue
        if asker.problem(server.issuer) or origin_of(server.issuer) != origin_of(origin):
            raise Refusal(f"the server's metadata is of another issuer: {shown(server.issuer)}")
        return server
    if closed:
        raise Refusal(
            "the server asks for authorization but keeps closed where it would say how: every place for its "
            "metadata is refused or missing"
        )
    if not guess:
        raise Refusal("the server does not ask for a login")
    asker.tell(f"no metadata at {origin}: using /authorize, /token and /register there")
    return AuthorizationServer(
        origin, f"{origin}/token", f"{origin}/authorize", f"{origin}/register", challenge_methods=None
    )


async def _at(asker: Asker, url: str) -> AuthorizationServer:
    if why := asker.problem(url):
        raise Refusal(f"authServerMetadataUrl: {why}")
    server = _read_server(await asker.get(url))
    if server is None:
        raise Refusal(f"{shown(url)} (authServerMetadataUrl) is no authorization server's metadata")
    return server


def _read_server(reply: Reply) -> AuthorizationServer | None:
    """Read metadata leniently: what hel does not need cannot spoil it."""
    data = reply.data
    if reply.status != OK or data is None or not (reply.text("issuer") and reply.text("token_endpoint")):
        return None
    methods = data.get("code_challenge_methods_supported")
    return AuthorizationServer(
        issuer=reply.text("issuer"),
        token_endpoint=reply.text("token_endpoint"),
        authorization_endpoint=reply.text("authorization_endpoint"),
        registration_endpoint=reply.text("registration_endpoint"),
        revocation_endpoint=reply.text("revocation_endpoint"),
        scopes=_texts(data, "scopes_supported"),
        auth_methods=_texts(data, "token_endpoint_auth_methods_supported"),
        challenge_methods=None if methods is None else _texts(data, "code_challenge_methods_supported"),
        takes_metadata_urls=data.get("client_id_metadata_document_supported") is True,
        sends_issuer=data.get("authorization_response_iss_parameter_supported") is True,
    )


def _texts(data: Mapping[str, Any] | None, key: str) -> tuple[str, ...]:
    value = (data or {}).get(key)
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str))[:MOST] if isinstance(value, list) else ()


def _check(asker: Asker, server: AuthorizationServer) -> None:
    """Refuse metadata whose endpoints must not be asked or opened."""
    endpoints = (
        server.token_endpoint,
        server.authorization_endpoint,
        server.registration_endpoint,
        server.revocation_endpoint,
    )
    for endpoint in endpoints:
        if endpoint and (why := asker.problem(endpoint)):
            raise Refusal(
                f"the authorization server {foreign(shown(server.issuer))} names an endpoint: {why}"
            )
