"""What is still to do, as the model keeps it for itself and the person.

Not here: the tool that writes it (tools).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.values import dataclass

TodoState = Literal["pending", "in_progress", "done"]


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The whole list, as it is now: (state, text) each; at most 50 of 200 characters."""

    items: tuple[tuple[str, str], ...]
