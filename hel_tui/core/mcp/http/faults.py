"""What went wrong over HTTP, as values: network errors, TLS, statuses, pages instead of answers.

Pure functions. Not here: whether to try again (posting), what hel does about it (life).
"""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from http import HTTPStatus
from typing import Any

from hel_tui.core.addresses import host_of
from hel_tui.core.mcp.failures import chain
from hel_tui.core.mcp.http.target import CONNECT, Target
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.store.redact import head
from hel_tui.foreign import plain_line

MOST_TOLD = 300
"""Characters of what the other side said."""
MOST_WAIT = 24 * 3600.0

_GAP = r"[^.]{0,40}?"
_LOST = r"(?:not (?:found|valid|exist)|n't exist|unknown|expired|terminated|invalid|no longer|closed)"
_SESSION_LOST = re.compile(
    rf"\bsessions?\b{_GAP}\b{_LOST}\b|\b(?:{_LOST}|no valid|no such|no active){_GAP}\bsession\b"
    r"|\bserver (?:is |was )?not (?:yet )?initiali[sz]ed\b",
    re.I,
)
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL makes of an answer that is no TLS."""
_PAGE = 16 * 1024
"""Bytes of a body that are looked at."""


class LinkFailure(Exception):
    """Carries a fault up to where the request is told of it."""

    def __init__(self, fault: LinkFault) -> None:
        super().__init__(fault.sentence)
        self.fault = fault


# ------------------------------------------------------------------------- network


def network_fault(error: BaseException, target: Target, *, was_sent: bool) -> LinkFault:
    """The fault in an exception of the HTTP client. `was_sent`: some of the request may have left."""
    if was_sent and type(error).__name__ != "LocalProtocolError":  # raised before anything is written
        return LinkFault("lost", f"the connection to {target.host} ended before the answer{_cause(error)}")
    return LinkFault("unreachable", _unreachable(error, target))


def _unreachable(error: BaseException, target: Target) -> str:
    proxy = target.proxy
    through = f" (through the proxy {host_of(proxy)})" if proxy else ""
    place = f"the proxy {host_of(proxy)}" if proxy else target.host
    for one in _chain(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"{_certificate(one, target)}{through}"
        if isinstance(one, ssl.SSLError):
            return f"{_handshake(one, target)}{through}"
        if isinstance(one, socket.gaierror):
            return f"the host name of {place} is not known"
        if isinstance(one, ConnectionRefusedError):
            return f"nothing listens at {place}"
        if isinstance(one, OSError) and one.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return f"there is no way to {place} in the network"
    name = type(error).__name__
    if name == "ConnectTimeout":
        return f"no connection to {place} within {CONNECT:.0f} s"
    if name == "ProxyError":
        return f"{place} refused: {plain_line(str(error))[:100]}"
    if name in ("LocalProtocolError", "InvalidURL", "UnicodeEncodeError"):
        # its text would show the header, and with it perhaps a token
        return f"the request cannot be sent: its headers are not what HTTP allows ({name})"
    return f"{target.host} cannot be reached{_cause(error)}{through}"


def _certificate(error: ssl.SSLCertVerificationError, target: Target) -> str:
    """OpenSSL's verify codes (x509_vfy.h) that a person can do something about."""
    hint = "; if it is meant to be, name its certificate under `ca`"
    match error.verify_code:
        case 10:
            return f"the certificate of {target.host} has expired"
        case 9:
            return f"the certificate of {target.host} is not valid yet: check the clock"
        case 18:
            return f"the certificate of {target.host} is self-signed{hint}"
        case 19 | 20 | 21:
            return (
                f"the certificate of {target.host} was issued by an authority that this system does not know"
                "; name that authority's certificate under `ca` or in SSL_CERT_FILE"
            )
        case 62 | 64:
            return f"the certificate of {target.host} is for another host"
    reason = plain_line(error.verify_message or str(error))[:100]
    return f"the certificate of {target.host} is not accepted: {reason}"


def _handshake(error: ssl.SSLError, target: Target) -> str:
    if error.reason in _NO_TLS:
        return f"{target.host} does not speak TLS: should the url begin with http://?"
    return f"no TLS connection to {target.host}: {plain_line(str(error.reason or error))[:100]}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _chain(one)
        error = error.__cause__ or error.__context__


def _cause(error: BaseException) -> str:
    """What is at the bottom of it: libraries wrap the words of the system in words of their own, or none."""
    said = [text for one in chain(error) if (text := plain_line(_words(one)))]
    return f" ({said[-1][:100]})" if said else ""


def _words(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return ""  # it says only how many there are
    return (isinstance(error, OSError) and error.strerror) or str(error)


# ------------------------------------------------------------------------ statuses


def status_fault(
    status: int, headers: Mapping[str, str], body: bytes, mask: Callable[[str], str]
) -> LinkFault:
    """The fault in an answer whose status is none of success and not about credentials."""
    wait = retry_after(headers.get("retry-after"), time.time())
    sentence = f"it answered {named(status)}"
    if status == 429 or (wait and status == 503):
        sentence += f" and wants to be left alone for {wait:.0f} s" if wait else ": too many requests"
    return LinkFault("refused", sentence, told_by(body, headers.get("content-type", ""), mask), status, wait)


def login_fault(
    status: int, headers: Mapping[str, str], body: bytes, mask: Callable[[str], str], *, gave: bool
) -> LinkFault:
    """The fault in a 401 or 403. `gave`: credentials were sent along."""
    if status == 401:
        sentence = "it did not accept the credentials it was given" if gave else "it wants a login"
    else:
        sentence = "it refuses access" + (" with the credentials it was given" if gave else "")
    told = told_by(body, headers.get("content-type", ""), mask)
    return LinkFault("login", f"{sentence} ({named(status)})", told, status)


def named(status: int) -> str:
    """Such as `502 Bad Gateway`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def retry_after(value: str | None, now: float) -> float:
    """Seconds that a Retry-After header asks for, a number or a date; 0 for none that can be read."""
    if not value:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return min(seconds, MOST_WAIT) if seconds > 0 else 0.0


def media_type(headers: Mapping[str, str]) -> str:
    """The content type without its parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


# -------------------------------------------------------------------- what was said


def told_by(body: bytes, content_type: str, mask: Callable[[str], str] = str) -> str:
    """What a body says, on one line: the message in JSON, the title or text of a page; secrets taken out."""
    text = body[:_PAGE].decode("utf-8", "replace").strip()
    if text.startswith(("{", "[", '"')):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            return head(plain_line(_message(value) or text), MOST_TOLD, mask) if value else ""
    if "html" in content_type.lower() or text[:200].lower().startswith(("<!doctype html", "<html")):
        page = _Page()
        with suppress(AssertionError, ValueError):  # older parsers give up at broken declarations
            page.feed(text)
        text = page.title.strip() or page.text
    return head(plain_line(text), MOST_TOLD, mask)


class _Page(HTMLParser):
    """The title and the readable text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.text = ""
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in ("title", "script", "style"):
            self._inside = tag
        self.text += " "

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._inside == "title":
            self.title += data
        elif not self._inside:
            self.text += data


def _message(value: Any) -> str:
    """The sentence in the usual shapes of an error."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for key in ("error_description", "message", "detail", "error", "title", "msg"):
            if found := _message(value.get(key)):
                return found
    return ""


def speaks_of_lost_session(text: str) -> bool:
    """Whether words of a server mean that it does not know the session (any more)."""
    return _SESSION_LOST.search(text[:2000]) is not None
