"""A sandbox around a command, where the system has one: bubblewrap on Linux, Seatbelt on macOS.

The project is writable, `.hel` and hel's own folders are hidden, everything else is read-only. It holds
accidents and misled models; it is no wall against malice. Not here: running the command (bash).
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from hel_tui.core.tools.paths import CLOSED_NAME, Workspace, is_closed_name
from hel_tui.core.tools.processes import command_guard
from hel_tui.core.tools.programs import find_program

LINKED = (
    "`.hel` in the project is a link, which a command could replace by settings of its own. "
    "Make it a real folder, then commands can run"
)
PROBE_LIMIT = 5.0
"""Seconds the sandbox has to show that it works."""
_SCANNED_DEPTH = 4
_SCANNED_FOLDERS = 2_000
"""How far below the project nested `.hel` folders are looked for before a command."""
_ROOT_KEEPS = ("CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER")
"""What root needs to work in a project that belongs to someone else."""


class Sandbox:
    """The sandbox of one session. Found out in the background; asking waits for the answer."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str], *, network: bool) -> None:
        self._workspace = workspace
        self._environ = environ
        self._network = network
        name = "sandbox-exec" if sys.platform == "darwin" else "bwrap"
        self._program = find_program(name, environ, workspace.project)
        self._works = False
        self._temp: Path | None = None
        self._inside = 0
        self._covers_nothing = False
        self._probe = threading.Thread(target=self._find_out, name="hel-sandbox", daemon=True)
        self._probe.start()

    @property
    def works(self) -> bool:
        """Whether commands can be run inside. Waits for the probe, a few milliseconds after start."""
        self._probe.join(PROBE_LIMIT)
        return self._works

    @property
    def ends_all(self) -> bool:
        """Whether leaving the sandbox ends every process in it, whatever its group."""
        return sys.platform != "darwin"

    def enter(self) -> None:
        """A command is about to run inside; `leave` must follow when it has ended."""
        if not self._inside:
            closed = self._workspace.project / CLOSED_NAME
            self._covers_nothing = not os.path.lexists(closed)
            if self._covers_nothing:
                command_guard().watch_folder(closed)
        self._inside += 1

    def leave(self) -> None:
        """Remove the empty folder a cover was mounted on, if `.hel` was not there before."""
        self._inside -= 1
        if self._covers_nothing and not self._inside:
            closed = self._workspace.project / CLOSED_NAME
            with contextlib.suppress(OSError):
                closed.rmdir()
            command_guard().forget_folder(closed)

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """The command line that runs `argv` inside, in the project's folder. Looks for nested `.hel`
        folders, so it may take a moment. Raises OSError.
        """
        if self._program is None:
            raise FileNotFoundError(2, "no sandbox on this system")
        if (self._workspace.project / CLOSED_NAME).is_symlink():
            raise OSError(errno.ELOOP, LINKED)
        if sys.platform == "darwin":
            profile = seatbelt_profile(self._workspace, self.temp, network=self._network)
            return [self._program, "-p", profile, *argv]
        return [
            self._program,
            *bubblewrap_options(self._workspace, self.temp, self._environ, network=self._network),
            *argv,
        ]

    @property
    def temp(self) -> Path:
        """A temporary folder commands of this session share; removed with the session. Raises OSError."""
        if self._temp is None:
            self._temp = Path(os.path.realpath(tempfile.mkdtemp(prefix="hel-")))
            command_guard().watch_tree(self._temp)
            weakref.finalize(self, _remove, self._temp)
        return self._temp

    @property
    def environment(self) -> dict[str, str]:
        """Variables that go with the sandbox."""
        temp = str(self.temp) if sys.platform == "darwin" else "/tmp"
        return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temp)

    def _find_out(self) -> None:
        if self._program is None:
            return
        if sys.platform == "darwin":
            argv = [self._program, "-p", "(version 1)(allow default)", "/usr/bin/true"]
        else:
            argv = [self._program, *_base(network=self._network), "/bin/sh", "-c", "exit 0"]
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PROBE_LIMIT,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return
        self._works = done.returncode == 0


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    command_guard().forget_folder(folder)


def closed_folders(workspace: Workspace) -> list[Path]:
    """What a command must not see: `.hel` of the project (there or not), nested ones, hel's own folders.

    Nested ones are looked for to a depth of four and in at most 2,000 folders.
    """
    project = workspace.project
    found = [Path(os.path.realpath(project / CLOSED_NAME)), *_nested(project), *workspace.closed]
    closed: list[Path] = []
    for folder in sorted(set(found)):
        holds_project = project.is_relative_to(folder)
        is_inside_other = any(folder.is_relative_to(other) for other in closed)
        if not holds_project and not is_inside_other:
            closed.append(folder)
    return closed


