"""The three standard streams, whatever state they were left in by whoever started hel.

Not here: what is written (each command).
"""

from __future__ import annotations

import math
import os
import select
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, TextIO, cast

SILENCE = 3.0
"""Seconds a pipe may be silent before it counts as empty."""
MOST = 32 << 20
"""Bytes of standard input that are read."""
_PIECE = 1 << 16


class Terminal:
    """Standard output or error where it is a terminal: what steers one reaches it as text, whoever wrote it.

    Whatever command writes, and also what a library or a fault does; a pipe or a file gets its bytes as they
    are. Everything else of the stream is as it was.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        plain = text
        if not text.replace("\n", "").isprintable():
            from hel_tui.foreign import harmless  # most of what hel says needs none

            plain = harmless(text)
        self._stream.write(plain)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def steer(stream: TextIO, text: str) -> None:
    """Write hel's own `text`, with what it does to a terminal."""
    (stream._stream if isinstance(stream, Terminal) else stream).write(text)


def prepare() -> None:
    """Open closed streams on /dev/null, make terminals safe; no character is one a stream cannot hold.

    A closed descriptor is filled too: else the next file hel opens would be somebody's standard output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):  # descriptors are given lowest first: this is `number`
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        stream = getattr(sys, name)
        if stream is None:
            mode = "w" if number else "r"
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123
            setattr(sys, name, stream)
        if isinstance(stream, TextIOWrapper):  # a terminal that is not UTF-8 gets escapes, not a traceback
            stream.reconfigure(errors="backslashreplace" if number else "replace")
            if number and stream.isatty():
                setattr(sys, name, cast(TextIO, Terminal(stream)))


def flushed() -> bool:
    """Write out what is held back; False when it cannot be written. Then it is dropped, once and for all."""
    good = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ValueError:  # closed by somebody
            continue
        except OSError:
            good = False
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                stream.flush()
    return good


def last_words(sentence: str) -> None:
    """Say why hel ends, if that can still be said."""
    with suppress(OSError, ValueError):
        sys.stderr.write(sentence + "\n")


class TooLong(OSError):
    """Standard input has more than is read of it."""


class TimeIsOver(OSError):
    """Standard input did not end in time."""


def read_all(end: float = math.inf) -> str:
    """Standard input as UTF-8, whatever the locale; bytes that are none are replaced.

    Raises `TooLong` above `MOST` bytes, and `TimeIsOver` at `end` (as `time.monotonic` tells it).
    """
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError):  # in the place of a stream of the system's: it is no pipe to wait for
        return sys.stdin.read()
    data = bytearray()
    while _speaks(number, end):
        if not (piece := os.read(number, _PIECE)):
            return data.decode("utf-8", "replace")
        data += piece
        if len(data) > MOST:
            raise TooLong(f"standard input has more than {MOST >> 20} MiB; give the name of a file instead")
    raise TimeIsOver("standard input did not end in time")


def _speaks(number: int, end: float) -> bool:
    """Wait until there is something to read, or the end of all; False when it is too late."""
    left = end - time.monotonic()
    return left > 0 and bool(select.select([number], [], [], None if left == math.inf else left)[0])


def read_piped(end: float = math.inf) -> str:
    """What a pipe or a file on standard input has; empty at a terminal. Raises as `read_all` does.

    A pipe that was inherited and never written to must not hold hel up: one that is silent for `SILENCE`
    seconds counts as empty. Once it speaks it is read to its end.
    """
    try:
        kind = stat.S_IFMT(os.fstat(0).st_mode)
        if kind not in (stat.S_IFIFO, stat.S_IFREG, stat.S_IFSOCK):
            return ""
        if not _speaks(0, min(end, time.monotonic() + SILENCE)):
            return ""
    except (OSError, ValueError):
        return ""
    return read_all(end)


def as_text(argument: str) -> str:
    """An argument as UTF-8, where the locale made something else of its bytes."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return argument
