"""What the HTTP link and the host need to know of authorization: credentials in, refusals out.

Not here: OAuth itself (auth), where tokens are kept (auth.tokens).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

Tell = Callable[[str], None]
"""Hears each step of an authorization as a line without credentials."""


class NoCredentials(Exception):
    """Credentials cannot be had at the moment. The text says why: hel's, without a full stop or secrets."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A 401 or 403 answer: what the server wants."""

    status: int
    www_authenticate: str = ""
    body: str = ""
    """At most 300 characters."""


class Authorizer(Protocol):
    """Credentials for one server URL. Used by several requests at once; nothing here asks a person."""

    async def headers(self) -> Mapping[str, str]:
        """What to send along now: empty, or an Authorization header with a token refreshed if it was stale.

        Raises NoCredentials when a request without them would be in vain.
        """

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:
        """The server did not take `sent`. True when it is worth sending again with new `headers`.

        Single flight: of several that were refused with the same token one does the work. It may refresh a
        token; it never opens a login. It keeps the challenge for the next one.
        """


class NoAuthorizer:
    """For servers without OAuth: headers are fixed, refusals final."""

    async def headers(self) -> Mapping[str, str]:
        return {}

    async def refused(self, challenge: Challenge, sent: Mapping[str, str]) -> bool:  # noqa: ARG002
        return False
