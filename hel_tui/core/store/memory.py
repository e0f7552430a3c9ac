"""What hel remembers by itself between runs: the model that was chosen last, and those before it.

Kept in one TOML file of the state folder. Not here: settings a person writes (settings), approvals and
trust (permissions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hel_tui.core.store.atomic import Document, NotWritten, read_toml, update_toml
from hel_tui.core.store.places import Places

MOST_RECENT = 8


@dataclass(frozen=True, slots=True)
class Remembered:
    model: str = ""
    base_url: str = ""
    recent: tuple[tuple[str, str], ...] = ()
    """(model, base URL) of those chosen lately, the newest first."""


def recall(places: Places) -> Remembered:
    """Return what was remembered; whatever is missing or unusable is at its default."""
    document, _ = read_toml(places.state / "memory.toml")

    def text(key: str) -> str:
        value: Any = document.get(key)
        return value if isinstance(value, str) else ""

    return Remembered(text("model"), text("base_url"), _recent(document))


def _recent(document: Document) -> tuple[tuple[str, str], ...]:
    kept: Any = document.get("recent_models")
    pairs = [one for one in kept if isinstance(one, list) and len(one) == 2] if isinstance(kept, list) else []
    return tuple((a, b) for a, b in pairs if isinstance(a, str) and isinstance(b, str))[:MOST_RECENT]


def remember(places: Places, *, model: str | None = None, base_url: str | None = None) -> NotWritten | None:
    """Keep the given values; None leaves one as it is. None when done."""

    def change(document: Document) -> None:
        for key, value in (("model", model), ("base_url", base_url)):
            if value is not None:
                document[key] = value
        if model:
            newest = (model, base_url or "")
            others = [one for one in _recent(document) if one != newest]
            document["recent_models"] = [list(one) for one in (newest, *others)][:MOST_RECENT]

    return update_toml(places.state / "memory.toml", change)
