"""Gives files back as they were before a turn, and finds out first what that would overwrite.

Every step from the project's folder is opened without following links, and each file is replaced whole. Not
here: asking the person about files that changed since (session).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from hel_tui.core.store.atomic import why
from hel_tui.core.store.remains import part_name, sweep_parts
from hel_tui.core.tools.checkpoints.keeper import MOST_EDITED, Checkpoints
from hel_tui.core.tools.checkpoints.states import ABSENT, ANY_MODE, State, state_at
from hel_tui.core.tools.opening import open_folder

MOST_COMPARED = 200_000
"""Characters of two texts that are compared line by line."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Fate = Literal["restore", "there", "changed", "lost"]


@dataclass(frozen=True, slots=True)
class Step:
    """What is to become of one path."""

    path: str
    fate: Fate
    """`restore` can be done at once; `there` is as it was already; `changed` is not as the tools left it,
    and `diff` says what giving it back would do; `lost` has no content that could be given back.
    """
    target: State
    now: State
    diff: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it."""

    restored: tuple[str, ...]
    """Files and links, by name."""
    kept: tuple[str, ...]
    """Left as they are, because somebody changed them since."""
    problems: tuple[str, ...]
    """Sentences about files that could not be given back."""


def plan(checkpoints: Checkpoints, turn: int) -> list[Step]:
    """What giving back all files as they were before `turn` comes to. Blocking."""
    with checkpoints.lock:
        checkpoints.settle()
        ends: dict[str, tuple[State, State]] = {}
        for change in checkpoints.log.changes:
            if change.turn < turn:
                continue
            before, _ = ends.get(change.path, (change.before, change.after))
            ends[change.path] = before, change.after
        return [_step(checkpoints, path, before, after) for path, (before, after) in sorted(ends.items())]


def restore(checkpoints: Checkpoints, turn: int, steps: Collection[Step], overwrite: bool) -> Done:
    """Carry out a plan; `overwrite` also where somebody changed a file since. Blocking, never raises OSError.

    A file that changed after the plan was made is left alone.
    """
    with checkpoints.lock:
        wanted = [one for one in steps if one.fate == "restore" or (one.fate == "changed" and overwrite)]
        done = [one.path for one in steps if one.fate == "there"]
        restored: list[str] = []
        problems = [f"{one.path}: what it was is not kept." for one in steps if one.fate == "lost"]
        for step in _ordered(wanted):
            if problem := _put_back(checkpoints, step):
                problems.append(f"{step.path}: {problem}.")
            else:
                restored.append(step.path)
        kept = tuple(one.path for one in steps if one.fate == "changed" and not overwrite)
        checkpoints.undone(turn, [*done, *restored])
        folders = {one.path for one in steps if "folder" in (one.target.kind, one.now.kind)}
        return Done(tuple(sorted(set(restored) - folders)), kept, tuple(problems))


def _step(checkpoints: Checkpoints, path: str, before: State, after: State) -> Step:
    parts = tuple(path.split("/"))
    workspace = checkpoints.workspace
    is_inside = not any(part in ("", ".", "..") for part in parts)
    if not is_inside or not workspace.is_open(workspace.project, parts):
        return Step(path, "lost", before, ABSENT)
    now, data = state_at(workspace.project, parts, MOST_EDITED)
    if now.is_same(before):
        return Step(path, "there", before, now)
    content = checkpoints.blobs.get(before.hash) if before.hash else None
    if before.kind == "other" or (before.kind == "file" and content is None):
        return Step(path, "lost", before, now)
    if now.is_same(after):
        return Step(path, "restore", before, now)
    if now.kind == "folder" and before.kind == "none":
        return Step(path, "restore", before, now)  # it goes if it is empty
    return Step(path, "changed", before, now, _difference(path, now, data, before, content))


def _ordered(steps: Iterable[Step]) -> list[Step]:
    """First what goes, the deepest first; then folders that come, the highest first; then the rest."""

    def place(step: Step) -> tuple[int, int, str]:
        depth = step.path.count("/")
        if step.target.kind == "none":
            return 0 if step.now.kind != "folder" else 1, -depth, step.path
        return 2 if step.target.kind == "folder" else 3, depth, step.path

    return sorted(steps, key=place)


# -------------------------------------------------------------------- writing


def _put_back(checkpoints: Checkpoints, step: Step) -> str:
    """Give one path back; why not, in a few words, where that cannot be."""
    root, parts = checkpoints.workspace.project, step.parts
    try:
        now, _ = state_at(root, parts, MOST_EDITED)
        if not now.is_same(step.now):
            return "it was changed by something else meanwhile"
        if step.target.kind == "none":
            return _take_away(root, parts, now)
        folder = _made_folder(root, parts[:-1])
        try:
            if now.kind == "folder" and step.target.kind != "folder":
                os.rmdir(parts[-1], dir_fd=folder)
            return _make(checkpoints, folder, parts[-1], step.target, now)
        finally:
            os.close(folder)
    except OSError as error:
        return why(error)


def _take_away(root: os.PathLike[str], parts: tuple[str, ...], now: State) -> str:
    if now.kind == "none":
        return ""
    if now.kind == "other":
        return "it is no file any more"
    folder = open_folder(root, parts[:-1])  # type: ignore[arg-type]
    try:
        if now.kind == "folder":
            with suppress(OSError):  # not empty: somebody else's files are in it
                os.rmdir(parts[-1], dir_fd=folder)
        else:
            os.unlink(parts[-1], dir_fd=folder)
    finally:
        os.close(folder)
    return ""


def _made_folder(root: os.PathLike[str], parts: tuple[str, ...]) -> int:
    """A descriptor of a folder, which is made where it is missing. Raises OSError."""
    handle = os.open(root, _FOLDER)
    for part in parts:
        try:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=handle)
            below = os.open(part, _FOLDER, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def _make(checkpoints: Checkpoints, folder: int, name: str, target: State, now: State) -> str:
    if target.kind == "folder":
        if now.kind not in ("none", "folder"):
            os.unlink(name, dir_fd=folder)
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        handle = os.open(name, _FOLDER, dir_fd=folder)
        try:
            os.fchmod(handle, target.mode)
        finally:
            os.close(handle)
        return ""
    part = part_name()
    try:
        if target.kind == "link":
            os.symlink(target.target, part, dir_fd=folder)
        else:
            data = checkpoints.blobs.get(target.hash)
            if data is None:
                return "what it was is not kept"
            _write(folder, part, data, target.mode)
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
    sweep_parts(folder)
    return ""


def _write(folder: int, name: str, data: bytes, mode: int) -> None:
    handle = os.open(name, _NEW, 0o666, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        if mode != ANY_MODE:
            os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


# ------------------------------------------------------------------ comparing


def _difference(path: str, now: State, data: bytes | None, before: State, content: bytes | None) -> str:
    """What giving `before` back in the place of `now` would do: a diff where both are text, else a phrase."""
    old, new = _text(now, data), _text(before, content)
    if old is None or new is None or len(old) + len(new) > MOST_COMPARED:
        return f"{_phrase(now)} → {_phrase(before)}\n"
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        "/dev/null" if now.kind == "none" else f"a/{path}",
        "/dev/null" if before.kind == "none" else f"b/{path}",
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    return text or f"{_phrase(now)} → {_phrase(before)}\n"


def _text(state: State, data: bytes | None) -> str | None:
    if state.kind == "none":
        return ""
    if state.kind != "file" or data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _phrase(state: State) -> str:
    match state.kind:
        case "none":
            return "nothing"
        case "file":
            mode = f", mode {state.mode:03o}" if state.mode != ANY_MODE else ""
            return f"file of {state.size:,} bytes{mode}"
        case "link":
            return f"link to {state.target}"
        case "folder":
            return f"folder, mode {state.mode:03o}"
        case _:
            return "something that hel leaves alone"
