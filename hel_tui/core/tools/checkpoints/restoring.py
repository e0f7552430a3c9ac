"""Gives files back as they were before a turn, and finds out first what that would overwrite.

Not here: writing (writing), asking the person about files that changed since (session).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from hel_tui.core.tools.checkpoints.keeper import MOST_EDITED, UNKNOWN, Checkpoints
from hel_tui.core.tools.checkpoints.states import ABSENT, ANY_MODE, State, state_at
from hel_tui.core.tools.checkpoints.writing import Writer

MOST_COMPARED = 200_000
"""Characters of two texts that are compared line by line."""

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
            before, after = ends.get(change.path, (change.before, change.after))
            ends[change.path] = before, after if after == UNKNOWN else change.after
        steps: dict[str, Step] = {}
        for path, (before, after) in sorted(ends.items()):
            steps[path] = _step(checkpoints, path, before, after, _replaced_above(path, steps))
        return list(steps.values())


def restore(checkpoints: Checkpoints, turn: int, steps: Collection[Step], overwrite: bool) -> Done:
    """Carry out a plan; `overwrite` also where somebody changed a file since. Blocking, never raises OSError.

    A file that changed after the plan was made is left alone.
    """
    with checkpoints.lock:
        wanted = [one for one in steps if one.fate == "restore" or (one.fate == "changed" and overwrite)]
        done = [one.path for one in steps if one.fate == "there"]
        restored: list[str] = []
        problems = [f"{one.path}: what it was is not kept." for one in steps if one.fate == "lost"]
        writer = Writer(checkpoints.workspace.project, checkpoints.blobs, MOST_EDITED)
        for step in _ordered(wanted):
            if problem := writer.put_back(step.parts, step.now, step.target):
                problems.append(f"{step.path}: {problem}.")
            else:
                restored.append(step.path)
        for path, problem in writer.finish().items():
            problems.append(f"{path}: {problem}.")
            restored = [one for one in restored if one != path]
        kept = tuple(one.path for one in steps if one.fate == "changed" and not overwrite)
        checkpoints.undone(turn, [*done, *restored])
        folders = {one.path for one in steps if "folder" in (one.target.kind, one.now.kind)}
        return Done(tuple(sorted(set(restored) - folders)), kept, tuple(problems))


def _replaced_above(path: str, steps: Mapping[str, Step]) -> Step | None:
    """The step that puts a folder in the place of something else on the way to `path`: nothing is there now,
    whatever lies behind a link of that name.
    """
    while path := path.rpartition("/")[0]:
        step = steps.get(path)
        if step is not None and step.target.kind == "folder" and step.now.kind in ("link", "file"):
            return step
    return None


def _step(checkpoints: Checkpoints, path: str, before: State, after: State, above: Step | None) -> Step:
    parts = tuple(path.split("/"))
    workspace = checkpoints.workspace
    is_inside = not any(part in ("", ".", "..") for part in parts)
    if not is_inside or not workspace.is_open(workspace.project, parts):
        return Step(path, "lost", before, ABSENT)
    now, data = state_at(workspace.project, parts, MOST_EDITED) if above is None else (ABSENT, None)
    if now.is_same(before):
        return Step(path, "there", before, now)
    content = checkpoints.blobs.get(before.hash) if before.hash else None
    if before.kind == "other" or (before.kind == "file" and content is None):
        return Step(path, "lost", before, now)
    if now.is_same(after) and after != UNKNOWN and (above is None or above.fate == "restore"):
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
