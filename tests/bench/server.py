"""An MCP server over stdio to measure against, standard library only.

    python server.py [--delay SECONDS] [--flood LINES_A_SECOND [--lines MOST]] [--notify COUNT]

It has two tools, `echo` and `length`. With --delay it answers nothing for so long; with --flood it prints
that many lines a second on stderr until it ends, or --lines in all; with --notify it sends so many
notifications once it is initialized.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from typing import Any

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "echo", "description": "Return the text as it is.", "inputSchema": TEXT},
    {"name": "length", "description": "Return how long the text is.", "inputSchema": TEXT},
]
TICKS = 50
"""Bursts a second in which a flood is written."""


def flood(rate: int, most: int) -> None:
    """Print `rate` lines a second on stderr, `most` in all or, with 0, for ever."""
    number = 0
    begin = time.monotonic()
    while not most or number < most:
        owed = int((time.monotonic() - begin) * rate) - number
        owed = min(owed, most - number) if most else owed
        sys.stderr.write("".join(f"line {number + n}: nothing is wrong, go on\n" for n in range(owed)))
        sys.stderr.flush()
        number += owed
        time.sleep(1 / TICKS)


def notify(count: int) -> None:
    """Send `count` notifications."""
    params = {"progressToken": "none", "progress": 1, "message": "some words about how far it is"}
    line = (
        json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).encode() + b"\n"
    )
    for _ in range(count // 100):
        sys.stdout.buffer.write(line * 100)
        sys.stdout.buffer.flush()


def result(message: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that is not known."""
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = params["arguments"]["text"]
        value = text if params["name"] == "echo" else str(len(text))
        return {"content": [{"type": "text", "text": value}]}
    return {} if method == "ping" else None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--lines", type=int, default=0)
    parser.add_argument("--notify", type=int, default=0)
    options = parser.parse_args()
    if options.flood:
        threading.Thread(target=flood, args=(options.flood, options.lines), daemon=True).start()
    time.sleep(options.delay)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "notifications/initialized":
            notify(options.notify)
        if "id" not in message or "method" not in message:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        found = result(message)
        if found is None:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        else:
            answer["result"] = found
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
