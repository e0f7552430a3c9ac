"""The HTTP client for one endpoint: proxies, certificates, limits. Imports httpx; import it late.

Not here: what is sent and what comes back (client).
"""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from hel_tui import __version__
from hel_tui.core.addresses import is_loopback

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept: tools run between two requests."""


def is_bare(url: str) -> bool:
    """Whether the URL has no path, so that `/v1` may be missing."""
    return urlsplit(url).path in ("", "/")


def open_client(base_url: str, key: str, *, connect: float, idle: float) -> httpx.AsyncClient:
    """A client with keep-alive and no redirects (a redirect would carry the key elsewhere).

    Loopback never goes through a proxy, whatever the environment says; everything else follows the
    proxy and CA variables. Raises ValueError or ImportError for proxy settings that cannot be used.
    """
    headers = {"User-Agent": f"hel/{__version__}", "Accept-Encoding": "identity"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    local = is_loopback(base_url)
    return httpx.AsyncClient(
        headers=headers,
        timeout=httpx.Timeout(idle, connect=connect, pool=connect),
        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
        trust_env=not local,
        # Reading the CA bundle takes tens of milliseconds that plain HTTP on loopback has no use for.
        verify=not (local and base_url.startswith("http://")),
    )
