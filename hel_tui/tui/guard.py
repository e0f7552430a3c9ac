"""Keeps stray output off the screen: while the app runs, file descriptors 1 and 2 lead nowhere.

The app itself draws and measures through a copy of the terminal that only it knows. Not here: servers'
output (they have pipes of their own).
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator


def end_by(seconds: float, status: int, before: Callable[[], None]) -> None:
    """End this process after so many seconds if it has not ended by itself; `before` is called then.

    For signals: the terminal may be gone, and whatever still writes to it may wait for ever.
    """

    def end() -> None:
        with contextlib.suppress(Exception):
            before()
        os._exit(status)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def quiet_terminal() -> Iterator[None]:
    """Inside, whatever writes to descriptors 1 or 2 writes to /dev/null; the app draws to a private copy.

    Does nothing when standard error is no terminal (tests, pipes).
    """
    if not os.isatty(2) or sys.__stderr__ is None:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    saved = {number: os.dup(number) for number in (1, 2)}
    for descriptor in saved.values():
        os.set_inheritable(descriptor, False)
    private = open(os.dup(saved[2]), "w", encoding="utf-8", errors="replace", closefd=True)  # noqa: SIM115,PTH123
    original = sys.__stdout__, sys.__stderr__
    sys.__stdout__ = sys.__stderr__ = private  # type: ignore[misc]
    sink = os.open(os.devnull, os.O_WRONLY)
    for number in saved:
        os.dup2(sink, number)
    os.close(sink)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        for number, descriptor in saved.items():
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.__stdout__, sys.__stderr__ = original  # type: ignore[misc]
        with contextlib.suppress(OSError, ValueError):
            private.close()
