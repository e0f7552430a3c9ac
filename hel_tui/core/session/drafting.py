"""Keeps what is in the prompt with the session that is open, and tells it again when that is opened.

What goes back into the prompt is put down here before the session's file lets go of it: the screen tells of
it only later. Not here: the file (store.sessions.drafts), when a prompt has rested (tui).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.session.parts import Emit
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.redact import MARK, Redactor
from hel_tui.core.store.sessions.drafts import read_draft, write_draft
from hel_tui.core.vocabulary import Json

LACKS = f"{MARK} stands for a secret in what is back in {{}}: write that again before you send it."


class Drafting:
    """That of one run. Lives in the core's loop."""

    def __init__(self, saving: Saving, redactor: Redactor, emit: Emit, *, attended: bool) -> None:
        """`attended`: somebody is there who has a prompt; else what is kept stays for whoever has one."""
        self._saving = saving
        self._redactor = redactor
        self._emit = emit
        self._attended = attended
        self._now = ""
        """What is in the prompt, as far as that is known here."""
        self._found = ""
        """What the session that was opened was left with, not told yet."""
        self._left: Path | None = None
        """The session that was left, which has it until the open one is kept."""
        self._left_with = ""
        """What was put down there last."""

    def keep(self, text: str) -> None:
        """This is in the prompt now. A session that has nothing else does not begin to be kept for it: the
        one that was left before has it until then.
        """
        if not self._attended:
            return
        self._now = text
        if self._saving.is_kept:
            self._write(self._saving.folder, text)
            self._let_go()
        elif self._left is not None and self._has_left():
            self._left_with = self._write(self._left, text)

    def give_back(self, text: str) -> None:
        """This goes back into the prompt, before what is written there. The session's file has it still."""
        self.keep(f"{text}\n{self._now}" if self._now else text)

    def leave(self) -> None:
        """Another session opens: the prompt, and what is in it, goes there with the person."""
        if self._attended and self._saving.is_kept:
            self._let_go()
            self._left, self._left_with = self._saving.folder, read_draft(self._saving.folder)

    def arrive(self) -> None:
        """A kept session is open now: what the person brought is there at once, behind what it had."""
        if not self._attended:
            return
        folder = self._saving.folder
        comes_home = folder == self._left and self._has_left()
        self._found = "" if comes_home else self._redactor(read_draft(folder))
        if self._now:
            self._write(folder, "\n".join(one for one in (self._found, self._now) if one))
        if comes_home:
            self._left = None
        self._let_go()

    def tell(self) -> None:
        """What was in the prompt of the session is there again."""
        found, self._found = self._found, ""
        if found:
            self._now = f"{found}\n{self._now}" if self._now else found
            self._emit(p.DraftFound(found))

    def lacks(self, held: Iterable[Json]) -> list[str]:
        """Says once that secrets are hidden in what comes back: in the prompt, or in these that are held."""
        places = ["the prompt"] if MARK in self._found else []
        if self._attended and any(MARK in str(record) for record in held):
            places.append("the queue")
        return [LACKS.format(" and ".join(places))] if places else []

    def _write(self, folder: Path, text: str) -> str:
        """Put it down there, secrets hidden; returns what is there then."""
        with suppress(OSError):  # that files cannot be written is told of what matters more
            write_draft(folder, self._redactor(text) if text.strip() else "")
        return read_draft(folder)

    def _has_left(self) -> bool:
        """Whether the session that was left has what was put down, and nobody else wrote there since."""
        return self._left is not None and read_draft(self._left) == self._left_with

    def _let_go(self) -> None:
        """Another session has what was put down in the one that was left."""
        if self._left is not None and self._has_left():
            self._write(self._left, "")
        self._left = None
