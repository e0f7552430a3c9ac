"""The reaper: a tiny program that ends processes whose hel died without ending them.

Its argument is the mark that hel's processes carry in their environment, `NAME=beginning`. Reads lines from
stdin: `+PID` a process group, `h PID` a helper outside it, `-PID` gone; `d HEX` an empty folder to remove,
`k HEX` one to keep; `q` the orderly end. At the end of stdin without it (hel has ended, however) it waits
shortly, then SIGTERM, then SIGKILL to what is left. Standard library only until then, run as
`python -I -S reaper.py`: its start must cost next to nothing.
"""

import contextlib
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psutil

WAIT = 0.5
"""Seconds processes get to leave by themselves: the stdin of servers is closed too."""
TERM_WAIT = 1.5
PASSES = 10
"""How often marked processes are looked for at most, as they may fork meanwhile."""
READS = 100
"""How often an environment that is not there is read again: a process about to become another program has
none for a moment, and one read across that moment is empty too.
"""
BARE = 5
"""Empty readings of one that has arguments, until it is believed to have none (`env -i`)."""
PAUSE = 0.001
"""Seconds between two readings."""

_Known = dict[int, tuple[bool, str]]
"""Whether a pid is a group's, and when it was created."""


def find_marked(name: str, beginning: str) -> dict[int, str]:
    """Processes whose environment has `name` with a value that begins so: pid and value. Slow: looks at all.

    An environment is what a process was started with and what its children inherit, whatever they do to
    their session, parent and files.
    """
    import psutil

    found: dict[int, str] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError, ValueError):
            value = _environment(process).get(name, "")
            if value.startswith(beginning) and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = value
    found.pop(os.getpid(), None)
    return found


def _environment(process: "psutil.Process") -> dict[str, str]:
    """What a process was started with; read until it is there. Raises psutil.Error, OSError.

    Between two programs (`execve`) a process has neither environment nor arguments; threads of the kernel
    have no file either.
    """
    bare = 0
    for _ in range(READS):
        if environment := process.environ():
            return environment
        if process.cmdline():
            bare += 1
        elif not process.exe():
            break
        if bare == BARE:
            break
        time.sleep(PAUSE)
    return {}


def kill_marked(name: str, beginning: str) -> None:
    """SIGKILL to every process with this mark; again for what was forked meanwhile."""
    for _ in range(PASSES):
        found = find_marked(name, beginning)
        for pid in found:
            _send(pid, False, signal.SIGKILL)
        if not found:
            return


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
    name, _, beginning = sys.argv[1].partition("=")
    alive: _Known = {}
    folders: set[bytes] = set()
    for line in sys.stdin:
        word = line.strip()
        if word == "q":
            return
        _take(word[:1], word[1:].strip(), alive, folders)
    if len(sys.argv) > 2:  # where psutil is; it costs a start too much, and nobody waits any more
        sys.path.append(sys.argv[2])
    _end(alive, name, beginning)
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)  # noqa: PTH106 - pathlib costs its start


def _take(kind: str, rest: str, alive: _Known, folders: set[bytes]) -> None:
    """What hel tells in one line."""
    if kind in ("d", "k"):
        (folders.add if kind == "d" else folders.discard)(bytes.fromhex(rest))
    elif rest.isdigit():
        pid = int(rest)
        if kind == "-":
            alive.pop(pid, None)
        else:
            alive[pid] = (kind == "+", _created(pid))


def _end(alive: _Known, name: str, beginning: str) -> None:
    for number, wait in ((0, WAIT), (signal.SIGTERM, TERM_WAIT)):
        end = time.monotonic() + wait
        with contextlib.suppress(ImportError):
            for pid in find_marked(name, beginning):
                alive.setdefault(pid, (False, _created(pid)))
        alive = {pid: known for pid, known in alive.items() if _still(pid, known, number)}
        while alive and time.monotonic() < end:
            time.sleep(0.05)
            alive = {pid: known for pid, known in alive.items() if _still(pid, known, 0)}
    for pid, known in alive.items():
        _still(pid, known, signal.SIGKILL)
    with contextlib.suppress(ImportError):
        kill_marked(name, beginning)


def _still(pid: int, known: tuple[bool, str], number: int) -> bool:
    is_group, created = known
    if not is_group and _created(pid) != created:
        return False
    return _send(pid, is_group, number)


if __name__ == "__main__":
    main()
