"""The address of a server over HTTP and the client for it: headers, proxies, certificates, limits.

httpx2 is imported when a client is made. Not here: what is sent (sending), who gives credentials (auth).
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from hel_tui import __version__
from hel_tui.core.addresses import host_of, is_loopback, origin_of

if TYPE_CHECKING:
    import ssl

    import httpx2

CONNECT = 10.0
"""Seconds a connection (and its TLS) may take."""
KEEP_ALIVE = 4.0
"""Seconds an idle connection is kept: common servers close theirs after 5, and a request that meets the
close would be lost without need."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_TCP_OPTIONS = (
    ("TCP_KEEPIDLE", 30),
    ("TCP_KEEPALIVE", 30),  # the same on macOS
    ("TCP_KEEPINTVL", 10),
    ("TCP_KEEPCNT", 3),
    ("TCP_USER_TIMEOUT", 30_000),
)
"""How long the system believes in a connection whose other side is gone: seconds, the last milliseconds."""


@dataclass(frozen=True, slots=True)
class Target:
    """One server's address after expansion. Use `target_of` to make one from what a person wrote."""

    url: str
    """http or https, without user name, password and fragment."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Sent with every request to the origin of `url`, and nowhere else."""
    ca: Path | None = None
    """Certificates to trust besides those of the system, as PEM."""
    insecure: bool = False
    """Certificates are not checked at all."""
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Where proxy and CA variables come from."""

    @property
    def host(self) -> str:
        """`host:port` for a sentence."""
        return host_of(self.url)

    @property
    def proxy(self) -> str | None:
        """The proxy to go through, as the variables say; with its credentials."""
        return proxy_for(self.url, self.environ)


def target_of(
    url: str,
    headers: Iterable[tuple[str, str]] = (),
    *,
    ca: Path | None = None,
    insecure: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Target:
    """Check and part what a person wrote. A user name in the URL becomes Basic authorization.

    White space around header values goes (a token read from a file ends with a newline). Raises ValueError
    with a sentence that shows no value.
    """
    parts = urlsplit(url.strip())
    try:
        origin_of(url.strip())
    except ValueError:
        raise ValueError("its url is not an http:// or https:// address") from None
    checked = checked_headers(headers)
    if parts.username is not None and not any(name.lower() == "authorization" for name, _ in checked):
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        checked.append(("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"))
    bare = SplitResult(
        parts.scheme.lower(), parts.netloc.rpartition("@")[2], parts.path or "/", parts.query, ""
    )
    return Target(urlunsplit(bare), tuple(checked), ca, insecure, environ if environ is not None else {})


def checked_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers that can be sent, white space around them gone. Raises ValueError without the value."""
    checked = [(name.strip(), value.strip()) for name, value in headers]
    for name, value in checked:
        if not _TOKEN.fullmatch(name):
            raise ValueError(f"`{name[:40]}` is not the name of a header")
        if _CONTROL.search(value):
            raise ValueError(f"the value of the header {name} has a line break or control character in it")
    return checked


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy that `environ` names for `url`; None for none. This machine is never behind a proxy.

    Lower-case names win over capitals, `all_proxy` stands in, `no_proxy` may hold names, addresses and
    networks such as 10.0.0.0/8; HTTP_PROXY is not believed in a CGI program.
    """
    if is_loopback(url):
        return None
    named = {name.lower(): value for name, value in environ.items() if name.lower().endswith("_proxy")}
    if "REQUEST_METHOD" in environ:
        named.pop("http_proxy", None)
    named |= {name: value for name, value in environ.items() if name.endswith("_proxy")}
    proxy = named.get(f"{urlsplit(url).scheme}_proxy") or named.get("all_proxy")
    if not proxy or any(_is_exception(url, one.strip()) for one in named.get("no_proxy", "").split(",")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_exception(url: str, exception: str) -> bool:
    """Whether one item of `no_proxy` means the host of `url`: `*`, a network, a name and all below it."""
    _, host, port = origin_of(url)
    if exception == "*":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host) in ipaddress.ip_network(exception.strip("[]"), strict=False)
    name, _, its_port = exception.lower().removeprefix("*").removeprefix(".").partition(":")
    return bool(name) and its_port in ("", str(port)) and (host == name or host.endswith(f".{name}"))


def open_client(target: Target) -> httpx2.AsyncClient:
    """A client for `target`: no redirects, no limit on reading, nothing from this process's environment.

    Reads certificates and so takes tens of milliseconds: call it beside the loop. Raises ValueError with a
    sentence for proxy or certificate settings that cannot be used.
    """
    import httpx2

    proxy = target.proxy
    context = _ssl_context(target, proxy)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEEP_ALIVE)
    try:
        transport = httpx2.AsyncHTTPTransport(
            verify=context,
            trust_env=False,
            limits=limits,
            proxy=_proxy(proxy, context) if proxy else None,
            socket_options=_socket_options(),
        )
    except ImportError:
        raise ValueError(f"the proxy {host_of(proxy or '')} is a SOCKS proxy, which hel cannot use") from None
    except (ValueError, httpx2.InvalidURL):
        raise ValueError("the proxy that the environment names is not an address hel can use") from None
    return httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=CONNECT),
        headers={"User-Agent": f"hel/{__version__}", "Accept-Encoding": "gzip, deflate"},
    )


def _proxy(url: str, context: ssl.SSLContext) -> httpx2.Proxy:
    import httpx2

    return httpx2.Proxy(url, ssl_context=context if url.startswith("https:") else None)


def _socket_options() -> list[tuple[int, int, int]]:
    """Let the system notice that the other side of a quiet stream is gone, as after a sleep."""
    import socket

    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in _TCP_OPTIONS:
        number = getattr(socket, name, None)
        if number is not None:
            options.append((socket.IPPROTO_TCP, number, value))
    return options


def acknowledge(response: httpx2.Response) -> None:
    """Let the system acknowledge the head of an answer at once, where it can.

    Many servers write head and body apart, with Nagle's algorithm on: the body then waits for that
    acknowledgement, which the system would put off for 40 ms.
    """
    import socket

    option = getattr(socket, "TCP_QUICKACK", None)
    stream = response.extensions.get("network_stream")
    raw = stream.get_extra_info("socket") if stream is not None else None
    if option is not None and raw is not None:
        with suppress(OSError):
            raw.setsockopt(socket.IPPROTO_TCP, option, 1)


def _ssl_context(target: Target, proxy: str | None) -> ssl.SSLContext:
    import ssl

    import httpx2

    is_plain = target.url.startswith("http:") and not (proxy or "").startswith("https:")
    if is_plain or target.insecure:
        return httpx2.create_ssl_context(verify=False)
    for name, argument in (("SSL_CERT_FILE", "cafile"), ("SSL_CERT_DIR", "capath")):
        if given := target.environ.get(name):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            _load(context, {argument: given}, f"{name}={given}")
            break
    else:
        context = httpx2.create_ssl_context(trust_env=False)
    if target.ca is not None:
        _load(context, {"cafile": str(target.ca)}, f"`ca` {target.ca}")
    return context


def _load(context: ssl.SSLContext, where: dict[str, str], what: str) -> None:
    import ssl

    try:
        context.load_verify_locations(**where)
    except ssl.SSLError:
        raise ValueError(f"the certificates in {what} cannot be read: it should be PEM") from None
    except OSError as error:
        raise ValueError(f"the certificates in {what} cannot be read: {error.strerror}") from None
