"""What can go wrong with a server, as sentences: why it did not start, why a call came to nothing.

Raised inside this package and turned into states, failures and outcomes at its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["find", "spawn", "handshake", "list", "call", "run"]
CallTrouble = Literal["timeout", "lost", "protocol", "unavailable"]


@dataclass(slots=True)
class ServerFault(Exception):
    """A server did not come up, or went away. `lasting` means that trying again cannot help."""

    stage: Stage
    sentence: str
    resolved: str = ""
    """What the command resolved to on PATH, where that is known."""
    lasting: bool = False

    def __str__(self) -> str:
        return self.sentence


@dataclass(slots=True)
class CallFault(Exception):
    """A call has no result. `sentence` is hel's own, for the model: whether it may have taken effect."""

    kind: CallTrouble
    sentence: str
    told: str = ""
    """What the server said about it: foreign text of any length."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.told}".strip()
