"""`hel mcp replay`: a server over stdio that answers from a cassette.

Not here: what is answered (core.mcp.cassette_player).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp.ground import Ground
from hel_tui.core.mcp.cassette import MAX_DEPTH, BadCassette, Cassette, is_too_deep, read_cassette
from hel_tui.core.mcp.cassette_player import Player
from hel_tui.core.vocabulary import Json

LAST_WORDS = 5.0
"""Seconds that what is being answered still has when the client closed stdin."""


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp replay`; returns the exit status when the client is gone."""
    try:
        cassette = read_cassette(args.cassette)
    except BadCassette as bad:
        return ground.sorry(str(bad), Exit.USAGE)
    return asyncio.run(_serve(cassette, args))


async def _serve(cassette: Cassette, args: argparse.Namespace) -> int:
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        """In a thread: stdin may be a pipe, a file or a terminal."""
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    player = Player(cassette, _send, strict=args.strict, match=args.match, latency=args.latency)
    threading.Thread(target=read, name="hel-replay", daemon=True).start()
    while (line := await lines.get()) is not None:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError:
            _send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
            continue
        except RecursionError:
            message, is_deep = None, True
        else:
            is_deep = is_too_deep(message, line)
        if is_deep:
            player.refuse(f"it is nested more than {MAX_DEPTH} levels deep")
        else:
            player.take(message)
    await player.done(LAST_WORDS)
    return Exit.DONE


def _send(message: Json | str) -> None:
    text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
    data = text.encode("utf-8", "replace") + b"\n"
    while data:
        data = data[os.write(1, data) :]
