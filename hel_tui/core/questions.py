"""Questions to the person: one mechanism for all of them, from trust to forms, logins and "go on?".

The core awaits `Desk.ask`; a dialog, a headless policy or a test answers by id. Whatever ends without an
answer ends as `NotAnswered`, which always means: not done. Not here: what may be asked, and who decides.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from hel_tui.core.protocol import Answer, Asked, Event, NotAnswered, Question, QuestionClosed

_numbers = itertools.count(1)


def question_id() -> str:
    """A fresh id for a question."""
    return f"q{next(_numbers)}"


class Desk:
    """Open questions of one session. Lives in the core's loop."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._open: dict[str, asyncio.Future[Answer]] = {}
        self._closed = ""

    async def ask(self, question: Question) -> Answer:
        """Show the question and wait for its answer; cancelling the caller takes the question back."""
        if self._closed:
            return NotAnswered(self._closed)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[question.id] = future
        self._emit(Asked(question))
        try:
            return await future
        finally:
            del self._open[question.id]
            self._emit(QuestionClosed(question.id))

    def reply(self, question: str, answer: Answer) -> None:
        """Answer an open question; anything else is ignored (it was closed meanwhile)."""
        future = self._open.get(question)
        if future is not None and not future.done():
            future.set_result(answer)

    def close(self, why: str) -> None:
        """Answer all that is open, and all that will be asked, with "not answered"."""
        self._closed = why
        for future in self._open.values():
            if not future.done():
                future.set_result(NotAnswered(why))
