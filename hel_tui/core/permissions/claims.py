"""What the trust dialog shows of one server: its definition laid open, its secrets not.

Not here: whether it is trusted (trust), how it is drawn (a screen).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hel_tui.core.permissions.programs import program_hashes
from hel_tui.core.permissions.risks import command_risks, url_risks
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.expansion import expand
from hel_tui.core.store.redact import MARK, looks_like_secret, mask_value, redact_shapes
from hel_tui.core.vocabulary import Json


class Claimed(Protocol):
    """A configured server, as much of it as trust is about."""

    @property
    def name(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def file(self) -> Path: ...
    @property
    def definition(self) -> Json: ...
    @property
    def command(self) -> str: ...
    @property
    def args(self) -> tuple[str, ...]: ...
    @property
    def env(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def cwd(self) -> str: ...
    @property
    def default_cwd(self) -> Path: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def enabled(self) -> bool: ...


def claim(entry: Claimed, project: Path, environ: Mapping[str, str]) -> tuple[ServerClaim, dict[str, str]]:
    """Return what to show of `entry`, and the hashes of the programs it names inside the project.

    The command line is as written, so that variables are seen; what it resolves to and the risks are told
    with variables filled in.
    """

    def fill(text: str) -> str:
        filled = expand(text, environ)[0]
        home = environ.get("HOME") or str(Path.home())
        return home + filled[1:] if filled == "~" or filled.startswith("~/") else filled

    cwd = Path(os.path.normpath(entry.default_cwd / fill(entry.cwd)))
    env = tuple((name, fill(value)) for name, value in entry.env)
    if entry.url:
        risks, programs, resolved = url_risks(fill(entry.url)), {}, ""
    else:
        command, args = fill(entry.command), tuple(fill(arg) for arg in entry.args)
        path = dict(env).get("PATH") or environ.get("PATH", os.defpath)
        resolved = shutil.which(str(cwd / command) if "/" in command else command, path=path) or ""
        programs = program_hashes(command, args, cwd, project)
        risks = command_risks(command, args, env, cwd, project)
    if project == Path(os.path.realpath(fill("~"))):
        risks = ("this is your home folder, not a project: its file is not part of a repository", *risks)
    shown = ServerClaim(
        entry.name,
        entry.scope,
        str(entry.file),
        redact_shapes(entry.url) if entry.url else command_line(entry.command, entry.args),
        resolved,
        "" if entry.url else str(cwd),
        tuple((name, mask_value(value)) for name, value in (*entry.env, *entry.headers)),
        risks,
    )
    return shown, programs


def command_line(command: str, args: Sequence[str]) -> str:
    """Return the whole command line, quoted for a shell, with credentials masked."""
    return shlex.join(_masked_words((command, *args)))


def masked_definition(entry: Claimed) -> str:
    """Return the definition as pretty JSON with credentials masked: kept for the diff at the next change."""
    return json.dumps(_masked(entry.definition), indent=2, ensure_ascii=False)


def _masked_words(words: Sequence[str]) -> Iterator[str]:
    """Mask credentials by their shape, and by the option they follow, as in `--token VALUE`."""
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if option and not word.startswith("-") and looks_like_secret(option, word):
            yield MARK
        elif equals and looks_like_secret(name, value):
            yield f"{name}={MARK}"
        else:
            yield redact_shapes(word)
        option = word.lstrip("-") if word.startswith("-") and not equals else ""


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        return MARK if looks_like_secret(name, value) else redact_shapes(value)
    if isinstance(value, dict):
        return {key: _masked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        texts = all(isinstance(item, str) for item in value)
        return list(_masked_words(value)) if texts else [_masked(item) for item in value]
    return value
