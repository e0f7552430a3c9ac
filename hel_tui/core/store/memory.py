"""What hel remembers by itself between runs: the model that was chosen last.

Kept in one TOML file of the state folder. Not here: settings a person writes (settings), approvals and
trust (permissions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hel_tui.core.store.atomic import Document, NotWritten, read_toml, update_toml
from hel_tui.core.store.places import Places


@dataclass(frozen=True, slots=True)
class Remembered:
    model: str = ""
    base_url: str = ""


def recall(places: Places) -> Remembered:
    """Return what was remembered; whatever is missing or unusable is at its default."""
    document, _ = read_toml(places.state / "memory.toml")

    def text(key: str) -> str:
        value: Any = document.get(key)
        return value if isinstance(value, str) else ""

    return Remembered(text("model"), text("base_url"))


def remember(places: Places, *, model: str | None = None, base_url: str | None = None) -> NotWritten | None:
    """Keep the given values; None leaves one as it is. None when done."""

    def change(document: Document) -> None:
        for key, value in (("model", model), ("base_url", base_url)):
            if value is not None:
                document[key] = value

    return update_toml(places.state / "memory.toml", change)
