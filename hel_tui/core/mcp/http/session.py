"""What a streamable HTTP link knows of its session: id, version, and how to open another one like it.

Not here: sending anything (posting).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hel_tui.core.mcp.messages import Id

SESSION_ID: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"
LAST_EVENT_ID: Final = "last-event-id"
EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"
STREAM_HEADERS: Final[Mapping[str, str]] = {"accept": EVENT_STREAM, "accept-encoding": "identity"}
"""Of a request for a stream: compressing one would hold back events for little."""

SAFE_METHODS = frozenset(
    {"initialize", "server/discover", "ping", "completion/complete", "prompts/get", "prompts/list"}
    | {"resources/list", "resources/read", "resources/templates/list", "tools/list"}
)
"""Requests that change nothing and may be sent again."""

_VISIBLE = re.compile(r"[\x21-\x7e]{1,4096}")


@dataclass(slots=True, eq=False)
class OpenRequest:
    """A request on its way."""

    id: Id
    method: str
    line: bytes
    headers: Mapping[str, str]
    is_stateless: bool
    """Sent in the era without sessions: cancelling it means closing its stream."""
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    """The whole request has left, or never will."""
    is_cancelled: bool = False
    captured: list[bytes] | None = None
    """Takes the answer in place of the intake."""


@dataclass(frozen=True, slots=True)
class Message:
    """A notification or an answer as it was sent."""

    line: bytes
    headers: Mapping[str, str]
    about: str = ""
    """Its method, or what it is."""


@dataclass(slots=True)
class Session:
    """The session as far as HTTP has one."""

    id: str | None = None
    version: str | None = None
    """Sent with everything that does not carry a version itself."""
    negotiated: str = ""
    """What the server answered to `initialize`."""
    hello: OpenRequest | None = None
    initialized: Message | None = None
    generation: int = 0
    """How often it was opened anew."""
    is_lost: bool = False
    """The server does not know it any more, and no new one was opened yet."""

    @property
    def is_stateless(self) -> bool:
        return self.version in MODERN_PROTOCOL_VERSIONS

    def begin(self, hello: OpenRequest) -> None:
        """`initialize` is sent: nothing of an earlier session or of a probe goes along."""
        self.id, self.version, self.negotiated = None, None, ""
        self.hello, self.initialized, self.is_lost = hello, None, False

    def take_id(self, value: str | None) -> bool:
        """Keep the id that came with the answer to `initialize`; False for one that is none."""
        if value is None:
            self.id = None
            return True
        self.id = value if _VISIBLE.fullmatch(value) else None
        return self.id is not None

    def headers(
        self, given: Mapping[str, str], *, method: str = "POST", is_hello: bool = False
    ) -> dict[str, str]:
        """The protocol's headers for a request that carries `given`."""
        headers = dict(STREAM_HEADERS) if method == "GET" else {"accept": f"{JSON}, {EVENT_STREAM}"}
        if method == "POST":
            headers["content-type"] = JSON
        if not is_hello:
            if self.id is not None:
                headers[SESSION_ID] = self.id
            if self.version is not None:
                headers[VERSION] = self.version
        return headers | {name.lower(): value for name, value in given.items()}
