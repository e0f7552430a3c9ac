"""`hel mcp remove`, `enable` and `disable`: one entry of one file, found by its name.

Not here: the edit itself (core.mcp.editing).
"""

from __future__ import annotations

import argparse
import os

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.arguments import SCOPES
from hel_tui.cli.mcp.ground import Ground, note, print_json, say
from hel_tui.core.mcp.editing import NotEdited, ServerFile, files_of, names_in, switch_entry, take_entry
from hel_tui.core.permissions.shown import references
from hel_tui.core.vocabulary import Json

_KEYRING = "${keyring:"


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run one of the three; returns the exit status."""
    file = _remove_from(args, ground) if ground.command == "remove" else _switch_in(args, ground)
    if isinstance(file, int):
        return file
    name = args.server
    entries = (entry for entry in ground.configuration.entries if entry.name == name)
    definition = next((entry.definition for entry in entries if entry.file == file.path), {})
    on = ground.command == "enable"
    if ground.command == "remove":
        failed = take_entry(file, name, ground.places)
    else:
        failed = switch_entry(file, name, ground.places, on=on)
    if failed is not None:
        return ground.sorry(failed.sentence)
    if args.json:
        print_json({"name": name, "action": ground.command, "scope": file.scope, "file": str(file.path)})
        return Exit.DONE
    done = {"remove": "Removed", "enable": "Switched on", "disable": "Switched off"}[ground.command]
    say(f"{done}: {name}, in {file.path} ({file.scope}).")
    if ground.command == "remove":
        _tell_what_is_left(name, definition, ground)
    elif file.scope == "project":
        note(_trust_now(file, ground))
    return Exit.DONE


def _trust_now(file: ServerFile, ground: Ground) -> str:
    """What becomes of the trust in the servers of a file that was just changed."""
    pending = ground.store.review(ground.read(), ground.project, os.environ).pending
    names = ", ".join(sorted(entry.name for entry in pending if entry.file == file.path))
    if not names:
        return "The file changed; what you approved of it is still trusted."
    return f"The file changed: hel asks before these run (hel mcp trust): {names}."


def _files(scope: str | None, ground: Ground) -> list[ServerFile]:
    return [
        file
        for one in SCOPES
        if scope in (None, one)
        for file in files_of(one, ground.project, ground.places)  # type: ignore[arg-type]
    ]


def _remove_from(args: argparse.Namespace, ground: Ground) -> ServerFile | int:
    """The file to take it out of, or the exit status after it was said why there is none."""
    holders: list[ServerFile] = []
    unreadable: list[str] = []
    for file in _files(args.scope, ground):
        names = names_in(file)
        if isinstance(names, NotEdited):
            unreadable.append(names.sentence)
        elif args.server in names:
            holders.append(file)
    scopes = list(dict.fromkeys(file.scope for file in holders))
    if len(scopes) > 1:
        words = ", ".join(f"{file.scope} ({file.path})" for file in holders)
        return ground.sorry(
            f"{args.server} is in several places: {words}; say which with --scope {scopes[0]}", Exit.USAGE
        )
    if holders:
        return holders[0]
    for sentence in unreadable:
        note(sentence)
    where = f" in the {args.scope} scope" if args.scope else ""
    elsewhere = [
        entry for entry in ground.configuration.entries if entry.name == args.server and not unreadable
    ]
    if elsewhere:
        return ground.sorry(
            f"there is no {args.server}{where}; {elsewhere[0].file} ({elsewhere[0].scope}) has one"
        )
    return ground.sorry(ground.unknown(args.server) if not where else f"there is no {args.server}{where}")


def _switch_in(args: argparse.Namespace, ground: Ground) -> ServerFile | int:
    """The file of the entry that counts, or of the scope that is named."""
    entries = [
        *(entry for entry in ground.configuration.entries if entry.name == args.server),
        *(entry for entry, _ in ground.configuration.shadowed if entry.name == args.server),
    ]
    files = {file.path: file for file in _files(args.scope, ground)}
    for entry in entries:
        if entry.file in files:
            return files[entry.file]
    if bad := ground.trouble_with(args.server):
        return ground.sorry(f"{args.server} cannot be used: {bad.file}: {bad.sentence}")
    if not entries:
        return ground.sorry(ground.unknown(args.server))
    if args.scope is None:
        return ground.sorry(
            f"{args.server} is in {entries[0].file}, which was named with --mcp-config: change it there"
        )
    return ground.sorry(f"there is no {args.server} in the {args.scope} scope; {entries[0].file} has one")


def _tell_what_is_left(name: str, definition: Json, ground: Ground) -> None:
    """The entry that counts now, an approval that is of no use any more, and values still kept."""
    entries = {entry.name: entry for entry in ground.read().entries}
    if name in entries:
        say(f"Now the one in {entries[name].file} ({entries[name].scope}) counts.")
    elif name in ground.store.remembered(ground.project):
        ground.store.forget(ground.project, [name])
    for reference in references(str(definition)):
        if reference.startswith(_KEYRING):
            kept = reference[len(_KEYRING) : -1]
            note(f"Its value is still kept: hel mcp secret remove {kept}")
