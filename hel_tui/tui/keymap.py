"""The one table of what can be done by key: bindings, the keys screen, the palette and the footer read it.

A person's `keymap.toml` (`"app.palette" = "ctrl+k"`) replaces keys by action id; mistakes in it become
sentences. Not here: what an action does (screens and widgets).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from textual.binding import Binding, BindingType
from textual.keys import _character_to_key, key_to_character

from hel_tui.tui.actions import ACTIONS, Action
from hel_tui.tui.strings import t

__all__ = ["ACTIONS", "Action"]


_BY_ID = {action.id: action for action in ACTIONS}
ALLOWING = frozenset(
    {
        "approval.once",
        "approval.session",
        "approval.project",
        "trust.once",
        "trust.remember",
        "continue.go_on",
        "leftovers.end",
        "form.send",
        "url.open",
        "url.opened",
        "sampling.allow",
        "login.open",
        "restore.overwrite",
        "confirm.yes",
    }
)
_NEVER_ALLOWING = frozenset({"enter", "space", "escape", "tab", "backspace"})
_TOGETHER = {
    "servers": ("list",),
    "tools": ("list",),
    "resources": ("list", "picker"),
    "prompts": ("list", "picker"),
    "picker": ("list",),
    "rewind": ("list", "picker"),
    "models": ("list", "picker"),
    "sessions": ("list", "picker"),
    "checks": ("list",),
    "renewal": ("list",),
    "fields": ("list", "call"),
    "logs": ("log",),
    "wires": ("wire",),
    "task": ("conversation",),
}
"""Parts whose keys are live at once: a list's own keys and the general list keys."""

_overrides: dict[str, str] = {}


def use(overrides: dict[str, str]) -> None:
    """Keys by action id from now on, over the defaults."""
    global _overrides
    _overrides = dict(overrides)


def keys(action_id: str) -> list[str]:
    """The keys of an action as they are now, in Textual's names."""
    text = _overrides.get(action_id, _BY_ID[action_id].keys)
    return [_long(key) for key in text.split(",")]


def _long(key: str) -> str:
    """Textual's name of a key: `?` is `question_mark`."""
    key = key.strip()
    return _character_to_key(key) if len(key) == 1 else key


def bindings(where: str) -> list[BindingType]:
    """Textual bindings of one part, with ids, so that `App.set_keymap` can replace their keys."""
    return [
        Binding(action.keys, action.run, action.id, show=False, id=action.id)
        for action in ACTIONS
        if action.where == where
    ]


def by_key(where: str) -> dict[str, str]:
    """{key: what to run} for a part that reads its keys itself (dialogs)."""
    return {key: action.run for action in ACTIONS if action.where == where for key in keys(action.id)}


def pretty(key: str) -> str:
    """A key as a person writes it: `ctrl+j` is `Ctrl+J`, `slash` is `/`."""
    names = {"slash": "/", "escape": "Esc", "pagedown": "PgDn", "pageup": "PgUp", "question_mark": "?"}
    parts = key.split("+")
    shown = [names.get(part) or _sign(part) for part in parts]
    if len(parts) > 1 and len(parts[-1]) == 1:
        shown[-1] = parts[-1].upper()
    return "+".join(shown)


def _sign(part: str) -> str:
    """`right_square_bracket` is `]`; what has no sign of its own is called by its name."""
    sign = key_to_character(part)
    if sign and sign.isprintable() and sign != " ":
        return sign
    return part.replace("_", " ").capitalize()


def label(action_id: str) -> str:
    """The first key of an action, pretty."""
    return pretty(keys(action_id)[0])


def load(path: Path) -> tuple[dict[str, str], list[str]]:
    """Read a person's keymap: (keys by action id, sentences about what was wrong and is left out)."""
    try:
        data = _flat(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as error:
        return {}, [t("keymap.unreadable", file=path, error=error)]
    found: dict[str, str] = {}
    problems: list[str] = []
    for name, value in data.items():
        if name not in _BY_ID:
            problems.append(t("keymap.unknown", id=name))
        elif not isinstance(value, str) or not value.strip():
            problems.append(t("keymap.not_text", id=name))
        elif name in ALLOWING and _NEVER_ALLOWING & {_long(key) for key in value.split(",")}:
            problems.append(t("keymap.unsafe", id=name))
        else:
            found[name] = value.replace(" ", "")
    for one, other, key in clashes(found):
        loser = one if one in found else other
        if found.pop(loser, None) is not None:
            problems.append(t("keymap.clash", key=pretty(key), one=one, other=other))
    return found, problems


def _flat(data: dict[str, object], prefix: str = "") -> dict[str, object]:
    """{"a": {"b": 1}} and {"a.b": 1} are the same."""
    flat: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def clashes(overrides: dict[str, str]) -> list[tuple[str, str, str]]:
    """Pairs of actions that would answer to the same key in the same place: (id, id, key)."""
    found: list[tuple[str, str, str]] = []
    for place in {action.where for action in ACTIONS}:
        seen: dict[str, str] = {}
        for action in ACTIONS:
            if action.where != place and action.where not in _TOGETHER.get(place, ()):
                continue
            for key in overrides.get(action.id, action.keys).split(","):
                name = _long(key)
                if name in seen and seen[name] != action.id:
                    found.append((seen[name], action.id, name))
                seen.setdefault(name, action.id)
    return sorted(set(found))
