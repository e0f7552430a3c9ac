"""hel with a fault put into it, by name: `python broken.py FAULT [options of hel]`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from hel_tui.cli.common import add_common, options
from hel_tui.core import protocol as p
from hel_tui.core.runtime import Runtime
from hel_tui.core.session import Session
from hel_tui.tui.app import run
from hel_tui.tui.screens.main import MainScreen

SECRET = "sk-local-0123456789abcdefghij"


class BreaksInCore(Session):
    """Everything works until something is said; then the session itself breaks."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.broken = asyncio.Event()

    def post(self, command: p.Command) -> None:
        if isinstance(command, p.Submit):
            self.broken.set()
        else:
            super().post(command)

    async def run(self) -> None:
        life = asyncio.ensure_future(super().run())
        breaking = asyncio.ensure_future(self.broken.wait())
        await asyncio.wait({life, breaking}, return_when=asyncio.FIRST_COMPLETED)
        if self.broken.is_set():
            held = SECRET
            raise RuntimeError(f"the core broke with {held}")


class HangsAtTheEnd(Session):
    """Blocks the core's loop when something is said, for good."""

    def post(self, command: p.Command) -> None:
        if isinstance(command, p.Submit):
            while True:
                time.sleep(3600)
        super().post(command)


class Prints(Session):
    """Prints in every way a library might, from two threads, for as long as it lives."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        threading.Thread(target=self.chatter, daemon=True).start()

    def chatter(self) -> None:
        while True:
            self.say("thread")
            time.sleep(0.02)

    def post(self, command: p.Command) -> None:
        self.say("loop")
        super().post(command)

    @staticmethod
    def say(where: str) -> None:
        print("STRAY print", where)
        print("STRAY print", where, file=sys.stderr)
        os.write(1, b"STRAY write 1\n")
        os.write(2, b"STRAY write 2\n")
        logging.getLogger("library").error("STRAY log")
        warnings.warn("STRAY warning", stacklevel=1)


def break_screen(_self: MainScreen) -> None:
    held = SECRET
    raise RuntimeError(f"the screen broke with {held}")


CORES = {"core": BreaksInCore, "hangs": HangsAtTheEnd, "prints": Prints}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("fault")
    add_common(parser)
    args = parser.parse_args()
    if args.fault == "screen":
        MainScreen.action_keys = break_screen  # type: ignore[method-assign]
    chosen = options(parser, args, Path.cwd(), answerable=True)
    return run(Runtime(chosen, CORES.get(args.fault, Session)))


if __name__ == "__main__":
    sys.exit(main())
