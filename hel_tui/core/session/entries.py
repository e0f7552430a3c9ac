"""How one server is configured, as a screen shows it: laid open, its secrets not.

Computed when it is asked for; starts nothing and asks no keyring. Not here: reading files (mcp.config), what
trust shows before a start (permissions.claims).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from hel_tui.core.mcp.entries import Launch, ServerEntry
from hel_tui.core.mcp.expand import expand_launch
from hel_tui.core.mcp.launching import child_environment
from hel_tui.core.permissions.claims import masked_definition
from hel_tui.core.protocol import EntryDetail, Variable
from hel_tui.core.store.expansion import expand
from hel_tui.core.store.lookup import find_program, search_path
from hel_tui.core.store.redact import command_line, looks_like_secret

HIDDEN = "••••••"
LENGTH = 300
"""Characters of a variable's value that are shown."""

_REFERENCE = re.compile(r"\$\{(?P<name>keyring:[A-Za-z0-9_.-]+|[A-Za-z_][A-Za-z0-9_]*)(?=\}|:-)")


@dataclass(frozen=True, slots=True)
class Standing:
    """What the session knows of an entry besides itself."""

    entry: ServerEntry
    trust: str
    shadows: tuple[str, ...] = ()
    """Files with an entry of the same name that does not count."""
    problems: tuple[str, ...] = ()


def entry_detail(standing: Standing, environ: Mapping[str, str], mask: Callable[[str], str]) -> EntryDetail:
    """Lay an entry open. `mask` hides what is known to be secret."""
    entry = standing.entry
    shown = {name: HIDDEN if _is_secret(name, value, mask) else value for name, value in environ.items()}
    names: tuple[str, ...] = ()
    line, resolved, cwd = _url(entry, shown), "", ""
    if entry.transport == "stdio":
        line, resolved, cwd, names = _program(entry, environ, shown)
    return EntryDetail(
        server=entry.name,
        scope=entry.scope,
        file=str(entry.file),
        text=mask(masked_definition(entry)),
        command_line=mask(line),
        resolved=mask(resolved),
        cwd=mask(cwd),
        env_names=names,
        variables=tuple(_variables(entry, environ, mask)),
        shadows=standing.shadows,
        watch=entry.watch,
        sha256=entry.identity,
        trust=standing.trust,
        problems=standing.problems,
    )


def _url(entry: ServerEntry, shown: Mapping[str, str]) -> str:
    return expand(entry.url, shown, lambda _name: HIDDEN)[0]


def _program(
    entry: ServerEntry, environ: Mapping[str, str], shown: Mapping[str, str]
) -> tuple[str, str, str, tuple[str, ...]]:
    """(command line, what it resolves to, cwd, names of the environment); empty where a variable is unset."""
    seen, real = (expand_launch(entry, values, lambda _name: HIDDEN) for values in (shown, environ))
    if not isinstance(seen, Launch) or not isinstance(real, Launch):
        return command_line(entry.command, entry.args), "", "", ()
    env = child_environment(real, environ)
    resolved = find_program(real.command, real.cwd, search_path(env))
    return command_line(seen.command, seen.args), resolved, str(seen.cwd), tuple(sorted(env))


def _places(entry: ServerEntry) -> Iterator[tuple[str, str]]:
    """Where an entry may use variables: (such as `env.API_KEY`, the text there)."""
    yield "command", entry.command
    yield from ((f"args.{number}", arg) for number, arg in enumerate(entry.args, 1))
    yield from ((f"env.{name}", value) for name, value in entry.env)
    yield "cwd", entry.cwd
    yield "url", entry.url
    yield from ((f"headers.{name}", value) for name, value in entry.headers)
    yield "headersHelper", entry.headers_helper
    yield "ca", entry.ca


def _variables(
    entry: ServerEntry, environ: Mapping[str, str], mask: Callable[[str], str]
) -> Iterator[Variable]:
    for where, text in _places(entry):
        for found in _REFERENCE.finditer(text):
            name = found["name"]
            yield Variable(name, where, *_value(name, where, text[found.start() :], environ, mask))


def _value(
    name: str, where: str, reference: str, environ: Mapping[str, str], mask: Callable[[str], str]
) -> tuple[str, Literal["environment", "default", "keyring", "unset"]]:
    """What the variable that `reference` begins with expands to, and where that is from."""
    if name.startswith("keyring:"):
        return HIDDEN, "keyring"
    reference = reference[: _end(reference)]
    set_to = environ.get(name)
    filled, missing = expand(reference, environ)
    if missing or (not set_to and set_to is None and ":-" not in reference):
        return "", "unset"
    field = where.partition(".")[2]
    is_hidden = where.startswith("headers") or any(_is_secret(one, filled, mask) for one in (name, field))
    value = HIDDEN if is_hidden and filled else filled[:LENGTH]
    return value, "environment" if set_to or ":-" not in reference else "default"


def _end(reference: str) -> int:
    """Where the reference ends that a text begins with: behind its own closing brace."""
    depth = 0
    for at, char in enumerate(reference):
        depth += (char == "{") - (char == "}")
        if char == "}" and depth == 0:
            return at + 1
    return len(reference)


def _is_secret(name: str, value: str, mask: Callable[[str], str]) -> bool:
    return looks_like_secret(name, value) or mask(value) != value
