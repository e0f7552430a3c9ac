"""The reaper: a tiny program that ends processes whose hel died without ending them.

Its argument is the mark that hel's processes carry in their environment, `NAME=beginning`. Reads lines from
stdin: `+PID` a process group, `h PID` a helper outside it, `-PID` gone; `d HEX` an empty folder to remove,
`t HEX` one to remove with all that is in it, `k HEX` one to keep; `m HEX` a terminal whose modes hel changed
(see `Guard.watch_terminal`), `m` none; `q` the orderly end. At the end of stdin without it (hel has ended,
however) it takes the terminal's modes back, waits shortly, then SIGTERM, then SIGKILL to what is left.
Standard library only until then, run as `python -I -S reaper.py`: its start must cost next to nothing.
"""

import contextlib
import os
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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

MODES = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # paste, wrap, sizes, mouse
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[0m"  # keys, screen, cursor, focus, colours
)
"""What takes back the modes that Textual sets."""

_Known = dict[int, tuple[bool, str]]
"""Whether a pid is a group's, and when it was created."""


class _Left:
    """What is there to be dealt with if hel is killed."""

    def __init__(self) -> None:
        self.alive: _Known = {}
        self.empty: set[bytes] = set()
        self.trees: set[bytes] = set()
        self.terminal: dict[str, Any] | None = None

    def take(self, kind: str, rest: str) -> None:
        """What hel tells in one line."""
        if kind == "d":
            self.empty.add(bytes.fromhex(rest))
        elif kind == "t":
            self.trees.add(bytes.fromhex(rest))
        elif kind == "k":
            self.empty.discard(bytes.fromhex(rest))
            self.trees.discard(bytes.fromhex(rest))
        elif kind == "m":
            self.terminal = _terminal(bytes.fromhex(rest)) if rest else None
        elif rest.isdigit():
            pid = int(rest)
            if kind == "-":
                self.alive.pop(pid, None)
            else:
                self.alive[pid] = (kind == "+", _created(pid))

    def remove_folders(self) -> None:
        """Those that are this user's own, and no links."""
        for folder in self.empty:
            with contextlib.suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106 - pathlib costs its start
        if self.trees:
            import shutil
        for folder in self.trees:
            with contextlib.suppress(OSError):
                if os.lstat(folder).st_uid == os.getuid():
                    shutil.rmtree(folder, ignore_errors=True)  # follows no link, at the top neither


def restore(facts: "dict[str, Any]") -> None:
    """Take back the modes of a terminal that a killed hel had, unless somebody else has it by now. At once:
    the shell that is told of the death a moment later writes its prompt where it will be seen.
    """
    import termios

    with contextlib.suppress(OSError, termios.error):
        front = _front(facts["session"])
        if front not in (facts["group"], facts["session"]):
            return
        device = os.open(facts["path"], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            os.write(device, MODES)
            if front == facts["group"]:  # a shell that is back has done this itself, and may read keys
                termios.tcsetattr(device, termios.TCSANOW, facts["attributes"])
        finally:
            os.close(device)


def _terminal(told: bytes) -> "dict[str, Any]":
    """What hel tells of its terminal; read while there is time."""
    import json
    import termios  # noqa: F401 - loaded before it is needed

    facts: dict[str, Any] = json.loads(told)
    *numbers, characters = facts["attributes"]
    facts["attributes"] = [*numbers, [bytes.fromhex(one) for one in characters]]
    return facts


def _front(leader: int) -> int:
    """The group in the foreground of the terminal of a session; the leader itself once that is gone."""
    try:
        with open(f"/proc/{leader}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[5])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, IndexError):
        return 0
    if os.path.exists("/proc/self/stat"):  # noqa: PTH110
        return leader
    import subprocess

    said = subprocess.run(["ps", "-o", "tpgid=", "-p", str(leader)], capture_output=True, check=False).stdout
    return int(said) if said.strip().isdigit() else leader


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
    left = _Left()
    for line in sys.stdin:
        word = line.strip()
        if word == "q":
            return
        left.take(word[:1], word[1:].strip())
    if left.terminal is not None:
        restore(left.terminal)
    if len(sys.argv) > 2:  # where psutil is; it costs a start too much, and nobody waits any more
        sys.path.append(sys.argv[2])
    _end(left.alive, name, beginning)
    left.remove_folders()


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
