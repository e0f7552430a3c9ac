"""The HTTP client for one endpoint: proxies, certificates, limits. Imports httpx; import it late.

Not here: what is sent and what comes back (client).
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import httpx

from hel_tui import __version__

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept: tools run between two requests."""


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine (0.0.0.0, as engines print it, included)."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def host_of(url: str) -> str:
    """`host:port` for a sentence: no user name, no password, no path."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    host = parts.hostname or url[:60]
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}" if port else host


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
