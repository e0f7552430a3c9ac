"""What a task does in its own conversation, for whoever opens its card.

Not here: its card (a call of the tool `task`), the approvals it asks for (questions).
"""

from __future__ import annotations

from hel_tui.core.protocol.events import Event
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class TaskWindow:
    """The events of one task's conversation from some place on."""

    events: tuple[Event, ...]
    next: int
    """Where to go on reading."""
    is_cut: bool = False
    """Some of it is left out: it became too long."""
