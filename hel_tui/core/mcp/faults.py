"""What can go wrong with a server, as sentences: why it did not start, why a call came to nothing.

Raised inside this package and turned into states, failures and outcomes at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["entry", "find", "spawn", "handshake", "list", "call", "run"]
CallTrouble = Literal["timeout", "lost", "unreachable", "protocol", "login", "unavailable"]


@dataclass(slots=True)
class ServerFault(Exception):
    """A server did not come up, or went away. `lasting` means that trying again cannot help."""

    stage: Stage
    sentence: str
    resolved: str = ""
    """What the command resolved to on PATH, where that is known."""
    lasting: bool = False
    needs_login: bool = False
    """The person has to authorize first: nothing is wrong with it."""
    unreachable: bool = False
    """There was nobody at its address: it may come up yet."""
    was_there: bool = False
    """It was still connected when it was given up: how it ends now says nothing about why."""
    status: int = 0
    """HTTP status that told it; 0 when none did."""

    def __str__(self) -> str:
        return self.sentence


@dataclass(slots=True)
class CallFault(Exception):
    """A call has no result. `sentence` is hel's own, for the model: whether it may have taken effect."""

    kind: CallTrouble
    sentence: str
    told: str = ""
    """What the server said about it: foreign text of any length."""
    code: int = 0
    """Of the error that the server answered with; 0 when it answered with none."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.told}".strip()
