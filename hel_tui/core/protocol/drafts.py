"""What is written in the prompt and not sent: kept with the session, and there again when that is opened.

Not here: what was sent (commands), what waits (turns).
"""

from __future__ import annotations

from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Draft:
    """The prompt has rested with this text in it; empty when it was emptied. The newest is kept, in a session
    that has something else, too.
    """

    text: str


@dataclass(frozen=True, slots=True)
class DraftFound:
    """The session that is open was left with this in the prompt, known secrets hidden."""

    text: str
