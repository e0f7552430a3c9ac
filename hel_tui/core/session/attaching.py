"""Finding files by name and pasting from the clipboard, as the person commands.

Not here: what is attached already, and what it adds to a message (offerings).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.session.clipboard import Empty, Unfit, read_clipboard
from hel_tui.core.session.offerings import Offerings
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.finding import FileIndex


class Attaching:
    """Lives in the core's loop."""

    def __init__(
        self,
        offerings: Offerings,
        index: FileIndex,
        environ: Mapping[str, str],
        project: Path,
        emit: Callable[[p.Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._offerings = offerings
        self._index = index
        self._environ = environ
        self._project = project
        self._emit = emit
        self._spawn = spawn
        self._wanted: str | None = None
        self._looking = False

    def obey(self, command: p.Command) -> bool:
        """Carry out a command; False for one that is none of these."""
        match command:
            case p.FindFiles(word):
                self._spawn(self._find(word))
            case p.PasteClipboard(otherwise):
                self._spawn(self._paste(otherwise))
            case _:
                return False
        return True

    async def _find(self, word: str) -> None:
        """Look for files; while one look is under way only the newest word waits for its end."""
        self._wanted = word
        if self._looking:
            return
        self._looking = True
        try:
            while self._wanted is not None:
                wanted, self._wanted = self._wanted, None
                self._emit(p.FilesFound(wanted, await self._found(wanted)))
        finally:
            self._looking = False

    async def _found(self, word: str) -> tuple[str, ...]:
        return await in_thread(lambda: self._index.find(word), "hel-files")

    async def _paste(self, otherwise: str) -> None:
        problem = ""
        try:
            found = await in_thread(lambda: read_clipboard(self._environ, self._project), "hel-clipboard")
        except Empty as nothing:
            if otherwise:
                self._emit(p.Pasted(otherwise))
            else:
                problem = str(nothing)
        except Unfit as unfit:
            problem = str(unfit)
        else:
            if isinstance(found, str):
                self._emit(p.Pasted(found))
            else:
                problem = await self._offerings.paste(found)
        if problem:
            self._emit(p.Notice("warning", problem))
