"""`hel mcp replay`: a server over stdio that answers from a cassette.

Not here: what is answered (core.mcp.cassette_player).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import threading
from collections.abc import Sequence

from hel_tui.cli.common import Exit
from hel_tui.cli.mcp import pipes
from hel_tui.cli.mcp.ground import Ground
from hel_tui.core.mcp.cassette import MAX_DEPTH, BadCassette, Cassette, is_too_deep, read_cassette
from hel_tui.core.mcp.cassette_player import Player
from hel_tui.core.mcp.framing import LineSplitter, TooLong
from hel_tui.core.vocabulary import Json

LAST_WORDS = 5.0
"""Seconds that what is being answered still has when the client closed stdin."""
_MOST_WAITING = 1024
"""Pieces of what the client said, of `pipes.CHUNK` bytes at most, that wait to be taken."""


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp replay`; returns the exit status when the client is gone."""
    try:
        cassette = read_cassette(args.cassette)
    except BadCassette as bad:
        return ground.sorry(str(bad), Exit.USAGE)
    return asyncio.run(_serve(cassette, args))


class _Client:
    """Who is answered, over stdout."""

    def __init__(self) -> None:
        self.is_gone = asyncio.Event()

    def send(self, message: Json | str) -> None:
        """Send a message, or a line of what was none. Nothing is sent any more to one that is gone."""
        if self.is_gone.is_set():
            return
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        try:
            pipes.deliver(1, text.encode("utf-8", "replace") + b"\n")
        except OSError:
            self.is_gone.set()


async def _serve(cassette: Cassette, args: argparse.Namespace) -> int:
    found: asyncio.Queue[Sequence[bytes | TooLong] | None] = asyncio.Queue()
    room = threading.Semaphore(_MOST_WAITING)
    loop = asyncio.get_running_loop()

    def bring(lines: Sequence[bytes | TooLong] | None) -> None:
        room.acquire()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is answered any more
            loop.call_soon_threadsafe(found.put_nowait, lines)

    def read() -> None:
        """In a thread: stdin may be a pipe, a file or a terminal. It waits while nobody takes what came."""
        splitter = LineSplitter()
        with contextlib.suppress(OSError):
            while data := pipes.read(0):
                bring(splitter.feed(data))
        bring(splitter.close())
        bring(None)

    client = _Client()
    player = Player(cassette, client.send, strict=args.strict, match=args.match, latency=args.latency)
    threading.Thread(target=read, name="hel-replay", daemon=True).start()

    async def serve() -> None:
        while (lines := await found.get()) is not None:
            room.release()
            for line in lines:
                _take(line, player, client)

    serving = asyncio.ensure_future(serve())
    leaving = asyncio.ensure_future(client.is_gone.wait())
    await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
        await player.done(LAST_WORDS)
    return Exit.FAILED if client.is_gone.is_set() else Exit.DONE


def _take(line: bytes | TooLong, player: Player, client: _Client) -> None:
    """Take one line of the client; one that is no message is answered so."""
    if isinstance(line, TooLong):
        player.refuse(f"it has {line.size:,} bytes")
        return
    try:
        message = json.loads(line)
    except ValueError:
        client.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
        return
    except RecursionError:
        message, is_deep = None, True
    else:
        is_deep = is_too_deep(message, line)
    if is_deep:
        player.refuse(f"it is nested more than {MAX_DEPTH} levels deep")
    else:
        player.take(message)
