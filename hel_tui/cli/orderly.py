"""Runs a command's coroutine so that signals end what it opened in order.

Not here: what it opened.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

from hel_tui.cli.common import Exit


def run_in_order(work: Coroutine[Any, Any, int]) -> int:
    """Run a command; Ctrl+C, SIGTERM and SIGHUP cancel it, and it ends what it opened."""

    async def main() -> int:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await work

    try:
        return asyncio.run(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        return Exit.INTERRUPTED
