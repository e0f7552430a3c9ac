"""`hel mcp add` and `hel mcp add-json`: a server written into a file, judged before as it will be read.

Not here: the edit itself (core.mcp.editing), values that are kept (keeping).
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field
from typing import Any

from hel_tui.cli import streams
from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.approving import confirmed
from hel_tui.cli.mcp.ground import Ground, note, print_json, say
from hel_tui.cli.mcp.keeping import Secret, keep, set_apart, take_back
from hel_tui.core.mcp import jsonc
from hel_tui.core.mcp.config import TOP_LEVEL
from hel_tui.core.mcp.editing import NotEdited, ServerFile, files_of, names_in, put_entries
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.validation import Invalid, Judged, judge
from hel_tui.core.store.expansion import expand_home
from hel_tui.core.store.lookup import find_program, search_path, start_folder

WHOSE = {
    "local": "this project, only you",
    "user": "all your projects",
    "project": "for everybody who has the project",
}


class Unusable(Exception):
    """What was typed makes no entry; the text is a sentence."""


@dataclass(slots=True)
class Draft:
    """An entry to be written, and the values of it that are kept elsewhere."""

    entry: dict[str, Any]
    secrets: list[Secret] = field(default_factory=list)


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp add` or `hel mcp add-json`; returns the exit status."""
    args.name = streams.as_text(args.name)
    try:
        draft = _from_json(args) if ground.command == "add-json" else _from_words(args)
    except Unusable as problem:
        return ground.sorry(str(problem), Exit.USAGE)
    file = files_of(args.scope, ground.project, ground.places)[0]
    judged = _judged(args, draft, file, ground)
    if isinstance(judged, str):
        return ground.sorry(judged, Exit.USAGE)
    there = names_in(file)
    if isinstance(there, NotEdited):
        return ground.sorry(there.sentence)
    if args.name in there and not args.force:
        return ground.sorry(f"{file.path} has a server named {args.name} already; --force replaces it")
    if args.scope == "project" and not args.json:
        _offer_keyring(args.name, draft)
    return _write(args, draft, file, ground)


def _write(args: argparse.Namespace, draft: Draft, file: ServerFile, ground: Ground) -> int:
    kept = keep(draft.secrets, ground.places.state, force=args.force)
    if isinstance(kept, str):
        return ground.sorry(kept)
    failed = put_entries(file, {args.name: draft.entry}, ground.places, replace=args.force)
    if failed is not None:
        take_back(draft.secrets, ground.places.state)
        return ground.sorry(failed.sentence)
    judged = _judged(args, draft, file, ground)
    for remark in judged.notes if isinstance(judged, Judged) else ():
        note(f"{args.name}: {remark}")
    if args.json:
        facts = {"name": args.name, "scope": args.scope, "file": str(file.path)}
        print_json({**facts, "kept": [secret.name for secret in draft.secrets]})
        return Exit.DONE
    say(f"Added {args.name} to {file.path} ({args.scope}: {WHOSE[args.scope]}).")
    for sentence in kept:
        say(sentence)
    _tell_what_else(args.name, file, ground)
    return Exit.DONE


def _judged(args: argparse.Namespace, draft: Draft, file: ServerFile, ground: Ground) -> Judged | str:
    """The entry as it will be read, or why it would not be."""
    cwd = file.path.parent if args.scope == "user" else ground.project
    try:
        return judge(args.name, draft.entry, args.scope, file.path, cwd)
    except Invalid as invalid:
        return str(invalid)


def _tell_what_else(name: str, file: ServerFile, ground: Ground) -> None:
    """What another file has of this name, and what comes next."""
    configuration = ground.read()
    winner = next((entry for entry in configuration.entries if entry.name == name), None)
    if winner is not None and winner.file != file.path:
        say(f"It is shadowed: {winner.file} ({winner.scope}) has that name, too, and counts.")
        return
    for lost, won in configuration.shadowed:
        if won is winner:
            say(f"It counts in place of the one in {lost.file} ({lost.scope}).")
    if winner is not None and (missing := _missing_program(winner)):
        note(f"{missing} is not found on your PATH as it is here; it is looked up when the server starts.")
    if file.scope == "project":
        say(f"hel asks about it before it runs; to approve it now: hel mcp trust {name}")
    else:
        say(f"To see what it has: hel mcp tools {name}")


def _missing_program(entry: ServerEntry) -> str:
    """The command of the entry when there is no such program; one with a variable in it is not judged."""
    if not entry.command or "$" in entry.command + entry.cwd:
        return ""
    cwd = start_folder(entry.cwd, entry.default_cwd, os.environ)
    path = search_path({**os.environ, **dict(entry.env)})
    return "" if find_program(expand_home(entry.command, os.environ), cwd, path) else entry.command


# ------------------------------------------------------------------ from words


