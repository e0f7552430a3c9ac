"""The reaper: a tiny program that ends servers whose hel died without ending them.

Reads lines from stdin: `+PID` a server's process group, `h PID` a helper outside it, `-PID` gone.
At the end of stdin (hel has ended, however) it waits shortly, then SIGTERM, then SIGKILL to what is left.
Standard library only, run as `python -I -S reaper.py`: its start must cost next to nothing.
"""

import os
import signal
import sys
import time

WAIT = 0.5
"""Seconds servers get to leave by themselves: their stdin is closed too."""
TERM_WAIT = 1.5


def _send(pid: int, is_group: bool, number: int) -> bool:
    """Signal a group or a process; False when nothing of it is left."""
    try:
        (os.killpg if is_group else os.kill)(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # on macOS: only zombies are left
    return True


def _created(pid: int) -> str:
    """When a process was started, as Linux counts it; empty elsewhere."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123 - pathlib costs its start
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def main() -> None:
    """Follow stdin to its end, then end what is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    alive: dict[int, tuple[bool, str]] = {}
    for line in sys.stdin:
        word = line.strip()
        kind, digits = word[:1], word[1:].strip()
        if not digits.isdigit():
            continue
        pid = int(digits)
        if kind == "-":
            alive.pop(pid, None)
        else:
            alive[pid] = (kind == "+", _created(pid))
    for number, wait in ((0, WAIT), (signal.SIGTERM, TERM_WAIT), (signal.SIGKILL, 0.0)):
        end = time.monotonic() + wait
        alive = {pid: known for pid, known in alive.items() if _still(pid, known, number)}
        while alive and time.monotonic() < end:
            time.sleep(0.05)
            alive = {pid: known for pid, known in alive.items() if _still(pid, known, 0)}
        if not alive:
            return


def _still(pid: int, known: tuple[bool, str], number: int) -> bool:
    is_group, created = known
    if not is_group and _created(pid) != created:
        return False
    return _send(pid, is_group, number)


if __name__ == "__main__":
    main()
