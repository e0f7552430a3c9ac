"""What an address says: whether it is this machine, what to call it in a sentence, whether two are one place.

Pure functions over URLs. Not here: anything that is sent there.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine (0.0.0.0, as engines print it, included), however written."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and (address.is_loopback or address.is_unspecified)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address a host is written as, also as resolvers take it: `127.1`, `0x7f.1`, `::ffff:1.2.3.4`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


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


def without_secrets(url: str) -> str:
    """The address for a sentence: no user name, no password, no query and no fragment; empty for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def origin_of(url: str) -> tuple[str, str, int]:
    """(scheme, host, port) in lower case, default ports filled in. Raises ValueError for no address."""
    parts = urlsplit(url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if not host or scheme not in _PORTS:
        raise ValueError("no http or https address")
    return scheme, host, parts.port or _PORTS[scheme]