def _from_words(args: argparse.Namespace) -> Draft:
    words = [streams.as_text(word) for word in args.words]
    program = None if args.verbatim is None else [streams.as_text(word) for word in args.verbatim]
    if program is not None:
        if words:
            raise Unusable(f"both {words[0]} and a program behind -- are given; a server has one of them")
        if not program or not program[0]:
            raise Unusable("no program is given behind --")
        return _program(args, program)
    if len(words) == 1 and "://" in words[0]:
        return _remote(args, words[0])
    if words:
        line = " ".join(words)
        raise Unusable(f"{words[0]} is no URL; a program goes behind --: hel mcp add {args.name} -- {line}")
    raise Unusable(f"what is it? hel mcp add {args.name} URL, or hel mcp add {args.name} -- COMMAND ARG…")


def _program(args: argparse.Namespace, words: list[str]) -> Draft:
    if args.transport not in (None, "stdio"):
        raise Unusable(f"--transport {args.transport} wants a URL, not a program behind --")
    if args.header or args.secret_header:
        raise Unusable("headers are for remote servers; a program takes --env and --secret")
    draft = Draft({"command": words[0]})
    if words[1:]:
        draft.entry["args"] = words[1:]
    env = dict(_pair(text, "=", "--env", "NAME=VALUE") for text in args.env)
    for name in args.secret:
        _keep(draft, env, args.name, streams.as_text(name), "")
    if env:
        draft.entry["env"] = env
    if args.cwd:
        draft.entry["cwd"] = _folder(streams.as_text(args.cwd), args.scope)
    return _with_times(args, draft)


def _folder(written: str, scope: str) -> str:
    """As written in a file of the project; else whole: it was meant from where it was typed."""
    if scope == "project" or written.startswith(("~", "$")):
        return written
    return os.path.abspath(written)  # noqa: PTH100 - links stay as they are


def _remote(args: argparse.Namespace, url: str) -> Draft:
    if args.transport == "stdio":
        raise Unusable("--transport stdio wants a program behind --, not a URL")
    unfit = {"--env": args.env, "--secret": args.secret, "--cwd": args.cwd}
    if wrong := [option for option, given in unfit.items() if given]:
        raise Unusable(f"{wrong[0]} is for programs; a remote server takes --header and --secret-header")
    draft = Draft({"type": "sse" if args.transport == "sse" else "http", "url": url})
    headers = dict(_pair(text, ":", "--header", '"NAME: VALUE"') for text in args.header)
    for text in args.secret_header:
        name, _, prefix = streams.as_text(text).partition(":")
        _keep(draft, headers, args.name, name.strip(), prefix.strip())
    if headers:
        draft.entry["headers"] = headers
    return _with_times(args, draft)


def _with_times(args: argparse.Namespace, draft: Draft) -> Draft:
    times = {"timeout": args.timeout, "startup_timeout": args.startup_timeout}
    draft.entry |= {key: value for key, value in times.items() if value is not None}
    if args.watch and "url" in draft.entry:
        raise Unusable("--watch is for programs; a remote server is not started here")
    more = {"watch": args.watch, "protocol": args.protocol, "sampling": args.sampling}
    draft.entry |= {key: value for key, value in more.items() if value}
    return draft


def _pair(text: str, sign: str, option: str, form: str) -> tuple[str, str]:
    name, found, value = streams.as_text(text).partition(sign)
    if not found or not name.strip():
        what = "a name is missing" if found else f'there is no "{sign}" in it'
        raise Unusable(f"{option} wants {form}: {what}")  # it is not shown: it may hold a secret
    return (name.strip(), value.strip()) if sign == ":" else (name, value)


def _keep(draft: Draft, values: dict[str, str], server: str, name: str, prefix: str) -> None:
    """Have `name` refer to a value that is kept under the server's name and its own."""
    if not name or "=" in name:
        raise Unusable("--secret wants only the name; the value is asked for, or read from stdin")
    secret = Secret.of(server, name)
    values[name] = f"{prefix} {secret.reference}" if prefix else secret.reference
    draft.secrets.append(secret)


# ------------------------------------------------------------------- from JSON


def _from_json(args: argparse.Namespace) -> Draft:
    """The object itself, or the one server of a whole file as documentation shows it."""
    text = streams.read_all() if args.entry == "-" else streams.as_text(args.entry)
    try:
        value = jsonc.parse(text.encode()).value
    except jsonc.BadJson as bad:
        raise Unusable(f"the JSON cannot be read: {bad}") from None
    group = next((key for key in TOP_LEVEL if isinstance(value, dict) and key in value), None)
    if group is not None:
        servers = value[group]
        if not isinstance(servers, dict) or len(servers) != 1:
            raise Unusable(f"`{group}` must hold one server here; for several: hel mcp import claude FILE")
        value = next(iter(servers.values()))
    if not isinstance(value, dict):
        raise Unusable("the JSON must be an object with `command` or `url`")
    return Draft(value)


# ------------------------------------------------------------ written-out secrets


def _offer_keyring(server: str, draft: Draft) -> None:
    """A credential written out in a committed file: offer to keep it elsewhere, if somebody is there."""
    entry, secrets = set_apart(server, draft.entry)
    if not secrets or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    say(f"{', '.join(secret.asked for secret in secrets)} would be written into a file that is committed.")
    if confirmed("Keep it in the keyring instead?"):
        draft.entry = entry
        draft.secrets += secrets
