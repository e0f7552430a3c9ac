"""What hel remembers by itself between runs: last model, theme, sizes of panes.

Kept in one TOML file of the state folder. Not here: settings a person writes (settings), approvals and
trust (permissions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.store.atomic import Document, NotWritten, read_toml, update_toml
from hel_tui.core.store.places import Places


@dataclass(frozen=True, slots=True)
class Remembered:
    model: str = ""
    base_url: str = ""
    theme: str = ""
    panes: Mapping[str, int] = field(default_factory=dict)
    """Sizes in cells by the pane's name."""


def recall(places: Places) -> Remembered:
    """Return what was remembered; whatever is missing or unusable is at its default."""
    document, _ = read_toml(places.state / "memory.toml")

    def text(key: str) -> str:
        value: Any = document.get(key)
        return value if isinstance(value, str) else ""

    panes = document.get("panes")
    sizes = panes if isinstance(panes, dict) else {}
    return Remembered(
        text("model"),
        text("base_url"),
        text("theme"),
        {name: size for name, size in sizes.items() if type(size) is int and size > 0},
    )


def remember(
    places: Places,
    *,
    model: str | None = None,
    base_url: str | None = None,
    theme: str | None = None,
    panes: Mapping[str, int] | None = None,
) -> NotWritten | None:
    """Keep the given values; None leaves one as it is, and panes are merged by name. None when done."""

    def change(document: Document) -> None:
        for key, value in (("model", model), ("base_url", base_url), ("theme", theme)):
            if value is not None:
                document[key] = value
        if panes:
            kept = document.get("panes")
            document["panes"] = {**(kept if isinstance(kept, dict) else {}), **panes}

    return update_toml(places.state / "memory.toml", change)
