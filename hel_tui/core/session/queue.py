"""What waits for its turn: messages, commands and lines for the shell, in the order in which they were sent.

A message may go into the turn that runs, before its next request. After a turn that was stopped or failed
nothing goes by itself: what waits then is held. Not here: running it (conversation).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.agent.turn import Ending
from hel_tui.core.session.offerings import Message
from hel_tui.core.vocabulary import Json


def _nothing() -> None:
    """Nothing was attached."""


_UNTOLD = frozenset({"server", "behind"})
"""What the record of its beginning does not say of a turn: such work is put down before it begins, and what
has no words for the model.
"""
MOST_NAMED = 300
"""Characters of what is named that did not run."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """One thing that runs as a turn."""

    text: str
    """As the queue shows it."""
    run: Callable[[int], Coroutine[Any, Any, Ending]]
    spoken: str = ""
    """What the person said to the model; empty for a call by hand."""
    attached: tuple[str, ...] = ()
    """`server:uri` of what goes with it."""
    drop: Callable[[], None] = _nothing
    """Called when it is taken back before it ran."""
    joins: Callable[[], Awaitable[Message | str]] | None = None
    """Gives the message, or a sentence why it cannot be had; None where it has to be a turn of its own."""
    record: Json | None = None
    """What it takes to make it again in another run (waiting.record_of); None where it is not kept."""


class WorkQueue:
    """That of one session. Lives in the core's loop; tells the screen of each change, and the file."""

    def __init__(
        self, emit: Callable[[p.Event], None], write: Callable[[Json], object] = lambda _record: None
    ) -> None:
        """`write` puts a line into the file of the session."""
        self._emit = emit
        self._write = write
        self._numbers: dict[Work, int] = {}
        """The numbers under which the file has what waits."""
        self._last = 0
        self._is_joinable = True
        """What runs talks with the model: messages can go into it."""
        self._held: deque[Work] = deque()
        self._waiting: deque[Work] = deque()
        self._aside: list[Work] = []
        self.back: Callable[[str], None] = lambda _text: None
        """Called with what goes back into the prompt, before the file lets go of it."""

    @property
    def goes_on(self) -> bool:
        """Whether there is something that runs by itself when its turn comes."""
        return bool(self._waiting)

    def add(self, work: Work) -> None:
        """Put it at the end. What is held stays where it is: this one goes before it."""
        self._waiting.append(work)

    def next(self) -> Work | None:
        """Take the oldest that is not held: its turn begins now."""
        if not self._waiting:
            return None
        work = self._waiting.popleft()
        self._is_joinable = bool(work.spoken)
        if work.record is not None and not (work.spoken and _UNTOLD.isdisjoint(work.record)):
            self._put_down(work)
        self._goes(work, "TurnStarted")
        return work

    def hold(self) -> None:
        """Let nothing of it go by itself."""
        self._held += self._waiting
        self._waiting.clear()
        self.show()

    def hold_again(self, works: Sequence[Work], turn: int) -> None:
        """They were on their way in this turn and came to nothing: they are held before all else."""
        self._held.extendleft(reversed(works))
        for work in works:
            self._put_down(work, turn=turn)

    def release(self) -> None:
        """What is held goes on, before what was sent since."""
        self._waiting.extendleft(reversed(self._held))
        self._held.clear()

    def take_back(self, text: str) -> None:
        """Hand the newest back, or the newest with this text; nothing where it is not there any more."""
        for waiting in (self._waiting, self._held):
            for work in reversed(waiting):
                if text in ("", work.text):
                    waiting.remove(work)
                    work.drop()
                    self.back(work.text)
                    self._emit(p.Unqueued(work.text))
                    self.show()
                    return

    def set_aside(self) -> None:
        """Take all of it out, because another session opens: nothing of it runs there."""
        self._aside += (*self._held, *self._waiting)
        self._waiting.clear()
        self._held.clear()
        if back := _for_prompt(self._aside):
            self.back(_as_one(back))
        self._keep()

    def give_back(self) -> None:
        """Hand back what was set aside: messages as one text to be written again, the rest by name."""
        aside, self._aside = self._aside, []
        for work in aside:
            work.drop()
        if back := _for_prompt(aside):
            self._emit(p.Unqueued(_as_one(back)))
        if names := ", ".join(work.text for work in aside if work not in back):
            self._emit(p.Notice("warning", f"Not run, because another session is open: {names[:MOST_NAMED]}"))

    def close(self, unsent: Work | None = None, turn: int = 0) -> None:
        """Let nothing go any more. What waits stays in the file, for whoever opens the session again; before
        it what had begun as `turn` and reached nobody, `unsent`.
        """
        self._held += self._waiting
        self._waiting.clear()
        if unsent is not None:
            self._held.appendleft(unsent)
            self._put_down(unsent, turn=turn)

    def go_on(self, works: Sequence[tuple[int, Work]], last: int) -> None:
        """The session that opens had these, by their numbers in its file: all are held."""
        self._held = deque(work for _, work in works)
        self._numbers = {work: number for number, work in works}
        self._last = last

    def show(self) -> None:
        """Tell what waits."""
        self._keep()
        texts = tuple(work.text for work in (*self._held, *self._waiting))
        joins = sum(1 for _ in takewhile(lambda work: work.joins is not None, self._waiting))
        joins = joins if self._is_joinable else 0
        self._emit(p.Queued(texts, held=len(self._held), joins=joins))

    async def join(self, say: Callable[[Work, Message], None]) -> None:
        """Hand the messages at the front to `say`, up to the first that has to be a turn of its own."""
        while self._waiting and (work := self._waiting[0]).joins is not None:
            message = await work.joins()
            if not self._waiting or self._waiting[0] is not work:
                continue  # it was taken back meanwhile
            if isinstance(message, str):
                return  # its own turn says why
            self._goes(self._waiting.popleft(), "message")
            self.show()
            say(work, message)

    def _keep(self) -> None:
        """Write down what waits since, and what does not wait any more."""
        waiting = (*self._held, *self._waiting)
        for work in waiting:
            self._put_down(work)
        for work in self._numbers.keys() - set(waiting):
            self._write({"k": "unqueued", "n": self._numbers.pop(work)})

    def _put_down(self, work: Work, **more: int) -> None:
        if work not in self._numbers and work.record is not None:
            self._last += 1
            self._numbers[work] = self._last
            self._write({"k": "queued", "n": self._last, **work.record, **more})

    def _goes(self, work: Work, kind: str) -> None:
        """Write that it waits no more once the next record of this kind is in the file, too."""
        if (number := self._numbers.pop(work, None)) is not None:
            self._write({"k": "unqueued", "n": number, "for": kind})


def _for_prompt(aside: list[Work]) -> list[Work]:
    """What of it is to be written again."""
    return [work for work in aside if len(aside) == 1 or not _is_command(work)]


def _as_one(works: list[Work]) -> str:
    return "\n".join(work.text for work in works)


def _is_command(work: Work) -> bool:
    """Whether it is a line of its own, not words of the person's for the model."""
    return work.record is None or work.record.get("what") != "message"
