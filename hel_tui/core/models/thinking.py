"""Reasoning that comes inside the text, between `<think>` tags, told apart while it streams.

Only a tag at the very beginning opens a thought: an answer may talk about tags.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Feed it text, get (reasoning, text). Holds back at most what could be the start of a tag."""

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, text: str) -> tuple[str, str]:
        if self._state == "text":
            return "", text
        held, self._held = self._held + text, ""
        if self._state == "start":
            begun = held.lstrip()
            if not begun.startswith(OPEN):
                if OPEN.startswith(begun):
                    self._held = held
                    return "", ""
                self._state = "text"
                return "", held
            self._state, held = "thought", begun[len(OPEN) :]
        if self._state == "thought":
            thought, closed, rest = held.partition(CLOSE)
            if not closed:
                keep = _overlap(held, CLOSE)
                self._held = held[len(held) - keep :]
                return held[: len(held) - keep], ""
            self._state = "after"
            return thought, self._after(rest)
        return "", self._after(held)

    def close(self) -> tuple[str, str]:
        """What was held back when the stream ended."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "thought" else ("", held)

    def _after(self, text: str) -> str:
        """The blank lines between a thought and the answer belong to neither."""
        text = text.lstrip()
        if text:
            self._state = "text"
        return text


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`."""
    for size in range(min(len(text), len(tag) - 1), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
