"""Forks: a copy of a session up to one of its turns, which goes on by itself and remembers where it is from.

Not here: going on with it (session).
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.store.lines import LineFile
from hel_tui.core.store.places import PROJECT_MARK, make_private
from hel_tui.core.store.remains import sweep_sessions
from hel_tui.core.store.sessions.folders import new_id, project_of
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import is_damaged, is_own, kind_of, lines_of, parsed
from hel_tui.core.store.sessions.mending import never_ended
from hel_tui.core.store.sessions.reading import Kept, read_session, records_between
from hel_tui.core.store.sessions.records import VERSION

FILES = "files"
"""Folder of a session's saved results."""
CHECKPOINT_LOG = "checkpoints.jsonl"
CHECKPOINT_FILES = "checkpoints"
"""What hel's tools changed, a line each with its turn, and a folder of what files were before."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Fork:
    """A new session that was made from another."""

    folder: Path
    turn: int
    """The last turn it has; 0 for none."""
    damaged: int
    """Lines of the copied part that could not be read and are missing."""


def fork_session(folder: Path, turn: int | None = None) -> Fork | str:
    """Copy the session in `folder` up to the end of `turn` (None: of the last one that ended) into a new one.

    The new one appears whole or not at all. A sentence when there is no such turn. Raises OSError.
    """
    kept = read_session(folder)
    numbers = [number for number, _ in kept.turns]
    if turn is None:
        turn = next((number for number in reversed(numbers) if number <= kept.ended), 0)
    if turn and turn not in numbers:
        last = f"its last is {numbers[-1]}" if numbers else "it has none"
        return f"{folder.name} has no turn {turn}: {last}."
    place = numbers.index(turn) + 1 if turn else 0
    end = kept.turns[place][1] if place < len(kept.turns) else kept.size
    name = new_id()
    target, made = folder.with_name(name), folder.with_name(f".new-{name}")
    sweep_sessions(folder.parent)
    make_private(made)
    try:
        (made / PROJECT_MARK).touch(0o600)
        (made / PROJECT_MARK).write_text(project_of(folder) + "\n", "utf-8", "surrogateescape")
        _copy_files(folder / FILES, made / FILES)
        _copy_checkpoints(folder, made, turn)
        head = {
            **kept.head,
            "k": "session",
            "t": round(time.time(), 3),
            "v": VERSION,
            "id": name,
            "parent": {"id": folder.name, "turn": turn},
        }
        damaged = _copy_lines(folder, target, made, head, end, began=_number_of(kept, turn))
        if end == kept.size:
            _copy_cut_off(folder, made, kept.turns[-1][1] if kept.turns else 0)
        made.rename(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return Fork(target, turn, damaged)


def _copy_files(source: Path, target: Path) -> None:
    if not source.is_dir():
        return
    make_private(target)
    for file in source.iterdir():
        if not file.is_file() or file.is_symlink():
            continue
        try:
            os.link(file, target / file.name)  # files of a session are never written again
        except OSError:
            shutil.copy2(file, target / file.name)


def _copy_checkpoints(folder: Path, made: Path, turn: int) -> None:
    """Copy the checkpoints of the turns up to `turn`."""
    try:
        lines = (folder / CHECKPOINT_LOG).read_bytes().splitlines()
    except OSError:
        return
    kept = [line for line in lines if 0 <= _turn_of(line) <= turn]
    if not kept:
        return
    _copy_files(folder / CHECKPOINT_FILES, made / CHECKPOINT_FILES)
    into = LineFile(made / CHECKPOINT_LOG)
    try:
        into.append(b"\n".join([*kept, b""]))
    finally:
        into.close()


def _turn_of(line: bytes) -> int:
    record = parsed(line)
    turn = record.get("turn") if record is not None else None
    return turn if isinstance(turn, int) else -1


def turn_before(folder: Path, turn: int) -> int:
    """The last turn of the session in `folder` before `turn`; 0 for none. Raises OSError."""
    return max((number for number, _ in read_session(folder).turns if number < turn), default=0)


def _number_of(kept: Kept, turn: int) -> int:
    """The number under which was queued what became `turn`, where that one has not ended: its end may show
    that it reached nobody, and then its line alone says what it was. 0 for none.
    """
    began = kept.began if turn > kept.ended else None
    number = began.get("n") if began is not None else None
    return number if isinstance(number, int) else 0


def _copy_lines(
    folder: Path, target: Path, made: Path, head: dict[str, object], end: int, *, began: int
) -> int:
    """Copy the lines before byte `end`, files named as the fork's own; of what waits that with the number
    `began` alone: all others wait in one place. Returns how many are damaged.
    """
    damaged = 0
    into = LineFile(made / FILE)
    names = {
        (_in_json(f"{source}/"), _in_json(f"{target}/")) for source in (folder, os.path.realpath(folder))
    }
    block = [_spelt(head)]
    weight = 0
    try:
        with (folder / FILE).open("rb") as file:
            for at, length, line in lines_of(file):
                if at >= end:
                    break
                kind = kind_of(line)
                if kind == "session" or (kind in ("queued", "unqueued") and not _is(line, began)):
                    continue
                if kind is None and (is_damaged(line) or not line.strip()):
                    damaged += is_damaged(line)
                    continue
                if not is_own(line):  # names are looked for as hel spells them
                    line = _spelt(parsed(line) or {})  # noqa: PLW2901
                for before, after in names:
                    line = line.replace(before, after)  # noqa: PLW2901
                block.append(line if line.endswith(b"\n") else line + b"\n")
                weight += length
                if weight > _BLOCK:
                    into.append(b"".join(block))
                    block, weight = [], 0
        into.append(b"".join(block))
    finally:
        into.close()
    return damaged


def _copy_cut_off(folder: Path, made: Path, last: int) -> None:
    """Write what had arrived of a text when hel was ended; the last turn begins at byte `last`."""
    lines = [_spelt(text) for text in never_ended(folder, records_between(folder, last, None))]
    if not lines:
        return
    into = LineFile(made / FILE)
    try:
        into.append(b"".join(lines))
    finally:
        into.close()


def _is(line: bytes, number: int) -> bool:
    """Whether a line about what waits is of this number."""
    record = parsed(line) if number else None
    return record is not None and record.get("n") == number


def _spelt(record: Mapping[str, object]) -> bytes:
    """The line of a record, as a session's writer spells it."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _in_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace")
