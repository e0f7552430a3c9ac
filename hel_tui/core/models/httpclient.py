"""The HTTP client for one endpoint: proxies, certificates, limits. Imports httpx; import it late.

Not here: what is sent and what comes back (client).
"""

from __future__ import annotations

import httpx

from hel_tui import __version__
from hel_tui.core.addresses import is_loopback
from hel_tui.core.models.profiles import Api

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept: tools run between two requests."""


ANTHROPIC_VERSION = "2023-06-01"
"""The only version of the Messages API there is; it must be named (platform.claude.com, "Versions")."""


def auth_headers(api: Api, key: str) -> dict[str, str]:
    """The headers in which an API takes its key; a request without one has only what is needed besides.

    A header rather than a query parameter for Gemini, too: addresses end up in logs.
    """
    if api == "messages":
        return {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {})
    if api == "gemini":
        return {"x-goog-api-key": key} if key else {}
    return {"Authorization": f"Bearer {key}"} if key else {}


def open_client(
    base_url: str, key: str, *, connect: float, idle: float, api: Api = "chat"
) -> httpx.AsyncClient:
    """A client with keep-alive and no redirects (a redirect would carry the key elsewhere).

    Loopback never goes through a proxy, whatever the environment says; everything else follows the
    proxy and CA variables. Raises ValueError or ImportError for proxy settings that cannot be used.
    """
    headers = {"User-Agent": f"hel/{__version__}", "Accept-Encoding": "identity", **auth_headers(api, key)}
    local = is_loopback(base_url)
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(idle, connect=connect, pool=connect),
        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
        trust_env=not local,
        # Reading the CA bundle takes tens of milliseconds that plain HTTP on loopback has no use for.
        verify=not (local and base_url.startswith("http://")),
    )
