"""How editors write a server: Cursor, VS Code, Zed; and Claude Desktop.

Each function fills a draft from its `raw`. Not here: where their files are (places), agents (agents).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.importing.draft import Draft, filled

_VARIABLE = re.compile(r"\$\{(?P<kind>env:|input:)?(?P<name>[^{}:]+)\}")
_LITERAL = {"pathSeparator": "/", "/": "/"}


class Editor:
    """The variables of one editor, as they are for this project. `inputs` are those that VS Code asks for."""

    def __init__(self, project: Path, inputs: Any = None, *, is_shared: bool = False) -> None:
        """`is_shared`: the entry goes into a file of the project, where no path of this machine belongs."""
        self._project = "." if is_shared else str(project)
        self._basename = project.name
        self._inputs: dict[str, Mapping[str, Any]] = {
            one["id"]: one
            for one in (inputs if isinstance(inputs, list) else [])
            if isinstance(one, dict) and isinstance(one.get("id"), str)
        }

    def fill(self, draft: Draft, where: str, text: str) -> str:
        """The text with the editor's variables in hel's form, or as what they mean here."""
        return _VARIABLE.sub(lambda found: self._value(draft, where, found), text)

    def _value(self, draft: Draft, where: str, found: re.Match[str]) -> str:
        name = found["name"]
        if found["kind"] == "env:":
            return f"${{{name}}}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else found[0]
        if found["kind"] == "input:":
            return self._input(draft, name)
        if name in ("workspaceFolder", "workspaceRoot"):
            return self._project
        if name == "workspaceFolderBasename":
            return self._basename
        if name == "userHome":
            return "${HOME}"
        if name in _LITERAL:
            return _LITERAL[name]
        if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            return found[0]
        draft.notes.append(f"`{where}` has ${{{name[:40]}}} in it, which means nothing to hel")
        return found[0]

    def _input(self, draft: Draft, name: str) -> str:
        asked = self._inputs.get(name, {})
        default = asked.get("default")
        if asked.get("password") is True or not isinstance(default, str):
            return draft.keep(f"input.{name}", "is asked for by the editor")
        variable = re.sub(r"\W+", "_", name).upper()
        draft.notes.append(
            f"it asks for {name}: set {variable} to something else than {default!r} if need be"
        )
        return f"${{{variable}:-{default}}}"


def cursor(draft: Draft, editor: Editor) -> None:
    """Cursor and Claude Desktop: the common keys."""
    for key in ("type", "command", "args", "env", "cwd", "url", "headers"):
        draft.copy(key, fill=editor.fill)
    auth = filled(draft, "auth", draft.take("auth"), editor.fill)
    if isinstance(auth, dict):
        known = {"CLIENT_ID": "clientId", "CLIENT_SECRET": "clientSecret", "scopes": "scopes"}
        draft.put("oauth", {known[key]: value for key, value in auth.items() if key in known and value})
    draft.switch(off="disabled", on="enabled")
    _env_file(draft)
    draft.leave("description")


def vscode(draft: Draft, editor: Editor) -> None:
    """VS Code: `servers`, with inputs that it asks for."""
    for key in ("type", "command", "args", "env", "cwd", "url", "headers"):
        draft.copy(key, fill=editor.fill)
    env = draft.entry.get("env")
    if isinstance(env, dict) and (unset := [name for name, value in env.items() if value is None]):
        draft.entry["env"] = {name: value for name, value in env.items() if value is not None}
        draft.notes.append(f"it takes {', '.join(unset)} away, which hel never passes on by itself")
    if isinstance(env, dict):
        draft.entry["env"] = {
            name: str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
            for name, value in draft.entry["env"].items()
        }
    draft.copy("oauth")
    _env_file(draft)
    dev = draft.take("dev")
    if isinstance(dev, dict) and dev.get("watch"):
        draft.notes.append("`dev.watch` is not taken over")
    draft.leave("gallery", "version")


def zed(draft: Draft, editor: Editor) -> None:
    """Zed: a command of its own or an object of path, args and env. Servers of extensions have neither."""
    command = draft.take("command")
    if isinstance(command, dict):
        inner = Draft(draft.name, command, draft.entry, draft.notes)
        inner.copy("path", "command")
        for key in ("args", "env"):
            inner.copy(key)
        inner.leave("timeout")
    else:
        draft.put("command", filled(draft, "command", command, editor.fill))
    for key in ("args", "env", "url", "headers"):
        draft.copy(key)
    draft.switch(on="enabled")
    draft.leave("source", "settings", "remote")


def is_of_extension(raw: Any) -> bool:
    """Whether an entry of Zed only has settings for a server that an extension brings."""
    return isinstance(raw, dict) and not raw.get("command") and not raw.get("url")


def _env_file(draft: Draft) -> None:
    if isinstance(path := draft.take("envFile"), str):
        draft.notes.append(f"its variables in {path} are not read by hel: name them in `env`")
