"""Values for `${keyring:NAME}`: read without echo or from stdin, kept, forgotten. `hel mcp secret`.

Not here: where they are kept (core.store.secrets).
"""

from __future__ import annotations

import argparse
import getpass
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hel_tui.cli import streams
from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground, note, print_json, say
from hel_tui.core.store.atomic import NotWritten
from hel_tui.core.store.redact import looks_like_secret
from hel_tui.core.store.secrets import FILE, forget_value, is_name, keep_value, kept_value
from hel_tui.core.vocabulary import Json

_SCHEME = re.compile(r"(?:Bearer|Basic|Token) +", re.IGNORECASE)
LONGEST = 60_000
"""Characters of a value."""


@dataclass(slots=True)
class Secret:
    """A value to be kept. `asked` is what a person is asked for by."""

    name: str
    asked: str
    value: str = ""
    is_new: bool = False
    """Nothing was kept under this name before."""

    @classmethod
    def of(cls, server: str, field: str, value: str = "") -> Secret:
        """The secret of a server's variable or header."""
        return cls(re.sub(r"[^A-Za-z0-9_.-]", "-", f"{server}.{field}"), field, value)

    @property
    def reference(self) -> str:
        """What stands for the value in a server file."""
        return f"${{keyring:{self.name}}}"


class Reader:
    """Where values come from: the terminal without echo, else stdin: a line each where there are several."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lines: list[str] | None = None

    def __call__(self, asked: str) -> str:
        """The next value; empty when there is none."""
        if sys.stdin.isatty():
            return getpass.getpass(f"{asked}: ", stream=sys.stderr)
        if self._lines is None:
            given = streams.read_all().replace("\r\n", "\n").removesuffix("\n")
            self._lines = [given] if self._count == 1 else given.split("\n")
        return self._lines.pop(0) if self._lines else ""


def set_apart(server: str, entry: Json) -> tuple[Json, list[Secret]]:
    """Return the entry with references in the place of credentials that are written out, and those."""
    secrets: list[Secret] = []
    apart = dict(entry)
    for key in ("env", "headers"):
        values = entry.get(key)
        for name, value in values.items() if isinstance(values, dict) else ():
            if not isinstance(value, str) or not looks_like_secret(name, value):
                continue
            scheme = _SCHEME.match(value) if key == "headers" else None
            before = scheme[0] if scheme is not None else ""
            secrets.append(Secret.of(server, name, value[len(before) :]))
            apart[key] = {**apart[key], name: f"{before}{secrets[-1].reference}"}
    return apart, secrets


def keep(secrets: Sequence[Secret], state: Path, *, force: bool) -> list[str] | str:
    """Read what has no value yet and keep it. Returns a sentence for each, or one on what went wrong."""
    read = Reader(sum(not secret.value for secret in secrets))
    for secret in secrets:
        before = kept_value(secret.name, state)
        secret.value = secret.value or read(secret.asked)
        secret.is_new = before is None
        if not secret.value:
            return f"no value was given for {secret.asked}; nothing was changed"
        if len(secret.value) > LONGEST:
            return f"the value of {secret.asked} is too long; nothing was changed"
        if before not in (None, secret.value) and not force:
            return (
                f"another value is kept as {secret.name} already: --force replaces it, and "
                f"'{secret.asked}={secret.reference}' in the place of --secret uses it"
            )
    said = []
    for secret in secrets:
        where = keep_value(secret.name, secret.value, state)
        if isinstance(where, NotWritten):
            take_back(secrets, state)
            return where.sentence
        said.append(f"Its {secret.asked} is kept {_place(where, state)}, as {secret.name}.")
    return said


def take_back(secrets: Sequence[Secret], state: Path) -> None:
    """Forget what was only now kept."""
    for secret in secrets:
        if secret.is_new:
            forget_value(secret.name, state)


def _place(where: str, state: Path) -> str:
    return "in the system's keyring" if where == "keyring" else f"in {state / FILE} (no keyring can be used)"


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp secret`; returns the exit status."""
    name, state = args.entry, ground.places.state
    if inside := re.fullmatch(r"\$\{keyring:(.*)\}", name):
        name = inside[1]
    if not is_name(name):
        return ground.sorry(
            f'the name "{name[:60]}" may have only letters, digits, "_", "." and "-"', Exit.USAGE
        )
    if args.action == "remove":
        gone = forget_value(name, state)
        if isinstance(gone, NotWritten):
            return ground.sorry(gone.sentence)
        if not gone:
            return ground.sorry(f"nothing is kept as {name}")
    else:
        kept = keep([Secret(name, name)], state, force=True)
        if isinstance(kept, str):
            return ground.sorry(kept)
    users = users_of(name, ground)
    if args.json:
        print_json({"name": name, "action": args.action, "used_by": users})
        return Exit.DONE
    say(f"Forgotten: {name}." if args.action == "remove" else kept[0].replace(f"Its {name} is kept", "Kept"))
    if users and args.action == "remove":
        note(f"Still in use by {', '.join(users)}, which will not start without it.")
    return Exit.DONE


def users_of(name: str, ground: Ground) -> list[str]:
    """The configured servers that refer to this value."""
    written = f"${{keyring:{name}}}"
    return [entry.name for entry in ground.configuration.entries if written in str(entry.definition)]
