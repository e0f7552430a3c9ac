"""The one table of what can be done by key: bindings, the keys screen, the palette and the footer read it.

A person's `keymap.toml` (`"app.palette" = "ctrl+k"`) replaces keys by action id; mistakes in it become
sentences. Not here: what an action does (screens and widgets).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from textual.binding import Binding, BindingType
from textual.keys import _character_to_key, key_to_character

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


ACTIONS: tuple[Action, ...] = (
    Action("app.palette", "ctrl+p", "palette"),
    Action("app.keys", "f1", "keys", palette=True),
    Action("app.servers", "f2", "servers", palette=True),
    Action("app.waiting", "f3", "waiting", palette=True),
    Action("app.tools", "f4", "tools", palette=True),
    Action("app.resources", "f5", "resources", palette=True),
    Action("app.prompts", "f7", "prompts", palette=True),
    Action("app.apply", "f8", "apply_config", palette=True),
    Action("app.access", "shift+tab", "access", palette=True),
    Action("app.interrupt", "escape", "interrupt", palette=True),
    Action("app.next", "tab,f6", "next_pane"),
    Action("app.previous", "shift+f6", "previous_pane"),
    Action("app.side", "ctrl+b", "side", palette=True),
    Action("app.wider", "alt+left", "resize(2)", palette=True),
    Action("app.narrower", "alt+right", "resize(-2)", palette=True),
    Action("app.theme", "ctrl+t", "next_theme", palette=True),
    Action("app.search", "ctrl+f", "search", palette=True),
    Action("app.expand", "ctrl+o", "expand_all", palette=True),
    Action("app.new", "ctrl+n", "new_session", palette=True),
    Action("app.redraw", "ctrl+l", "redraw", palette=True),
    Action("app.copy", "ctrl+c", "copy_or_stop"),
    Action("app.leave", "ctrl+d", "leave"),
    Action("app.quit", "ctrl+q", "quit", palette=True),
    Action("prompt.send", "enter", "send"),
    Action("prompt.newline", "ctrl+j,shift+enter", "newline"),
    Action("prompt.older", "up", "older"),
    Action("prompt.newer", "down", "newer"),
    Action("prompt.unqueue", "alt+up", "unqueue", palette=True),
    Action("prompt.detach", "alt+d", "detach", palette=True),
    Action("prompt.editor", "ctrl+g", "editor", palette=True),
    Action("prompt.leave", "ctrl+d", "leave"),
    Action("conversation.up", "up", "scroll_lines(-1)"),
    Action("conversation.down", "down", "scroll_lines(1)"),
    Action("conversation.page_up", "pageup", "scroll_pages(-1)"),
    Action("conversation.page_down", "pagedown", "scroll_pages(1)"),
    Action("conversation.start", "g,home", "start"),
    Action("conversation.end", "G,end", "end"),
    Action("conversation.next_card", "j,right_square_bracket", "card(1)"),
    Action("conversation.previous_card", "k,left_square_bracket", "card(-1)"),
    Action("conversation.open", "enter", "open"),
    Action("conversation.next_match", "n", "match(1)"),
    Action("conversation.previous_match", "N", "match(-1)"),
    Action("conversation.copy", "c", "copy"),
    Action("conversation.command", "y", "command"),
    Action("conversation.log", "l", "log"),
    Action("conversation.rerun", "e", "rerun"),
    Action("list.down", "j,down", "down"),
    Action("list.up", "k,up", "up"),
    Action("list.first", "g,home", "first"),
    Action("list.last", "G,end", "last"),
    Action("list.page_down", "pagedown", "page(1)"),
    Action("list.page_up", "pageup", "page(-1)"),
    Action("list.open", "enter", "open"),
    Action("servers.restart", "r", "restart"),
    Action("servers.switch", "d", "switch"),
    Action("servers.log", "l", "log"),
    Action("servers.trust", "t", "trust"),
    Action("servers.login", "a", "login"),
    Action("tools.toggle", "space", "load"),
    Action("tools.pin", "p", "pin"),
    Action("tools.off", "d", "off"),
    Action("tools.call", "n", "call"),
    Action("tools.search", "s", "search"),
    Action("tools.filter", "slash", "filter"),
    Action("tools.clear", "escape", "clear_filter"),
    Action("log.filter", "slash", "filter"),
    Action("log.clear", "escape", "clear_filter"),
    Action("log.pause", "space", "pause"),
    Action("log.end", "G,end", "end"),
    Action("log.start", "g,home", "start"),
    Action("log.down", "j,down", "scroll_lines(1)"),
    Action("log.up", "k,up", "scroll_lines(-1)"),
    Action("log.page_down", "pagedown", "scroll_pages(1)"),
    Action("log.page_up", "pageup", "scroll_pages(-1)"),
    Action("log.large", "f", "large"),
    Action("log.copy", "c", "copy"),
    Action("finder.keep", "enter", "keep"),
    Action("finder.clear", "escape", "clear"),
    Action("approval.once", "y", "once"),
    Action("approval.session", "s", "session"),
    Action("approval.project", "p", "project"),
    Action("approval.deny", "n,escape", "deny"),
    Action("approval.stop", "N", "stop"),
    Action("approval.comment", "tab", "comment"),
    Action("approval.edit", "e", "edit"),
    Action("approval.full", "f", "full"),
    Action("trust.refuse", "n,escape", "refuse"),
    Action("trust.once", "o", "once"),
    Action("trust.remember", "y,r", "remember"),
    Action("trust.never", "N", "never"),
    Action("trust.check", "space", "check"),
    Action("trust.next", "tab", "next"),
    Action("continue.go_on", "y", "go_on"),
    Action("continue.end", "n,escape", "end"),
    Action("leftovers.end", "y", "end"),
    Action("leftovers.leave", "n,escape", "leave"),
    Action("form.send", "y,ctrl+s", "send"),
    Action("form.decline", "n", "decline"),
    Action("form.cancel", "escape", "cancel"),
    Action("url.open", "o", "open"),
    Action("url.opened", "y", "opened"),
    Action("url.copy", "c", "copy"),
    Action("url.decline", "n,d", "decline"),
    Action("url.cancel", "escape", "cancel"),
    Action("sampling.allow", "y", "allow"),
    Action("sampling.deny", "n,escape", "deny"),
    Action("login.open", "o", "open"),
    Action("login.copy", "c", "copy"),
    Action("login.paste", "tab", "paste"),
    Action("login.give_up", "escape", "give_up"),
    Action("arguments.send", "y,ctrl+s", "send"),
    Action("arguments.cancel", "n,escape", "cancel"),
    Action("resources.look", "v,space", "look"),
    Action("resources.watch", "w", "watch"),
    Action("resources.again", "r", "again"),
    Action("prompts.look", "v,space", "look"),
    Action("picker.filter", "slash", "filter"),
    Action("picker.close", "escape,q", "close"),
    Action("viewer.attach", "enter", "attach"),
    Action("viewer.watch", "w", "watch"),
    Action("viewer.copy", "c", "copy"),
    Action("viewer.again", "r", "again"),
    Action("viewer.close", "escape,q", "close"),
)

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
    }
)
_NEVER_ALLOWING = frozenset({"enter", "space", "escape", "tab", "backspace"})
_TOGETHER = {
    "servers": ("list",),
    "tools": ("list",),
    "resources": ("list", "picker"),
    "prompts": ("list", "picker"),
    "picker": ("list",),
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
