"""`hel mcp tools` and `hel mcp call`: one server, started for one question and ended again.

Typing the call is its approval; trust is needed all the same. Not here: the host (core.mcp).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.cli.failure import failure_lines
from hel_tui.cli.mcp.alone import UP, Alone, alone, approved, sorry
from hel_tui.cli.mcp.filling import fill_in, is_there
from hel_tui.cli.mcp.ground import Ground, did_you_mean
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.agent.arguments import parse_arguments
from hel_tui.core.mcp.causes import META
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.large import JsonText
from hel_tui.core.mcp.results import to_outcome
from hel_tui.core.protocol import Event, Notice
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Json
from hel_tui.foreign import harmless, printable


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp tools` or `hel mcp call`; returns the exit status."""
    arguments: Json = {}
    if ground.command == "call":
        parsed, meta = parse_arguments(args.arguments), parse_arguments(args.meta)
        if isinstance(parsed, str):
            return ground.sorry(parsed, Exit.USAGE)
        if isinstance(meta, str):
            return ground.sorry(f"--meta: {meta}", Exit.USAGE)
        if args.times < 0 or args.at_once < 1:
            return ground.sorry("--times and --at-once are whole numbers above 0", Exit.USAGE)
        arguments = parsed
        META.set(meta)
    entry = approved(args.server, ground)
    if isinstance(entry, int):
        return entry

    async def do(server: Alone) -> int:
        return await (_tools(server, args) if ground.command == "tools" else _call(server, args, arguments))

    return run_in_order(with_server(entry, ground, do))


async def with_server(entry: ServerEntry, ground: Ground, do: Callable[[Alone], Awaitable[int]]) -> int:
    """Start the server, do something with it and end it; returns the exit status."""
    entry = replace(entry, reconnect=False)
    async with alone(entry, ground.project, ground.places, _note, fill_in, answerable=is_there()) as server:
        status = await server.come_to_rest()
        if status.phase not in UP:
            sorry(f"{entry.name} cannot be reached: {status.phase}: {status.reason}")
            failure = server.host.failure(entry.name)
            for line in failure_lines(failure) if failure is not None else ():
                sys.stderr.write(f"{printable(line)}\n")
            return Exit.FAILED
        return await do(server)


def _note(event: Event) -> None:
    """What a server asked, or is odd about it; how it failed is told at the end."""
    if isinstance(event, Notice) and event.severity != "error":
        sorry(f"{event.source}: {event.text}" if event.source else event.text)


async def _tools(server: Alone, args: argparse.Namespace) -> int:
    host = server.host
    rows = host.catalogue.rows()
    if not args.json:
        for row in rows:
            note = f"  (not offered: {row.reason})" if row.reason else f"  {row.tokens} tokens"
            sys.stdout.write(f"{printable(row.raw)}{printable(note)}\n")
            if row.description:
                sys.stdout.write(f"    {printable(row.description)}\n")
            tool = host.catalogue.get(row.public)
            sys.stdout.write(f"    {printable(_arguments(tool.spec.parameters) if tool else '')}\n")
        return Exit.DONE
    found: list[dict[str, Any]] = []
    for row in rows:
        tool = host.catalogue.get(row.public)
        definition = tool.definition if tool is not None else None
        found.append(
            {
                "name": row.raw,
                "public_name": row.public,
                "description": definition.description if definition else row.description,
                "input_schema": definition.parameters if definition else None,
                "output_schema": tool.spec.output if tool is not None else None,
                "annotations": tool.spec.annotations if tool is not None else {},
                "offered": not row.reason,
                "reason": row.reason,
                "tokens": row.tokens,
            }
        )
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return Exit.DONE


def _arguments(schema: Json) -> str:
    """The names of what a tool takes, in order, with those that have to be given marked."""
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    if not known:
        return "no arguments"
    return "arguments: " + ", ".join(f"{name} (required)" if name in needed else name for name in known)


async def _call(server: Alone, args: argparse.Namespace, arguments: Json) -> int:
    host = server.host
    tool = host.catalogue.find(args.server, args.tool)
    if tool is None:
        names = [row.raw for row in host.catalogue.rows() if not row.reason]
        near = did_you_mean(args.tool, names, f"; it has {', '.join(names) or 'none'}")
        return sorry(f"{args.server} offers no tool named {args.tool}{near}")
    if args.times:
        from hel_tui.cli.mcp.measuring import measure

        return await measure(tool, arguments, args.times, args.at_once, server.hide, as_json=args.json)
    try:
        result = await tool.call(tool.raw, arguments, _progress)
    except CallFault as fault:
        return sorry(server.hide(str(fault)))
    failed = result.get("isError") is True
    if args.json:
        structured = result.get("structuredContent")
        if isinstance(structured, JsonText):
            result["structuredContent"] = json.loads(structured)
        sys.stdout.write(server.hide(json.dumps(result, indent=2)) + "\n")
    else:
        _print_result(args, result, tool.spec.output, server.hide)
    return Exit.FAILED if failed else Exit.DONE


def _print_result(
    args: argparse.Namespace, result: Json, output: Json | None, hide: Callable[[str], str]
) -> None:
    """The result as text; what is binary in it stays behind in files that the text names."""
    folder = Path(tempfile.mkdtemp(prefix="hel-"))
    outcome = to_outcome(args.server, args.tool, result, SessionFiles(folder), output=output)
    text = outcome.full if outcome.full is not None else outcome.text
    if not any(str(path) in text for path in outcome.saved):
        shutil.rmtree(folder)
    sys.stdout.write(harmless(hide(text)).rstrip("\n") + "\n")
    for warning in outcome.warnings:
        sys.stderr.write(f"{printable(args.tool)}: {printable(warning)}\n")


def _progress(progress: float, total: float | None, message: str) -> None:
    of = f"/{total:g}" if total is not None else ""
    sys.stderr.write(f"{progress:g}{of} {printable(message)}\n")
