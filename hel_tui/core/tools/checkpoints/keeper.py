"""Keeps what files were before hel's tools change them.

An edit tells of its file beforehand. Around a command the whole project is looked over: what the command
changed, made, moved or took away is found by comparing. Not here: giving it back (restoring).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from hel_tui.core.protocol import CheckpointRow
from hel_tui.core.store.atomic import why
from hel_tui.core.store.sessions.forking import CHECKPOINT_FILES
from hel_tui.core.tools.checkpoints.blobs import Blobs
from hel_tui.core.tools.checkpoints.log import Change, ChangeLog
from hel_tui.core.tools.checkpoints.looks import Look, forget_look, keep_look, left_look
from hel_tui.core.tools.checkpoints.rows import rows_of
from hel_tui.core.tools.checkpoints.states import ABSENT, ANY_MODE, State, hash_of, state_at
from hel_tui.core.tools.checkpoints.survey import MOST_FILES, MOST_IN_FOLDER, Survey, survey
from hel_tui.core.tools.paths import ResolvedPath, Workspace

MOST_EDITED = 10_000_000
"""Bytes of a file that is kept before an edit."""
MOST_SURVEYED = 2_000_000
"""Bytes of a file that is kept before a command."""
MOST_READ = 64_000_000
"""Bytes that are read before one command, files that changed last first."""
MOST_WAIT = 1.0
"""Seconds that a command waits for that; the rest is read while it runs, as far as it is still as it was."""
AT_ONCE = 50
"""Files that are read without a pause then."""
MOST_CHANGES = 5_000
"""Changes of one command that are kept."""
LARGE = (
    "This project is too large to be looked over whole around commands: of what they change, /undo "
    f"gives back only what is among the {MOST_FILES:,} files nearest to its top, in folders of at most "
    f"{MOST_IN_FOLDER:,}. What write_file and search_replace change is kept everywhere."
)
UNKNOWN = State("other")
"""What a command left that nobody saw the end of: no state is the same."""
FRESH = 50_000_000
"""Nanoseconds in which a file may change again and keep its stamp: clocks of file systems tick slowly."""
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx")
_SECRET_NAMES = ("id_rsa", "id_ed25519", "id_ecdsa", ".netrc", ".pgpass", ".npmrc", ".pypirc")


class Checkpoints:
    """Those of one session. Its methods block; they are safe from any thread."""

    def __init__(
        self,
        workspace: Workspace,
        folder: Path,
        *,
        hides: Callable[[str], bool] = lambda _text: False,
        tell: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        """`folder` is the session's. `hides` says whether a text holds a secret; `tell` takes sentences
        for the person, of each kind one.
        """
        self.workspace = workspace
        self.turn = 0
        """The turn whose changes are made now."""
        self.lock = threading.RLock()
        self._hides = hides
        self._tell = tell
        self._begin(folder)

    def _begin(self, folder: Path) -> None:
        self.folder = folder
        self._log: ChangeLog | None = None
        self.rows: tuple[CheckpointRow, ...] = ()
        """The turns that changed files, oldest first, as far as `log` was read; to be read by any thread."""
        self.blobs = Blobs(folder / CHECKPOINT_FILES)
        self._known: dict[str, State] = {}
        """Files as they were when last looked at, with the hash of their content."""
        self._before: Survey | None = None
        """The look before the command that runs."""
        self._is_taken_up = False
        """It was looked whether an earlier hel was ended in the middle of a command."""
        self._reading: Iterator[bool] | None = None
        """Reads one more file of that look at each step, where not all were read before the command."""
        self._beside = False
        """They are read while the command runs."""
        self._before_turn, self._tool = 0, ""
        self._running = 0
        self._told: set[str] = set()

    def turn_over(self, folder: Path) -> None:
        """Another session is open."""
        with self.lock:
            self.close()
            self._begin(folder)

    def close(self) -> None:
        """Find out what the last command changed, and let go of what only a later one would need."""
        with self.lock:
            self.settle()
            self._reading = None
            if self._log is not None:
                self._sweep(self._log)
                self._log.close()

    # ---------------------------------------------------------------- changes

    @property
    def log(self) -> ChangeLog:
        """The changes so far; read from the session's file when first asked for."""
        with self.lock:
            if self._log is None:
                self._log = ChangeLog.of(self.folder)
                self.rows = rows_of(self._log.changes)
            return self._log

    def before_edit(self, place: ResolvedPath, data: bytes, tool: str) -> None:
        """A tool is about to put `data` at `place`: keep what is there. Never raises OSError."""
        with self.lock:
            if place.root != self.workspace.project or not place.parts:
                return
            self.settle()
            self.blobs.look_again()
            before, old = state_at(place.root, place.parts, MOST_EDITED)
            if before.kind not in ("none", "file"):
                return
            if old is not None:
                self._keep(place.path.name, old)
            mode = before.mode if before.kind == "file" else ANY_MODE
            after = State("file", mode, len(data), hash_of(data))
            if not before.is_same(after):
                self._add([Change(self.turn, tool, "/".join(place.parts), before, after)])

    def before_command(self, tool: str) -> None:
        """A command is about to run: look over the project and keep the contents it might change."""
        with self.lock:
            self.settle()
            self._running += 1
            self._tool, self._before_turn = tool, self.turn
            self._look()

    def after_command(self) -> None:
        """The command is over: find out what it changed."""
        with self.lock:
            self._running = max(self._running - 1, 0)
            self.settle()
            if self._running:
                self._look()

    def settle(self) -> None:
        """Find out what the last command changed, where that was not done yet."""
        with self.lock:
            self._take_up()
            before, self._before = self._before, None
            if before is None:
                return
            changes = self._changes(before, survey(self.workspace))
            if len(changes) > MOST_CHANGES:
                self._say("many", f"A command changed {len(changes):,} files; {MOST_CHANGES:,} are kept.")
                del changes[MOST_CHANGES:]
            self._add(changes)
            forget_look(self.folder)

    def _take_up(self) -> None:
        """What changed in the project since an earlier hel was ended in the middle of a command.

        Whether the command did it or somebody else nobody can tell: the state it left is not known, so that
        the person is asked before any of it is given back.
        """
        if self._is_taken_up:
            return
        self._is_taken_up = True
        left = left_look(self.folder)
        if left is None:
            return
        self._before_turn, self._tool = left.turn, left.tool
        changes = [
            one if one.after.kind == "folder" else replace(one, after=UNKNOWN)
            for one in self._changes(left.survey, survey(self.workspace))
        ]
        lost = sum(one.before.kind == "file" and one.before.hash not in self.blobs for one in changes)
        self._add(changes[:MOST_CHANGES])
        forget_look(self.folder)
        if changes:
            self._say("cut", left.told(len(changes), lost))

    def _look(self) -> None:
        self.blobs.look_again()
        now = survey(self.workspace)
        if now.is_cut:
            self._say("large", LARGE)
        unread = [path for path in now.states if not self._recalled(now, path)]
        unread.sort(key=lambda path: _modified(now.states[path]), reverse=True)
        self._known = {
            path: one for path, one in now.states.items() if one.hash and not _is_fresh(one, now.at)
        }
        self._before = now
        self._reading = reading = self._read_all(now, unread)
        self._beside = False
        try:
            self._read_before(reading)
        finally:
            self._keep_look()

    def _read_before(self, reading: Iterator[bool]) -> None:
        """Read on as long as the command may wait for it, then beside it."""
        until = time.monotonic() + MOST_WAIT
        for _ in reading:
            if time.monotonic() > until:
                self._beside = True
                threading.Thread(target=self._read_on, args=(reading,), name="hel-files", daemon=True).start()
                return
        self._reading = None

    def _keep_look(self) -> None:
        assert self._before is not None
        try:
            keep_look(self.folder, Look(self._before_turn, self._tool, self._before))
        except OSError as error:
            self._say("disk", f"What files were before they are changed cannot be kept: {why(error)}.")

    def _read_all(self, now: Survey, unread: list[str]) -> Iterator[bool]:
        """Read and keep the contents a look found, one at each step, while they are as they were then."""
        left = MOST_READ
        for path in unread:
            state = now.states[path]
            if state.size > min(MOST_SURVEYED, left):
                continue
            left -= state.size
            found, is_fresh = self._read(path, state), _is_fresh(state, now.at)
            if not self._beside or (found.stamp == state.stamp and not is_fresh):
                now.states[path] = found
                if found.hash and not is_fresh:
                    self._known[path] = found
            yield True

    def _read_on(self, reading: Iterator[bool]) -> None:
        """Read the rest beside the command, a few at a time, until another look is made."""
        while True:
            with self.lock:
                if self._reading is not reading:
                    return
                if sum(islice(reading, AT_ONCE)) < AT_ONCE:
                    self._reading = None
                    if self._before is not None:
                        self._keep_look()
                    return

    def _changes(self, before: Survey, now: Survey) -> list[Change]:
        """What is other than it was."""
        changes: list[Change] = []
        for path in dict.fromkeys([*before.states, *now.states]):
            old, new = before.states.get(path, ABSENT), now.states.get(path, ABSENT)
            if ABSENT in (old, new) and not (before.knows(path) and now.knows(path)):
                continue  # it may only have been out of sight
            is_alike = old.stamp == new.stamp and old.kind == new.kind and old.mode == new.mode
            if is_alike and not _is_fresh(old, before.at):
                continue
            if new.kind == "file":
                new = self._hashed(path, new)
            if not old.is_same(new) and (old.hash or new.hash or not is_alike):
                changes.append(Change(self._before_turn, self._tool, path, old, new))
        return changes

    def _hashed(self, path: str, state: State) -> State:
        """The state of a file with the hash of its content, which is not kept."""
        found, _ = state_at(self.workspace.project, tuple(path.split("/")), MOST_SURVEYED)
        if found.kind != "file":
            return state
        return found

    def _recalled(self, now: Survey, path: str) -> bool:
        """Take over what is known of an unchanged file; say whether nothing has to be read."""
        state = now.states[path]
        if state.kind != "file":
            return True
        known = self._known.get(path)
        if known is None or known.stamp != state.stamp or known.hash not in self.blobs:
            return False
        now.states[path] = known
        return True

    def _read(self, path: str, state: State) -> State:
        parts = tuple(path.split("/"))
        found, data = state_at(self.workspace.project, parts, MOST_SURVEYED)
        if found.kind != "file" or data is None:
            return state
        self._keep(parts[-1], data)
        return found

    def _keep(self, name: str, data: bytes) -> None:
        try:
            if not self.blobs.put(data, in_memory=self._is_secret(name, data)):
                self._say("full", "There is no more room to keep what files were before they are changed.")
        except OSError as error:
            self._say("disk", f"What files were before they are changed cannot be kept: {why(error)}.")

    def _is_secret(self, name: str, data: bytes) -> bool:
        low = name.lower()
        if low.startswith(".env") or low in _SECRET_NAMES or low.endswith(_SECRET_ENDINGS):
            return True
        return self._hides(data.decode("utf-8", "replace"))

    def _add(self, changes: list[Change]) -> None:
        try:
            self.log.add(changes)
        except OSError as error:
            self._say("disk", f"What files were before they are changed cannot be kept: {why(error)}.")
        self.rows = rows_of(self.log.changes)

    def load(self) -> None:
        """Read what was kept of a session that is gone on with."""
        with self.lock:
            self._take_up()
            self.rows = rows_of(self.log.changes)

    def undone(self, turn: int, paths: Iterable[str]) -> None:
        """These paths are as they were before `turn` again."""
        with self.lock:
            with suppress(OSError):  # a later hel finds them as they were
                self.log.undo(turn, list(paths))
            self.rows = rows_of(self.log.changes)

    def _say(self, kind: str, sentence: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._tell(sentence)

    def _sweep(self, log: ChangeLog) -> None:
        """Keep on disk only what a change needs."""
        self.blobs.keep_only({one.before.hash for one in log.changes})


def _modified(state: State) -> int:
    return state.stamp.modified if state.stamp is not None else 0


def _is_fresh(state: State, at: int) -> bool:
    """Whether a file changed so short before a look that it may have changed since without a sign."""
    return state.stamp is not None and state.stamp.changed > at - FRESH
