"""Going back to before a turn: files from their checkpoints, the conversation in a fork that ends there.

Not here: what is kept of files (tools.checkpoints), opening the fork (resuming).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.session.kept import Opened, open_session
from hel_tui.core.session.opening import opened_in_thread
from hel_tui.core.store.atomic import why
from hel_tui.core.store.sessions.forking import fork_session, turn_before
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.checkpoints.restoring import Done, Step, plan, restore
from hel_tui.core.vocabulary import UserMessage

MOST_SHOWN = 20
"""Files that the question shows with what would become of them."""
MOST_NAMED = 5
"""Files that a sentence names."""
BUSY = "A turn is running: stop it first, then go back."
NOTHING = "No turn of this session changed files that hel could give back."
ALREADY = "What turns of this session changed is given back already; nothing is left to undo."


async def fork_before(folder: Path, turn: int) -> Opened | str:
    """A fork of the session in `folder` that ends before `turn`, read and locked; a sentence when it cannot
    be had.
    """

    def make() -> Opened | str:
        try:
            fork = fork_session(folder, turn_before(folder, turn))
            return fork if isinstance(fork, str) else open_session(fork.folder)
        except OSError as error:
            return f"The session cannot be forked: {why(error)}."

    return await opened_in_thread(make)


class Rewinding:
    """Gives files back. Lives in the core's loop."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        desk: Desk,
        emit: Callable[[p.Event], None],
        tell: Callable[[UserMessage], None],
        is_busy: Callable[[], bool],
    ) -> None:
        """`tell` lets the model know, with the next message of the person."""
        self._checkpoints = checkpoints
        self._desk = desk
        self._emit = emit
        self._tell = tell
        self._is_busy = is_busy
        self._is_under_way = False
        self._said: list[p.Notice] = []
        """What was said of the files last, in the session that is left."""

    async def files(self, turn: int, *, tell: bool) -> p.Rewound | None:
        """Give files back as they were before `turn` (0: the newest that changed any); None when it was not
        done. `tell` lets the model know.
        """
        self._said = []
        if self._is_under_way or self._is_busy():
            self._emit(p.Notice("warning", BUSY))
            return None
        self._is_under_way = True
        try:
            return await self._files(turn, tell)
        finally:
            self._is_under_way = False

    def tell_again(self) -> None:
        """Say in the fork what became of the files."""
        said, self._said = self._said, []
        for notice in said:
            self._emit(notice)

    async def _files(self, turn: int, tell: bool) -> p.Rewound | None:
        checkpoints = self._checkpoints
        if not turn:
            changes = (await in_thread(lambda: checkpoints.log)).changes
            turn = max((one.turn for one in changes), default=0)
        steps = await in_thread(lambda: plan(checkpoints, turn)) if turn else []
        if not steps:
            given_back = (await in_thread(lambda: checkpoints.log)).given_back
            self._emit(p.Notice("info", ALREADY if given_back else NOTHING))
            return p.Rewound(turn, conversation=False)
        decision = await self._decision(turn, steps)
        if decision == "cancel":
            return None
        if self._is_busy():
            self._emit(p.Notice("warning", BUSY))
            return None
        done = await in_thread(lambda: restore(checkpoints, turn, steps, decision == "overwrite"))
        self._said = _told(turn, done)
        for notice in self._said:
            self._emit(notice)
        if tell and done.restored:
            names = _named(done.restored)
            self._tell(UserMessage(f"I put files back as they were before turn {turn}: {names}."))
        return p.Rewound(turn, conversation=False, restored=len(done.restored), kept=len(done.kept))

    async def _decision(self, turn: int, steps: list[Step]) -> str:
        changed = [p.ChangedFile(one.path, one.diff) for one in steps if one.fate == "changed"]
        if not changed:
            return "keep"
        others = sum(one.fate == "restore" for one in steps)
        shown, more = tuple(changed[:MOST_SHOWN]), max(len(changed) - MOST_SHOWN, 0)
        answer = await self._desk.ask(p.RestoreQuestion(question_id(), turn, shown, more, others))
        return answer.decision if isinstance(answer, p.RestoreAnswer) else "cancel"


def _told(turn: int, done: Done) -> list[p.Notice]:
    """What became of the files, as sentences."""
    notices: list[p.Notice] = []
    if done.restored:
        count = len(done.restored)
        what = "1 file is as it was" if count == 1 else f"{count} files are as they were"
        notices.append(p.Notice("info", f"{what} before turn {turn}: {_named(done.restored)}."))
    if done.kept:
        notices.append(p.Notice("warning", f"Left as they are, changed since: {_named(done.kept)}."))
    if done.problems:
        more = len(done.problems) - MOST_NAMED
        behind = f" And {more} more." if more > 0 else ""
        text = " ".join(done.problems[:MOST_NAMED])
        notices.append(p.Notice("warning", f"Not given back: {text}{behind}"))
    return notices or [p.Notice("info", f"The files are as they were before turn {turn} already.")]


def _named(paths: tuple[str, ...]) -> str:
    more = len(paths) - MOST_NAMED
    names = (one.encode("utf-8", "replace").decode() for one in paths[:MOST_NAMED])
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
