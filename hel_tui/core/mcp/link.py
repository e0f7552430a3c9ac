"""A way to a server that carries protocol messages: the pipes of a process, or HTTP.

The wire is written against `Link` and gives it an `Intake`; what is said over it is no concern of a link.
Not here: any such way (pipes in stdio, http), what messages mean (wire, connection).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from hel_tui.core.mcp.framing import TooLong
from hel_tui.core.mcp.messages import Id

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

LinkTrouble = Literal[
    "unreachable",  # nothing was sent: no address, no connection, no TLS
    "lost",  # it may have been sent: the connection ended before the answer
    "refused",  # an HTTP status, a redirect elsewhere, a body that is no protocol
    "login",  # 401 or 403: the person has to authorize, or gave credentials that are not taken
    "timeout",  # the other side did not react at all
    "expired",  # its session is gone there and a new one could not be had
]


@dataclass(frozen=True, slots=True)
class LinkFault:
    """Why one request got no answer over a link. `sentence` is hel's, without a full stop."""

    kind: LinkTrouble
    sentence: str
    told: str = ""
    """What the other side said about it: foreign text, at most 300 characters."""
    status: int = 0
    """HTTP status; 0 when there was none."""
    retry_after: float = 0.0
    """Seconds the server wants to be left alone; 0 when it did not say."""


class Intake(Protocol):
    """Takes what a link brings. Both methods wait while the reader behind has enough to do."""

    async def line(self, line: bytes | TooLong) -> None:
        """One JSON text: a message or several. Never raises for anything a server can send."""

    async def failed(self, request: Id, fault: LinkFault) -> None:
        """The request with this id will not be answered. Unknown ids are ignored."""


class Link(Protocol):
    """A way to one server. Used in one event loop; `run` once."""

    async def run(self, intake: Intake) -> None:
        """Bring what comes until the way is gone or `finish` was called. Raises nothing for a lost way."""

    async def send(self, message: JSONRPCMessage, line: bytes, headers: Mapping[str, str]) -> None:
        """Send a message: `line` is its JSON without a line break, `headers` what HTTP should carry with it.

        Pipes write in order and wait while the server does not read; HTTP returns once the request is on its
        way to be sent and reports failures to the intake. Raises OSError when the way is gone for good.
        """

    def finish(self) -> None:
        """Nothing more will be sent: take what is left and end `run`. May be called twice."""

    async def how_it_ended(self) -> str:
        """Such as `it ended (exit 1 after 0.4 s)`; waits a moment for news."""
