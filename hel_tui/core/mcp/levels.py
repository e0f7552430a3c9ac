"""What level a line of stderr seems to have, by the shapes that loggers of many languages give it.

A guess, for filters and colours: nothing depends on it. Not here: levels of logging messages, which say
theirs.
"""

from __future__ import annotations

import re
from typing import get_args

from hel_tui.core.protocol import LogLevel
from hel_tui.foreign import COLOURS

LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
HEAD = 200
"""Characters of a line that are looked at."""

_WORDS: dict[str, LogLevel] = {
    **dict.fromkeys(("trace", "debug", "dbg", "verbose", "silly", "fine", "10", "20"), "debug"),
    **dict.fromkeys(("info", "information", "inf", "30"), "info"),
    "notice": "notice",
    **dict.fromkeys(("warn", "warning", "wrn", "40"), "warning"),
    **dict.fromkeys(("error", "err", "err!", "severe", "50"), "error"),
    **dict.fromkeys(("critical", "crit", "fatal", "panic", "60"), "critical"),
    "alert": "alert",
    **dict.fromkeys(("emerg", "emergency"), "emergency"),
}
_KLOG: dict[str, LogLevel] = {"I": "info", "W": "warning", "E": "error", "F": "critical"}
_TRIGGERS = (
    *("err", "warn", "info", "debug", "level", "severity", "exception", "fatal", "trace", "crit"),
    *("panic", "notice", "alert", "emerg", "wrn", "dbg"),
)
_WORD = (
    "trace|debug|dbg|verbose|info(?:rmation)?|inf|notice|warn(?:ing)?|wrn|error|err!?|severe|crit(?:ical)?|"
    "fatal|panic|alert|emerg(?:ency)?"
)
_SHAPES = re.compile(
    r"[\"']?(?:log\.)?\b(?:level|lvl|severity|levelname)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(?P<field>[A-Za-z]+|\d0)\b"
    rf"|[\[(<|](?i:\s{{0,3}}(?P<bracket>{_WORD})\s{{0,3}})[\])>|]"
    rf"|(?:^|[\s:|\]-])(?P<upper>{_WORD.upper()})(?=[\s:|\[(-]|$)"
    rf"|^\s{{0,8}}(?i:(?P<first>{_WORD}))(?:\[[\w-]{{1,20}}\])?:"
    rf"|(?:^|\s)(?P<colon>{_WORD}):\s"
    r"|(?P<failure>^\s{0,8}(?:Uncaught |Caused by: )?(?:[A-Za-z_][\w.$]{0,80})?(?:Error|Exception)\b"
    r"(?::|\s\[|$)"
    r"|^thread '.{1,80}' panicked)"
)


def known_level(word: str) -> LogLevel | str:
    """The level a server names; empty for a word that is none."""
    lower = word.lower()
    return lower if lower in LEVELS else _WORDS.get(lower, "")


def guess(line: str) -> LogLevel | str:
    """The level of one line by itself; empty when it shows none."""
    head = line[:HEAD]
    if head[:1] in _KLOG and head[1:5].isdigit() and head[5:6] == " ":
        return _KLOG[head[0]]
    lower = head.lower()
    if not any(trigger in lower for trigger in _TRIGGERS):
        return ""
    if "\x1b" in head:
        head = COLOURS.sub("", head)
    if head.startswith("Traceback (most recent call last)"):
        return "error"
    found = _SHAPES.search(head)
    if found is None:
        return ""
    word = next((found[name] for name in ("field", "bracket", "upper", "first", "colon") if found[name]), "")
    return _WORDS.get(word.lower(), "") if word else "error"


class Guesser:
    """Guesses line after line of one stream: what is indented under a traceback belongs to it."""

    def __init__(self) -> None:
        self._in_traceback = False

    def level(self, line: str) -> LogLevel | str:
        """The level of the next line."""
        if self._in_traceback:
            self._in_traceback = line[:1] in (" ", "\t", "")
            return "error"
        found = guess(line)
        self._in_traceback = found == "error" and line.startswith("Traceback (")
        return found