def _nested(project: Path) -> list[Path]:
    found: list[Path] = []
    for seen, (folder, names, _) in enumerate(os.walk(project), 1):
        here = Path(folder)
        found.extend(here / name for name in names if is_closed_name(name) and not (here / name).is_symlink())
        deep = len(here.relative_to(project).parts) >= _SCANNED_DEPTH
        names[:] = [] if deep else [name for name in names if name != ".git" and not is_closed_name(name)]
        if seen >= _SCANNED_FOLDERS:
            break
    return found


# ----------------------------------------------------------------- bubblewrap


def bubblewrap_options(
    workspace: Workspace, temp: Path, environ: Mapping[str, str], *, network: bool
) -> list[str]:
    """Options of `bwrap` for a command in the project. Later mounts lie over earlier ones."""
    project = str(workspace.project)
    closed = [folder for folder in closed_folders(workspace) if _can_mount(folder, workspace.project)]
    options = [*_base(network=network), "--bind", str(temp), "/tmp", "--bind", project, project]
    options += _masked_sockets(environ)
    folders = [folder for folder in closed if not folder.is_file()]
    for folder in folders:
        options += ["--tmpfs", str(folder)]
    for file in closed:
        if file not in folders:
            options += ["--ro-bind", "/dev/null", str(file)]
    if workspace.files is not None and workspace.files.is_dir():
        options += ["--ro-bind", str(workspace.files), str(workspace.files)]
    for folder in folders:
        options += ["--remount-ro", str(folder)]
    return [*options, "--chdir", project]


def _base(*, network: bool) -> list[str]:
    options = ["--die-with-parent", "--unshare-pid"]
    options += [] if network else ["--unshare-net"]
    if os.geteuid() == 0:  # root would keep every capability, and could take the mounts away
        options += ["--cap-drop", "ALL"]
        for capability in _ROOT_KEEPS:
            options += ["--cap-add", capability]
    return [*options, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]


def _can_mount(folder: Path, project: Path) -> bool:
    """A folder that is not there can only be covered where bubblewrap may make it: in the project itself."""
    return folder.exists() or folder.parent == project


def _masked_sockets(environ: Mapping[str, str]) -> list[str]:
    """Covers for sockets through which a program outside the sandbox would act for the command."""
    user = Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    sockets = [
        Path("/run/docker.sock"),
        Path("/run/podman/podman.sock"),
        Path("/run/containerd/containerd.sock"),
        Path("/run/dbus/system_bus_socket"),
        *(user / name for name in ("bus", "systemd/private", "docker.sock", "podman/podman.sock")),
    ]
    options: list[str] = []
    for socket in sockets:
        if socket.is_absolute() and socket.exists():
            options += ["--ro-bind", "/dev/null", str(socket)]
    return options


# ------------------------------------------------------------------- Seatbelt


def seatbelt_profile(workspace: Workspace, temp: Path, *, network: bool) -> str:
    """The profile for `sandbox-exec`: later rules win over earlier ones."""
    project = _quoted(workspace.project)
    rules = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        f"(allow file-write* (subpath {project}) (subpath {_quoted(temp)}))",
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty")'
        ' (literal "/dev/stdout") (literal "/dev/stderr") (subpath "/dev/fd"))',
    ]
    rules += [
        f"(deny file-read* file-write* (subpath {_quoted(folder)}))" for folder in closed_folders(workspace)
    ]
    rules.append(f"(deny file-read* file-write* (regex {_closed_pattern(workspace.project)}))")
    if workspace.files is not None:
        rules.append(f"(allow file-read* (subpath {_quoted(workspace.files)}))")
    rules += ['(deny network-outbound (literal "/private/var/run/docker.sock"))']
    if not network:
        rules.append("(deny network*)")
    return "\n".join(rules)


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _closed_pattern(project: Path) -> str:
    """`.hel` in any case at any depth below the project, as a Seatbelt regular expression."""
    below = "".join(f"\\{char}" if char in ".^$*+?()[]{}|\\" else char for char in str(project))
    return '#"^' + below.replace('"', '\\"') + '/(.*/)?\\.[hH][eE][lL](/|$)"'
