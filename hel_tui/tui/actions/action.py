"""One row of the key table. Not here: the tables (its neighbours), a person's own keys (keymap)."""

from __future__ import annotations

from hel_tui.core.values import dataclass
from hel_tui.tui.strings import t


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do. `run` is the Textual action; `where` the part that must have the focus."""

    id: str
    keys: str
    run: str
    palette: bool = False

    @property
    def where(self) -> str:
        return self.id.split(".")[0]

    @property
    def title(self) -> str:
        return t(f"action.{self.id}")
