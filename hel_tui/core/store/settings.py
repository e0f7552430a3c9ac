"""Settings from the person's `config.toml` and the project's `.hel/config.toml`.

A value that cannot be used is left out with a note; nothing here fails. A project's file can only tighten
until the project is trusted. Not here: what hel remembers by itself (memory), rule syntax (permissions).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.protocol import ACCESS_LEVELS, AccessLevel
from hel_tui.core.store.places import Places, project_settings
from hel_tui.core.store.reading import Unreadable, read_plain
from hel_tui.core.store.toml import BadToml, parse_toml
from hel_tui.core.values import dataclass

SettingsScope = Literal["user", "project"]
_NAMED = 10
"""Unknown keys that are named; more are counted."""
_SHOWN = 60
"""Characters of a key that are shown."""
_MOST = 10**9


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set, with defaults for what is not."""

    model: str = ""
    """`PROVIDER/NAME`; empty when not set."""
    base_url: str = ""
    access: AccessLevel = "confirm"
    tools: tuple[str, ...] | None = None
    """The built-ins offered to the model; None means all."""
    max_steps: int = 50
    theme: str = ""
    inventory_budget: int = 2000
    """Tokens the list of unloaded tools may take in the system prompt."""
    network: bool = True
    """Whether sandboxed commands reach the network."""
    on_list_changed: Literal["refresh", "ignore"] = "refresh"
    """What a server's word that its tools changed leads to, where its entry does not say."""
    loading: Literal["deferred", "eager"] = "deferred"
    """Whether the model loads tools of servers as it needs them, or has all definitions in every request."""
    naming: Literal["hash", "exclude"] = "hash"
    """What becomes of a tool whose name providers do not take: a name with a hash, or it is not offered."""
    vision: bool | None = None
    """Whether the model takes images; None leaves it to its name and its endpoint."""
    parallel_calls: bool | None = None
    """Whether the model may make several calls in one answer; None leaves it to its provider."""
    fallback_model: str = ""
    """`PROVIDER/NAME` that answers the rest of a turn when the model cannot be reached; empty for none."""
    effort: str = ""
    """How hard the model is to think; empty leaves it to its provider."""
    context_window: int = 0
    """Tokens the model's window has; 0 leaves it to its name and its endpoint."""


@dataclass(frozen=True, slots=True)
class RuleTexts:
    """Permission rules as one file has them, not yet parsed."""

    scope: SettingsScope
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsNote:
    """Something in a settings file that was left out. `line` is from 1; 0 when the whole file is meant."""

    file: Path
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}{f':{self.line}' if self.line else ''}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Loosening:
    """What a project's file sets beyond tightening, as far as it can be used."""

    file: Path
    sha256: str
    """Of the very bytes that were parsed."""
    lines: tuple[str, ...]
    """As TOML, one setting a line."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    settings: Settings = field(default_factory=Settings)
    rules: tuple[RuleTexts, ...] = ()
    notes: tuple[SettingsNote, ...] = ()
    loosening: Loosening | None = None
    """What the project's file loosens, or would if it were trusted; None when it only tightens."""


class _Bad(Exception):
    """A value that cannot be used; the text says what is expected."""


def load_settings(project: Path, places: Places, *, project_is_trusted: bool = False) -> LoadedSettings:
    """Read both files. The project's values win where they may: always when trusted, else only to tighten.

    Untrusted, a project can lower the access level, `max_steps`, `inventory_budget` and `context_window`,
    switch `network`, `vision` and `parallel_calls` off, narrow `tools`, leave tools out by `naming`, and add
    `ask` and `deny` rules; everything else of its file is left out with one note.
    """
    notes: list[SettingsNote] = []
    user, user_rules, _ = _read(places.user_settings, "user", notes)
    settings = replace(Settings(), **user)
    file = project_settings(project)
    values, project_rules, data = _read(file, "project", notes)
    tight, refused = _tighten(settings, values)
    loose = {name: values[name] for name in refused}
    if project_rules.allow:
        loose["permissions.allow"] = project_rules.allow
    loosening = _loosening(file, data, loose) if loose else None
    if not project_is_trusted:
        values, project_rules = tight, replace(project_rules, allow=())
    if loosening is not None and not project_is_trusted:
        names = ", ".join(f"`{name}`" for name in loose)
        sentence = f"{names} left out: the project's settings can only tighten until you approve them."
        notes.append(SettingsNote(file, 0, sentence))
    rules = (user_rules, project_rules)
    return LoadedSettings(replace(settings, **values), rules, tuple(notes), loosening)


def _loosening(file: Path, data: bytes, loose: Mapping[str, Any]) -> Loosening:
    import hashlib  # brings OpenSSL, and few projects loosen anything

    lines = tuple(f"{name} = {_written(value)}" for name, value in loose.items())
    return Loosening(file, hashlib.sha256(data).hexdigest(), lines)


def _written(value: Any) -> str:
    """A value as TOML, on one line; JSON's strings, numbers and lists of texts are TOML's too."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _tighten(settings: Settings, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return those values of a project that only tighten `settings`, and the names of the others."""
    kept: dict[str, Any] = {}
    refused: list[str] = []
    for name, value in values.items():
        now = getattr(settings, name)
        if name == "tools" and now is not None:
            kept[name] = tuple(tool for tool in value if tool in now)
        elif value == now or (name in _TIGHTENS and _TIGHTENS[name](value, now)):
            kept[name] = value
        else:
            refused.append(name)
    return kept, refused


