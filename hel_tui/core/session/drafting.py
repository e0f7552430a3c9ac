"""Keeps what is in the prompt with the session that is open, and tells it again when that is opened.

Not here: the file (store.sessions.drafts), when a prompt has rested (tui).
"""

from __future__ import annotations

from contextlib import suppress

from hel_tui.core import protocol as p
from hel_tui.core.session.parts import Emit
from hel_tui.core.session.saving import Saving
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.drafts import read_draft, write_draft


class Drafting:
    """That of one run. Lives in the core's loop."""

    def __init__(self, saving: Saving, redactor: Redactor, emit: Emit, *, attended: bool) -> None:
        """`attended`: somebody is there who has a prompt; else what is kept stays for whoever has one."""
        self._saving = saving
        self._redactor = redactor
        self._emit = emit
        self._attended = attended

    def keep(self, text: str) -> None:
        """This is in the prompt now. A session that has nothing else does not begin to be kept for it."""
        if self._attended and self._saving.is_kept:
            with suppress(OSError):  # that files cannot be written is told of what matters more
                write_draft(self._saving.folder, self._redactor(text) if text.strip() else "")

    def leave(self) -> None:
        """Another session opens: the prompt, and what is in it, goes there with the person."""
        self.keep("")

    def tell(self) -> None:
        """A kept session is open: what was in its prompt is there again."""
        if self._attended and (text := read_draft(self._saving.folder)):
            self._emit(p.DraftFound(self._redactor(text)))
