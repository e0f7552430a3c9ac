"""From one entry of a server file, as parsed, to a `ServerEntry` or the reason why not.

Each entry is judged alone. Not here: files and precedence (config), what is said of a valid one (remarks),
variables (expand).
"""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

from hel_tui.core.mcp.auth.settings import InvalidSettings, read_settings
from hel_tui.core.mcp.entries import (
    DEFAULT_STARTUP_TIMEOUT,
    DEFAULT_TIMEOUT,
    OnListChanged,
    Protocol,
    Scope,
    ServerEntry,
    Transport,
)
from hel_tui.core.mcp.remarks import FLAGS, SWITCHES, in_own_names, remarks
from hel_tui.core.protocol import LogLevel
from hel_tui.core.store.redact import redact_shapes
from hel_tui.foreign import whole_characters

MAX_SERVER_NAME = 32
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_SERVER_NAME}}}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "sse": "sse",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A valid entry and remarks on it."""

    entry: ServerEntry
    notes: tuple[str, ...] = ()


class Invalid(Exception):
    """The entry cannot be used. `field` is where; the text is a sentence that names it."""

    def __init__(self, sentence: str, *field: str | int) -> None:
        super().__init__(sentence)
        self.field = field


def server_name_problem(name: str) -> str:
    """Return what is wrong with a server's name as a sentence; empty when it is a good one."""
    if not name:
        return "a server needs a name."
    if len(name) > MAX_SERVER_NAME:
        return f'the server name "{name[:40]}…" is longer than {MAX_SERVER_NAME} characters.'
    if not _NAME.fullmatch(name):
        return f'the server name "{name}" may have only letters, digits, "-" and "_".'
    if "__" in name:
        return f'the server name "{name}" must not contain "__": it divides server and tool.'
    return ""


def judge(name: str, raw: Any, scope: Scope, file: Path, default_cwd: Path) -> Judged:
    """Return the entry `name` with its remarks. Raises Invalid with a sentence that names the field."""
    problem = server_name_problem(name)
    if problem:
        raise Invalid(problem)
    if not isinstance(raw, dict):
        raise Invalid(f"the entry must be an object, not {_kind(raw)}.")
    definition, raw = raw, in_own_names(raw)
    notes: list[str] = []
    enabled = _enabled(raw, notes)
    transport = _transport(raw, must_start=enabled)
    env, headers = _pairs(raw, "env"), _pairs(raw, "headers")
    _check_names(env, headers)
    include, exclude = _globs(raw)
    entry = ServerEntry(
        name,
        scope,
        file,
        transport,
        definition,
        command=_text(raw, "command"),
        args=_texts(raw, "args"),
        env=env,
        cwd=_text(raw, "cwd"),
        default_cwd=default_cwd,
        url=_url(raw),
        headers=headers,
        timeout=_seconds(raw, "timeout", DEFAULT_TIMEOUT),
        startup_timeout=_seconds(raw, "startup_timeout", DEFAULT_STARTUP_TIMEOUT),
        enabled=enabled,
        include=include,
        exclude=exclude,
        on_list_changed=_word(raw, "on_list_changed", OnListChanged, None),
        protocol=_word(raw, "protocol", Protocol, "auto"),
        log_level=_word(raw, "log_level", LogLevel, None),
        watch=_texts(raw, "watch"),
        headers_helper=_command(raw, "headersHelper"),
        oauth=_oauth(raw, is_used=transport != "stdio"),
        ca=_text(raw, "ca"),
        **{key: _flag(raw, key) for key in FLAGS if key in raw},
    )
    notes += remarks(entry, raw)
    return Judged(entry, tuple(notes))


# ------------------------------------------------------------- whole entry


def _transport(raw: dict[str, Any], *, must_start: bool) -> Transport:
    """Tell the transport by `type`, else by which of `command` and `url` is there."""
    has = [key for key in ("command", "url") if raw.get(key) not in (None, "")]
    if len(has) == 2:
        raise Invalid("`command` and `url` are both given; an entry has one of them.", "url")
    kind = raw.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in _TRANSPORTS):
        known = ", ".join(f'"{each}"' for each in _TRANSPORTS)
        raise Invalid(f"`type` must be one of {known}, not {_shown(kind)}.", "type")
    if not has and must_start:
        if "url" in raw or (kind and kind != "stdio"):
            raise Invalid("`url` is missing or empty.", "url")
        if "command" in raw or kind:
            raise Invalid("`command` is missing or empty.", "command")
        raise Invalid("neither `command` nor `url` is given; an entry needs one of them.")
    told: Transport = "http" if has == ["url"] else "stdio"
    if kind is None:
        return told
    transport = _TRANSPORTS[kind]
    if has and (transport == "stdio") != (told == "stdio"):
        raise Invalid(f'`type` is "{kind}", but `{has[0]}` is given.', "type")
    return transport


def _enabled(raw: dict[str, Any], notes: list[str]) -> bool:
    """Off if either switch says off; a switch that is not true or false is read as off, with a remark."""
    on = True
    for key in SWITCHES:
        if key not in raw:
            continue
        value = raw[key]
        if not isinstance(value, bool):
            word = str(value).strip().lower()
            meant = {"true": True, "false": False}.get(word) if isinstance(value, str) else None
            value = (key == "disabled") if meant is None else meant
            read = "switched off" if value == (key == "disabled") else "on"
            notes.append(f"`{key}` should be true or false, not {_shown(raw[key])}; read as {read}.")
        if value == (key == "disabled"):
            on = False
    return on