_TIGHTENS: dict[str, Callable[[Any, Any], bool]] = {
    "access": lambda value, now: ACCESS_LEVELS.index(value) <= ACCESS_LEVELS.index(now),
    "max_steps": lambda value, now: value <= now,
    "network": lambda value, _now: not value,
    "on_list_changed": lambda value, _now: value == "ignore",
    "loading": lambda value, _now: value == "deferred",
    "naming": lambda value, _now: value == "exclude",
    "inventory_budget": lambda value, now: value <= now,
    "vision": lambda value, _now: not value,
    "parallel_calls": lambda value, _now: not value,
    "context_window": lambda value, now: value <= (now or value),
    "tools": lambda _value, _now: True,
}


# --------------------------------------------------------------- one file


def _read(
    path: Path, scope: SettingsScope, notes: list[SettingsNote]
) -> tuple[dict[str, Any], RuleTexts, bytes]:
    """Return what one file sets, its rules, and the bytes they were read from."""
    data, sentence = _data_of(path, path.parent.parent if scope == "project" else None)
    text = ""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        sentence = "not read: it is not UTF-8."
    if sentence:
        notes.append(SettingsNote(path, 0, sentence))
    try:
        document = parse_toml(text)
    except BadToml as bad:
        notes.append(SettingsNote(path, bad.line, f"not read, {bad}."))
        return {}, RuleTexts(scope), data
    values: dict[str, Any] = {}
    rules: dict[str, tuple[str, ...]] = {}
    unknown: list[str] = []
    for key, value in document.items():
        if key == "permissions":
            rules = _rules_of(value, path, text, notes, unknown)
        elif key not in _READERS:
            unknown.append(key)
        else:
            try:
                values[key] = _READERS[key](value)
            except _Bad as bad:
                notes.append(SettingsNote(path, _line_of(text, key), f"`{key}` left out: {bad}."))
    if unknown:
        notes.append(SettingsNote(path, _line_of(text, unknown[0]), _unknown_sentence(unknown)))
    return values, RuleTexts(scope, **rules), data


def _data_of(path: Path, within: Path | None) -> tuple[bytes, str]:
    """Return the bytes of a settings file, and a sentence when there is one that cannot be used."""
    data = read_plain(path, within=within)
    if data is None:
        return b"", ""
    return (b"", f"not read: {data.sentence}") if isinstance(data, Unreadable) else (data, "")


def _rules_of(
    value: Any, path: Path, text: str, notes: list[SettingsNote], unknown: list[str]
) -> dict[str, tuple[str, ...]]:
    rules: dict[str, tuple[str, ...]] = {}
    if not isinstance(value, dict):
        notes.append(
            SettingsNote(path, _line_of(text, "permissions"), "`permissions` left out: it must be a table.")
        )
        return rules
    for key, texts in value.items():
        if key not in ("allow", "ask", "deny"):
            unknown.append(f"permissions.{key}")
            continue
        try:
            rules[key] = _texts(texts)
        except _Bad as bad:
            line = _line_of(text, key, table="permissions")
            notes.append(SettingsNote(path, line, f"`permissions.{key}` left out: {bad}."))
    return rules


def _unknown_sentence(unknown: list[str]) -> str:
    known = [*_READERS, "permissions.allow", "permissions.ask", "permissions.deny"]
    parts = []
    for name in unknown[:_NAMED]:
        near = difflib.get_close_matches(name[:_SHOWN], known, 1)
        parts.append(f"`{name[:_SHOWN]}`" + (f" (did you mean `{near[0]}`?)" if near else ""))
    if len(unknown) > _NAMED:
        parts.append(f"and {len(unknown) - _NAMED:,} more")
    return f"unknown and left out: {', '.join(parts)}."


def _line_of(text: str, key: str, table: str = "") -> int:
    """Return the line on which `key` is set or its table begins; 0 when it cannot be told."""
    here = ""
    head, _, rest = key.partition(".")
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            here = bare.strip("[] ").partition("]")[0]
            if not table and here.partition(".")[0] == head and not rest:
                return number
        elif re.match(rf'["\']?{re.escape(rest or head)}["\']?\s*[=.]', bare) and here == (
            head if rest else table
        ):
            return number
    return 0


# ----------------------------------------------------------------- values


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Bad("it must be text in quotes")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Bad('it must be a list of texts, such as ["a", "b"]')
    return tuple(value)


def _positive(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
        raise _Bad(f"it must be a whole number above 0, at most {_MOST:,}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Bad("it must be true or false")
    return value


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            words = ", ".join(filter(None, choices)) + (", or empty" if "" in choices else "")
            raise _Bad(f"it must be one of {words}")
        return str(value)

    return read


def _model(value: Any) -> str:
    text = _text(value)
    if text and "/" not in text:
        raise _Bad("it must be PROVIDER/NAME, such as openai/gpt-5")
    return text


def _url(value: Any) -> str:
    text = _text(value)
    if text and not re.match(r"https?://[^/\s]", text):
        raise _Bad("it must be a URL that begins with http:// or https://")
    return text


_READERS: dict[str, Callable[[Any], Any]] = {
    "model": _model,
    "base_url": _url,
    "access": _one_of(*ACCESS_LEVELS),
    "tools": _texts,
    "max_steps": _positive,
    "theme": _text,
    "inventory_budget": _positive,
    "network": _flag,
    "on_list_changed": _one_of("refresh", "ignore"),
    "loading": _one_of("deferred", "eager"),
    "naming": _one_of("hash", "exclude"),
    "vision": _flag,
    "parallel_calls": _flag,
    "fallback_model": _model,
    "effort": _one_of("", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "context_window": _positive,
}
