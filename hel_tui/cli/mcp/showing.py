"""`hel mcp get`: one server as its file has it: origin, what it runs, what it needs, whether it may start.

Starts nothing and asks no keyring. Not here: the list (listing), the sheet of the app (tui).
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground, print_json, say
from hel_tui.cli.mcp.listing import rows_of
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.remarks import FLAGS
from hel_tui.core.permissions.claims import claim
from hel_tui.core.permissions.shown import shown_secret
from hel_tui.core.store.secrets import is_in_file
from hel_tui.foreign import printable

_REFERENCE = re.compile(
    r"\$\{(?:keyring:(?P<kept>[A-Za-z0-9_.-]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*))(?P<more>:-)?"
)
_FILLED = ("command", "args", "env", "cwd", "url", "headers", "headersHelper", "ca", "oauth")
"""Keys in which variables are filled in."""


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp get`; returns the exit status."""
    rows = [row for row in rows_of(ground.configuration, ground.review) if row["name"] == args.server]
    if not rows:
        return ground.sorry(ground.unknown(args.server))
    entry = next((one for one in ground.configuration.entries if one.name == args.server), None)
    if entry is None:
        if args.json:
            print_json({**rows[0], "others": rows[1:]})
        else:
            say(f"{args.server}  ({rows[0]['scope']}: {rows[0]['file']})")
            say(f"  {'state':<9} invalid: {rows[0]['reason']}")
        return Exit.FAILED
    row = next(one for one in rows if one["state"] not in ("shadowed", "invalid"))
    facts = {**row, **_facts(entry, ground), "others": [one for one in rows if one is not row]}
    if args.json:
        print_json(facts)
    else:
        for line in _lines(facts):
            say(line)
    return Exit.DONE


def _facts(entry: ServerEntry, ground: Ground) -> dict[str, Any]:
    """What is told beyond the row of the list. Literal values of variables and headers are dots."""
    shown, _ = claim(entry, ground.project, os.environ)
    notes = [
        one.sentence
        for one in ground.configuration.problems
        if (one.server, one.file) == (entry.name, entry.file)
    ]
    changed = next((files for name, files in ground.review.program_changes if name == entry.name), ())
    case = next((one for one in ground.review.claims if one.name == entry.name), None)
    return {
        "resolved": shown.resolved or None,
        "cwd": shown.cwd or None,
        "env": {name: shown_secret(value) for name, value in entry.env},
        "headers": {name: shown_secret(value) for name, value in entry.headers},
        "oauth": {name[6:]: value for name, value in shown.env if name.startswith("oauth.")},
        "needs": list(_needs(entry, ground)),
        "timeout": entry.timeout,
        "startup_timeout": entry.startup_timeout,
        "include": list(entry.include),
        "exclude": list(entry.exclude),
        "watch": list(entry.watch),
        "options": {key: getattr(entry, key) for key in FLAGS if key in entry.definition},
        "risks": list(shown.risks),
        "notes": notes,
        "program_changed": list(changed),
        "changed": case.changed if case is not None else "",
    }


def _needs(entry: ServerEntry, ground: Ground) -> Iterator[dict[str, Any]]:
    """What is filled in, by name: whether it is set (None: only the keyring knows), whether it must be."""
    seen = set()
    for text in _texts([entry.definition.get(key) for key in _FILLED]):
        for found in _REFERENCE.finditer(text):
            name = found["name"] or found["kept"]
            if (name, found["kept"]) in seen:
                continue
            seen.add((name, found["kept"]))
            kept = found["kept"] is not None
            is_set = (is_in_file(name, ground.places.state) or None) if kept else name in os.environ
            place = "keyring" if kept else "environment"
            yield {"name": name, "from": place, "set": is_set, "has_default": found["more"] is not None}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['name']}  ({facts['scope']}: {facts['file']})"
    told = [
        ("state", f"{facts['state']}: {facts['reason']}" if facts["reason"] else facts["state"]),
        ("contacts", facts["url"]),
        ("runs", facts["command_line"]),
        ("resolves", (facts["resolved"] or "nothing on PATH") if facts["command_line"] else ""),
        ("in", facts["cwd"]),
        *(("env", f"{name}={value}") for name, value in facts["env"].items()),
        *(("header", f"{name}: {value}") for name, value in facts["headers"].items()),
        *(("oauth", f"{name}: {value}") for name, value in facts["oauth"].items()),
        *(("needs", _need(need)) for need in facts["needs"]),
        ("tools", _filters(facts)),
        ("watch", printable(", ".join(facts["watch"]))),
        ("options", ", ".join(f"{key} {str(value).lower()}" for key, value in facts["options"].items())),
        ("timeout", f"{facts['timeout']:g} s a call, {facts['startup_timeout']:g} s to start"),
        *(
            ("shadows" if one["state"] == "shadowed" else one["state"], _other(one))
            for one in facts["others"]
        ),
    ]
    yield from (f"  {what:<9} {words}" for what, words in told if words)
    yield from (f"  ! {risk}" for risk in facts["risks"])
    yield from (f"  ! changed program: {file}" for file in facts["program_changed"])
    yield from (f"  ! {note}" for note in facts["notes"])
    if facts["changed"]:
        yield "  changed since it was approved:"
        yield from (f"    {line}" for line in facts["changed"].splitlines())


def _need(need: dict[str, Any]) -> str:
    what = f"keyring entry {need['name']}" if need["from"] == "keyring" else need["name"]
    if need["set"]:
        return f"{what} (set)"
    if need["has_default"]:
        return f"{what} (not set: its default is used)" if need["set"] is False else f"{what} (has a default)"
    if need["set"] is None:
        return f"{what} (the keyring is asked at the start)"
    return f"{what} (NOT SET: the server is not started)"


def _filters(facts: dict[str, Any]) -> str:
    parts = [f"{key} {', '.join(facts[key])}" for key in ("include", "exclude") if facts[key]]
    return printable("; ".join(parts))


def _other(row: dict[str, Any]) -> str:
    return f"{row['file']} ({row['scope']})" + (f": {row['reason']}" if row["state"] == "invalid" else "")