# ------------------------------------------------------------ single fields


def _kind(value: Any) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (str, "text"),
        (dict, "an object"),
        (list, "a list"),
        (int, "a number"),
        (float, "a number"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _shown(value: Any) -> str:
    return f'"{value[:40]}"' if isinstance(value, str) else _kind(value)


def _checked(value: Any, what: str, *field: str | int) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text, not {_kind(value)}.", *field)
    if whole_characters(value) != value:
        raise Invalid(f"{what} must not hold half a character (a lone surrogate).", *field)
    if "\x00" in value:
        raise Invalid(f"{what} must not hold a NUL character.", *field)
    return value


def _text(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key, "")
    if key == "command" and isinstance(value, list):
        raise Invalid("`command` must be text, not a list; what follows the program goes into `args`.", key)
    return "" if value is None else _checked(value, f"`{key}`", key)


def _command(raw: dict[str, Any], key: str) -> str:
    """A command line whose words can be told apart; a variable in it is part of one word."""
    line = _text(raw, key)
    try:
        words = shlex.split(line)
    except ValueError:
        raise Invalid(f"`{key}` has a quote that is not closed, or ends with a backslash.", key) from None
    if line and not words:
        raise Invalid(f"`{key}` is empty.", key)
    return line


def _texts(raw: dict[str, Any], key: str, within: str = "") -> tuple[str, ...]:
    value = raw.get(key)
    name = f"{within}{key}"
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Invalid(f"`{name}` must be a list of texts, not {_kind(value)}.", key)
    return tuple(_checked(item, f"`{name}[{at}]`", key, at) for at, item in enumerate(value))


def _pairs(raw: dict[str, Any], key: str) -> tuple[tuple[str, str], ...]:
    value = raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise Invalid(f"`{key}` must be an object of texts, not {_kind(value)}.", key)
    return tuple((name, _checked(item, f"`{key}.{name}`", key, name)) for name, item in value.items())


def _check_names(env: tuple[tuple[str, str], ...], headers: tuple[tuple[str, str], ...]) -> None:
    for name, _ in env:
        if not name or "=" in name or "\x00" in name:
            raise Invalid(f'`env` has the name "{name}", which no variable can have.', "env", name)
    for name, value in headers:
        if not _HEADER.fullmatch(name):
            raise Invalid(f'`headers` has the name "{name}", which no header can have.', "headers", name)
        if "\n" in value or "\r" in value:
            raise Invalid(f"`headers.{name}` must be one line.", "headers", name)


def _seconds(raw: dict[str, Any], key: str, default: float) -> float:
    value = raw.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid(f"`{key}` must be a number of seconds, not {_kind(value)}.", key)
    if not value > 0 or value > 1e9 or not math.isfinite(value):
        raise Invalid(f"`{key}` must be a positive number of seconds.", key)
    return float(value)


def _flag(raw: dict[str, Any], key: str) -> bool:
    value = raw[key]
    if not isinstance(value, bool):
        raise Invalid(f"`{key}` must be true or false, not {_shown(value)}.", key)
    return value


def _globs(raw: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    tools = raw.get("tools")
    if tools is None:
        return (), ()
    if not isinstance(tools, dict):
        raise Invalid(f"`tools` must be an object with `include` or `exclude`, not {_kind(tools)}.", "tools")
    return _texts(tools, "include", "tools."), _texts(tools, "exclude", "tools.")


def _word(raw: dict[str, Any], key: str, kind: Any, default: Any) -> Any:
    """One of the words of a Literal."""
    value = raw.get(key)
    if value is None:
        return default
    if value not in get_args(kind):
        known = ", ".join(f'"{each}"' for each in get_args(kind))
        raise Invalid(f"`{key}` must be one of {known}, not {_shown(value)}.", key)
    return value


def _oauth(raw: dict[str, Any], *, is_used: bool) -> dict[str, Any] | bool | None:
    value = raw.get("oauth")
    if value is not None and not isinstance(value, bool | dict):
        raise Invalid(f"`oauth` must be an object, or false, not {_kind(value)}.", "oauth")
    if is_used:
        try:
            read_settings(value, as_written=True)
        except InvalidSettings as problem:
            raise Invalid(str(problem), *filter(None, ("oauth", problem.field))) from None
    return value


def _url(raw: dict[str, Any]) -> str:
    """Check what can be known before variables are filled in: scheme and host."""
    url = _text(raw, "url")
    fixed = url.partition("${")[0]
    if not url or (fixed != url and "://" not in fixed):
        return url
    if any(character <= " " for character in url):
        raise Invalid("`url` must not hold spaces or control characters.", "url")
    try:
        parts = urlsplit(url if fixed == url else fixed + "x")
        host, _ = parts.hostname, parts.port if fixed == url else None
    except ValueError:
        raise Invalid(f'`url` is not a URL: "{redact_shapes(url)[:80]}".', "url") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Invalid(
            f'`url` must begin with http:// or https:// and a host, not "{redact_shapes(url)[:80]}".', "url"
        )
    return url
