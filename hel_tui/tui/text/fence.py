"""A code block whose end has not arrived: lines are added, only the last one may still change.

Not here: where it begins (markdown), and code blocks that are whole (blocks).
"""

from __future__ import annotations

import re

from hel_tui.tui.text.blocks import code_rows
from hel_tui.tui.text.highlight import plain_code
from hel_tui.tui.text.lines import Line


class OpenFence:
    """The open code block of a growing source."""

    def __init__(self, source: str, opening: int, marker: str, language: str) -> None:
        """`opening` is where its opening line begins in `source`; that line is complete."""
        indent = len(source[opening : opening + 4]) - len(source[opening : opening + 4].lstrip(" "))
        self.language = language
        self.start = source.find("\n", opening) + 1
        self._indent = re.compile(f"^ {{1,{indent}}}", re.MULTILINE) if indent else None
        self._closing = re.compile(rf"^ {{0,3}}{re.escape(marker[0])}{{{len(marker)},}} *$", re.MULTILINE)
        self._marker = marker
        self._scanned = self.start  # start of the first line that is not complete
        self._rows: list[Line] = []
        self._rows_for = 0
        self._rows_end = self.start

    def close(self, source: str, done: bool) -> tuple[str, int] | None:
        """(text, where the rest begins) once the closing line is there; with `done`, also without it."""
        complete = source.rfind("\n") + 1
        limit = len(source) if done else complete
        match = self._closing.search(source, self._scanned, limit)
        if match is not None:
            return self._text(source[self.start : match.start()].removesuffix("\n")), min(
                match.end() + 1, len(source)
            )
        self._scanned = max(self._scanned, complete)
        if done:
            return self._text(source[self.start :].removesuffix("\n")), len(source)
        return None

    def _text(self, text: str) -> str:
        return self._indent.sub("", text) if self._indent else text

    def render(self, source: str, width: int) -> list[Line]:
        """The rows so far; complete lines are laid out once."""
        if width != self._rows_for:
            self._rows, self._rows_for, self._rows_end = [], width, self.start
        if self._scanned > self._rows_end:
            text = self._text(source[self._rows_end : self._scanned - 1])
            self._rows += code_rows(plain_code(text), width)
            self._rows_end = self._scanned
        last = self._text(source[self._rows_end :])
        if not last or (last.strip() and last.strip() in self._marker):
            return list(self._rows)
        return self._rows + code_rows(plain_code(last), width)
