"""Requests of HTTP in the trace of a server: one frame each, with both heads, credentials taken out.

Not here: sending them (http.sending), the messages they carry (trace).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from hel_tui.core.mcp.causes import EXCHANGE, SENDING
from hel_tui.core.mcp.messages import parse_line
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.protocol import HttpExchange
from hel_tui.core.store.redact import MARK, head

LONGEST_VALUE = 2000
MOST_HEADERS = 100
MOST_SESSIONS = 10_000
_SESSION = "mcp-session-id"
_TELLING = ("www-authenticate", "proxy-authenticate")
"""They name schemes and addresses, and no credential."""

Headers = Iterable[tuple[str, str]]


@dataclass(slots=True)
class Exchanges:
    """The requests of one life of a server."""

    trace: Trace = field(default_factory=Trace)
    _began: dict[int, float] = field(default_factory=dict)
    _sessions: set[int] = field(default_factory=set)

    @property
    def mask(self) -> Callable[[str], str]:
        """Takes secrets out of what is shown."""
        return self.trace.store.mask

    def begin(self, method: str, url: str, headers: Headers, body: bytes | None) -> int:
        """A request is about to be sent; the number of its frame."""
        store, mask = self.trace.store, self.mask
        parts = urlsplit(url)
        number = store.add(
            "out",
            "http",
            b"",
            method=method,
            summary=head(f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}", 200, mask),
            life=self.trace.life,
            size=len(body or b""),
        )
        shown = self.shown(headers)
        store.exchanged(number, HttpExchange(method, mask(url), 0, "", 0.0, shown, sent=len(body or b"")))
        if body is not None:
            sending = SENDING.get()
            if store.size(sending) != len(body):  # the link says something of its own, such as a new hello
                sending = self.trace.repeated(body)
            store.carried(sending, number)
        self._began[number] = time.monotonic()
        EXCHANGE.set(number)
        return number

    def answered(self, number: int, status: int, asked: Headers, headers: Headers) -> None:
        """The head of its answer is there; `asked` are the headers that went out in the end."""
        headers = list(headers)
        for name, value in headers:
            if name.lower() == _SESSION and len(self._sessions) < MOST_SESSIONS:
                before = len(self._sessions)
                self._sessions.add(hash(value))
                self.trace.store.sessions += len(self._sessions) - before
        self._over(
            number, status=status, request_headers=self.shown(asked), response_headers=self.shown(headers)
        )

    def failed(self, number: int, reason: str) -> None:
        """It got no answer."""
        self._over(number, reason=self.mask(reason))

    def took(self, line: bytes) -> None:
        """A message that the link keeps to itself."""
        self.trace.came(parse_line(line), line)

    def _over(self, number: int, **facts: Any) -> None:
        seconds = time.monotonic() - self._began.pop(number, time.monotonic())
        known = self.trace.store.exchange(number)
        if known is not None:
            self.trace.store.exchanged(number, replace(known, seconds=seconds, **facts))

    def shown(self, headers: Headers) -> tuple[tuple[str, str], ...]:
        """Headers without credentials."""
        return tuple(
            (head(name, 200, self.mask), self._value(name, value))
            for name, value in list(headers)[:MOST_HEADERS]
        )

    def _value(self, name: str, value: str) -> str:
        from hel_tui.core.mcp.http.hiding import header_secrets

        if name.lower() not in _TELLING:
            for secret in sorted(header_secrets([(name, value)]), key=len, reverse=True):
                value = value.replace(secret, MARK)
        return head(value, LONGEST_VALUE, self.mask)
