"""Colour themes: TOML files with the fields of Textual's `Theme`, ours and the person's own.

A file that is wrong becomes a sentence and is left out; the app never starts with a colour that would
end it later. Not here: which theme is on (the app).
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from hel_tui.core.values import dataclass
from hel_tui.tui.strings import t

DEFAULT = "fjord"
_COLORS = frozenset(
    {
        "primary",
        "secondary",
        "warning",
        "error",
        "success",
        "accent",
        "foreground",
        "background",
        "surface",
        "panel",
        "boost",
    }
)
_FIELDS = {field.name for field in fields(Theme)}
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Loaded:
    themes: dict[str, Theme]
    problems: tuple[str, ...]
    """One sentence for each file that was left out."""


def own_dir() -> Path:
    """Where our themes are: in the installed package, else in the checkout."""
    inside = Path(__file__).parents[1] / "themes"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "themes"


def load(extra: Path | None = None) -> Loaded:
    """Our themes and those of the folder `extra`; a file there replaces ours of the same name."""
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in (own_dir(), extra):
        if folder is None or not folder.is_dir():
            continue
        for file in sorted(folder.glob("*.toml")):
            try:
                theme = read(file)
            except ValueError as error:
                problems.append(t("theme.left_out", file=file.name, why=error))
            else:
                themes[theme.name] = theme
    return Loaded(themes, tuple(problems))


def read(file: Path) -> Theme:
    """One theme file. Raises ValueError with a sentence."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise ValueError(t("theme.too_large"))
        data: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None
    data.setdefault("name", file.stem)
    if unknown := sorted(set(data) - _FIELDS):
        raise ValueError(t("theme.unknown_field", fields=", ".join(unknown)))
    if "primary" not in data:
        raise ValueError(t("theme.no_primary"))
    variables = data.get("variables", {})
    if not isinstance(variables, dict):
        raise ValueError(t("theme.bad_variables"))
    for name in _COLORS & set(data):
        _check(name, data[name])
    for name, value in variables.items():
        if not name.endswith("-style"):
            _check(name, value)
    for name, kind in (("dark", bool), ("ansi", bool), ("name", str)):
        if name in data and not isinstance(data[name], kind):
            raise ValueError(t("theme.bad_value", field=name))
    for name in ("luminosity_spread", "text_alpha"):
        if name in data and (isinstance(data[name], bool) or not isinstance(data[name], int | float)):
            raise ValueError(t("theme.bad_value", field=name))
    if data.get("ansi"):
        like = BUILTIN_THEMES["ansi-dark" if data.get("dark", True) else "ansi-light"]
        data["variables"] = like.variables | variables
    return Theme(**data)


def _check(name: str, value: object) -> None:
    text = value if isinstance(value, str) else ""
    color = text.rsplit(" ", 1)[0] if text.endswith("%") else text
    try:
        Color.parse(color)
    except ColorParseError:
        raise ValueError(t("theme.bad_color", field=name, value=repr(value)[:40])) from None


def choose(loaded: Loaded, wish: str | None) -> tuple[str, str]:
    """(name of the theme to use, sentence about why it is not the one wished for, or empty)."""
    names = list(loaded.themes)
    fallback = DEFAULT if DEFAULT in names else next(iter(names), "textual-dark")
    if not wish:
        return fallback, ""
    if wish in loaded.themes:
        return wish, ""
    return fallback, t("theme.no_such", name=wish, names=", ".join(names))
