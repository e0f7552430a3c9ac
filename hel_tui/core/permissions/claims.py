"""What the trust dialog shows of one server: its definition laid open, its secrets not.

Not here: whether it is trusted (trust), how it is drawn (a screen).
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from hel_tui.core.permissions.oauth import login_risks, shown_setting
from hel_tui.core.permissions.programs import program_hashes
from hel_tui.core.permissions.risks import command_risks, url_risks
from hel_tui.core.permissions.shown import Unfilled, shown_secret, shown_variable, shown_words
from hel_tui.core.protocol import ServerClaim
from hel_tui.core.store.expansion import expand, expand_home
from hel_tui.core.store.lookup import find_program, search_path, start_folder
from hel_tui.core.store.redact import MARK, looks_like_secret, redact_shapes
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
    def headers_helper(self) -> str: ...
    @property
    def oauth_settings(self) -> tuple[tuple[str, str, Any], ...]:
        """What `oauth` says: hel's name of each key, the key as written, its value."""

    @property
    def insecure(self) -> bool: ...
    @property
    def ca(self) -> str: ...
    @property
    def sampling(self) -> bool: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def trust_annotations(self) -> bool: ...
    @property
    def always_load(self) -> bool: ...
    @property
    def watch(self) -> tuple[str, ...]: ...
    @property
    def identity(self) -> str:
        """A hash of its file and definition."""


def claim(entry: Claimed, project: Path, environ: Mapping[str, str]) -> tuple[ServerClaim, dict[str, str]]:
    """Return what to show of `entry`, and the hashes of the programs it names inside the project.

    The command line is as written, so that variables are seen; what it resolves to and the risks are told
    with variables filled in, secret ones excepted.
    """

    def fill(text: str) -> str:
        return expand(text, environ)[0]

    oauth = entry.oauth_settings if entry.url else ()
    settings = [value for _, _, value in oauth if isinstance(value, str)]
    texts = (*_program(entry), entry.url, entry.ca, entry.cwd, *dict(entry.env).values(), *settings)
    unfilled = Unfilled(" ".join(texts), environ)
    cwd = start_folder(fill(entry.cwd), entry.default_cwd, environ)
    env = tuple((name, fill(value)) for name, value in entry.env)
    written = _program(entry)
    risks: tuple[str, ...] = url_risks(fill(entry.url)) if entry.url else ()
    programs: dict[str, str] = {}
    resolved = ""
    if written:
        command, args = expand_home(fill(written[0]), environ), tuple(fill(arg) for arg in written[1:])
        resolved = find_program(command, cwd, search_path({**environ, **dict(env)}))
        programs = program_hashes(resolved or command, args, cwd, project)
        risks += command_risks(command, args, env, cwd, project)
    risks = (*_liberties(entry), *map(unfilled, (*login_risks(oauth, fill), *risks)))
    if project == Path(os.path.realpath(expand_home("~", environ))):
        risks = ("this is your home folder, not a project: its file is not part of a repository", *risks)
    shown = ServerClaim(
        entry.name,
        entry.scope,
        str(entry.file),
        _line(entry, written),
        unfilled(resolved),
        unfilled(str(cwd)) if written else "",
        (
            *((name, shown_variable(name, value, written)) for name, value in entry.env),
            *((name, shown_secret(value)) for name, value in entry.headers),
            *((f"oauth.{key}", shown_setting(name, key, value)) for name, key, value in oauth),
        ),
        risks,
    )
    return shown, {unfilled(path): digest for path, digest in programs.items()}


def _program(entry: Claimed) -> tuple[str, ...]:
    """The program the entry has run: the server itself, or what makes the headers of a remote one."""
    if not entry.url:
        return (entry.command, *entry.args)
    try:
        return tuple(shlex.split(entry.headers_helper))
    except ValueError:  # it cannot be run as it is; shown all the same
        return (entry.headers_helper,)


def _line(entry: Claimed, written: tuple[str, ...]) -> str:
    line = shlex.join(shown_words(written)) if written else ""
    if not entry.url:
        return line
    url = redact_shapes(entry.url)
    return f"{url}\nheadersHelper: {line}" if line else url


def _liberties(entry: Claimed) -> Iterator[str]:
    """Say what the file lets the server do beyond being started."""
    if entry.url and entry.headers_helper:
        yield "headersHelper: a program of this machine is run to make its headers"
    if entry.url and entry.insecure:
        yield "insecure: whoever stands between you and the server can read and change everything"
    if entry.url and entry.ca:
        yield f"ca: trusts the certificates in {redact_shapes(entry.ca)}"
    if entry.sampling:
        yield "sampling: it may ask your model, each time after your word"
    if entry.trust_annotations:
        yield "trust_annotations: what it calls read-only runs unasked, even at access level read-only"
    if entry.always_load:
        yield "always_load: what it says of its tools reaches the model in every request, unasked"
    if entry.watch and not entry.url:
        globs = redact_shapes(", ".join(entry.watch))
        yield f"watch: it is started anew, unasked, whenever a file changes that matches {globs}"


def masked_definition(entry: Claimed) -> str:
    """Return the definition as pretty JSON, masked as the claim is: kept for the diff at the next change."""
    shown = {key: _shown(entry, key, value) for key, value in entry.definition.items()}
    return json.dumps(shown, indent=2, ensure_ascii=False)


def _shown(entry: Claimed, key: str, value: Any) -> Any:
    match key:
        case "command" | "cwd":
            return value
        case "args":
            return shown_words((entry.command, *entry.args))[1:]
        case "headersHelper" if isinstance(value, str):
            return shlex.join(shown_words(_program(entry))) if entry.url else redact_shapes(value)
        case "env" if isinstance(value, dict):
            written = dict(entry.env)
            words = _program(entry)
            return {name: shown_variable(name, written.get(name, ""), words) for name in value}
        case "oauth" if isinstance(value, dict):
            return {key: shown_setting(name, key, said) for name, key, said in entry.oauth_settings}
        case _:
            return _masked(value)


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        return MARK if looks_like_secret(name, value) else redact_shapes(value)
    if isinstance(value, dict):
        return {key: _masked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item) for item in value]
    return value
