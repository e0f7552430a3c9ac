"""`hel mcp resources` and `hel mcp prompts`: what a server offers besides tools, listed, read and filled in.

Nothing goes to a model. Not here: tools and calls (live).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.alone import Alone, approved, sorry
from hel_tui.cli.mcp.ground import Ground, did_you_mean, print_json
from hel_tui.cli.mcp.live import with_server
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.mcp.contents import contents_of, prompt_messages
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.protocol import PromptRow
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import UserMessage
from hel_tui.foreign import harmless, printable


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp resources` or `hel mcp prompts`; returns the exit status."""
    entry = approved(args.server, ground)
    if isinstance(entry, int):
        return entry

    async def do(server: Alone) -> int:
        try:
            return await (_resources if ground.command == "resources" else _prompts)(server, args)
        except CallFault as fault:
            return sorry(server.hide(str(fault)))

    return run_in_order(with_server(entry, ground, do))


async def _resources(server: Alone, args: argparse.Namespace) -> int:
    if args.uri:
        return await _read(server, args)
    await _through(server, args.server, lambda connection: connection.list_resources())
    rows = [row for row in server.host.shelf.resources() if row.server == args.server]
    if args.json:
        print_json(
            [
                {
                    "uri": row.uri,
                    "name": row.name,
                    "description": row.description,
                    "mime": row.mime,
                    "size": row.size or None,
                    "template": row.template,
                    "variables": list(row.variables),
                }
                for row in rows
            ]
        )
        return Exit.DONE
    for row in rows:
        kind = "  (template)" if row.template else f"  {row.mime}" if row.mime else ""
        sys.stdout.write(f"{printable(row.uri)}{printable(kind)}\n")
        if row.description:
            sys.stdout.write(f"    {printable(row.description)}\n")
    return Exit.DONE


async def _read(server: Alone, args: argparse.Namespace) -> int:
    result = await _through(server, args.server, lambda connection: connection.read(args.uri))
    if args.json:
        sys.stdout.write(server.hide(_pretty(result)) + "\n")
        return Exit.DONE
    _print_contents(result, server)
    return Exit.DONE


def _print_contents(result: Any, server: Alone) -> None:
    """Contents as text; what is binary stays behind in files that are named."""
    folder = Path(tempfile.mkdtemp(prefix="hel-"))
    contents = contents_of(result, SessionFiles(folder))
    for one in contents:
        if one.saved:
            sys.stdout.write(f"[{printable(one.mime or 'data')} {one.size:,} bytes, saved: {one.saved}]\n")
        else:
            sys.stdout.write(harmless(server.hide(one.text)).rstrip("\n") + "\n")
    if not any(one.saved for one in contents):
        shutil.rmtree(folder)


async def _prompts(server: Alone, args: argparse.Namespace) -> int:
    await _through(server, args.server, lambda connection: connection.prompts())
    rows = [row for row in server.host.shelf.prompts() if row.server == args.server]
    if args.prompt:
        return await _fill(server, args, rows)
    if args.json:
        print_json([_prompt(row) for row in rows])
        return Exit.DONE
    for row in rows:
        words = " ".join(f"{one.name}=…" if one.required else f"[{one.name}=…]" for one in row.fields)
        sys.stdout.write(f"{printable(row.name)}  {printable(words)}".rstrip() + "\n")
        if about := row.description or row.title:
            sys.stdout.write(f"    {printable(about)}\n")
    return Exit.DONE


def _prompt(row: PromptRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "arguments": [
            {"name": one.name, "description": one.description, "required": one.required} for one in row.fields
        ],
    }


async def _fill(server: Alone, args: argparse.Namespace, rows: list[PromptRow]) -> int:
    row = next((one for one in rows if one.name == args.prompt), None)
    if row is None:
        names = [one.name for one in rows]
        near = did_you_mean(args.prompt, names, f"; it has {', '.join(names) or 'none'}")
        return sorry(f"{args.server} offers no prompt named {args.prompt}{near}")
    given = dict(word.split("=", 1) for word in args.arguments if "=" in word)
    if odd := [word for word in args.arguments if "=" not in word]:
        sorry(f"{odd[0]} is no KEY=VALUE")
        return Exit.USAGE
    if missing := [one.name for one in row.fields if one.required and one.name not in given]:
        sorry(f"{row.name} needs {', '.join(missing)}: write KEY=VALUE")
        return Exit.USAGE
    result = await _through(server, args.server, lambda connection: connection.prompt(row.name, given))
    if args.json:
        sys.stdout.write(server.hide(_pretty(result)) + "\n")
        return Exit.DONE
    _print_messages(result, server, args.server)
    return Exit.DONE


def _print_messages(result: Any, server: Alone, name: str) -> None:
    """The messages of a prompt, each behind its role."""
    folder = Path(tempfile.mkdtemp(prefix="hel-"))
    for message in prompt_messages(result, SessionFiles(folder), name):
        role = "user" if isinstance(message, UserMessage) else "assistant"
        sys.stdout.write(f"{role}: {harmless(server.hide(message.text)).rstrip()}\n")
    if not any(folder.iterdir()):
        folder.rmdir()


async def _through(server: Alone, name: str, work: Any) -> Any:
    """Ask the server. Raises CallFault."""
    supervisor = server.host.server(name)
    if supervisor is None:
        raise CallFault("unavailable", f"{name} is not there.")
    return await supervisor.through(work)


def _pretty(result: Any) -> str:
    import json

    return json.dumps(result, indent=2, default=str)
