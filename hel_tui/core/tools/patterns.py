"""Regular expressions of `grep`: one dialect, whichever program searches.

A pattern is read here and written anew so that ripgrep and Python's `re` take it for the same. Lines are
searched one by one; lookaround and back-references are refused. Not here: searching (grep).
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

MAX_PATTERN = 2_000
MAX_REPEAT = 255
_MAX_DEPTH = 50
_META = frozenset("\\.+*?()|[]{}^$#&-~")
_CONTROL = {"t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_SPACES = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_POSIX = {
    "alpha": "A-Za-z",
    "digit": "0-9",
    "alnum": "0-9A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\t-\r ",
    "blank": r"\t ",
    "xdigit": "0-9A-Fa-f",
    "word": "0-9A-Za-z_",
    "punct": r"!-/:-@\[-`{-\~",
}
_NO_RAW_BYTE = r"(?![\udc80-\udcff])"
"""For Python, where a byte that is no UTF-8 is read as a lone surrogate; ripgrep matches none of them."""
_REPEAT = re.compile(r"\{(?:(\d+)(?:(,)(\d*))?|,(\d+))\}")
_CASE_FLAGS = {"i": True, "-i": False, "s": None, "m": None, "ms": None, "sm": None}


@dataclass(frozen=True, slots=True)
class Pattern:
    """The same expression as ripgrep and as Python read it."""

    ripgrep: str
    python: str
    ignore_case: bool


class PatternError(ValueError):
    """The pattern cannot be used; the text says where and why."""


def translate(pattern: str, *, ignore_case: bool = False) -> Pattern:
    """Read `pattern` and write it for both programs. Raises PatternError with a sentence."""
    if not pattern:
        raise PatternError("The pattern is empty.")
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"The pattern is longer than {MAX_PATTERN:,} characters.")
    start = 0
    if pattern.startswith("(?i)"):
        ignore_case, start = True, 4
    ripgrep = _Reader(pattern, start, for_python=False).whole()
    python = _Reader(pattern, start, for_python=True).whole()
    return Pattern(ripgrep, python, ignore_case)


class _Reader:
    """Reads a pattern from left to right and writes it for one program."""

    def __init__(self, text: str, at: int, *, for_python: bool) -> None:
        self._text = text
        self._at = at
        self._for_python = for_python

    def whole(self) -> str:
        written = self._alternatives(0)
        if self._at < len(self._text):
            raise self._error("there is no ( for this )")
        return written

    # ------------------------------------------------------------ expressions

    def _alternatives(self, depth: int) -> str:
        if depth > _MAX_DEPTH:
            raise self._error("groups are nested too deeply")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence(depth))
        return "|".join(branches)

    def _sequence(self, depth: int) -> str:
        written: list[str] = []
        while self._peek() not in ("", "|", ")"):
            atom, repeatable = self._atom(depth)
            written.append(atom + self._repeat(repeatable=repeatable))
        return "".join(written)

    def _atom(self, depth: int) -> tuple[str, bool]:
        """One piece, and whether it can be repeated."""
        if self._repeat_at() is not None:
            raise self._error("there is nothing to repeat")
        char = self._take()
        match char:
            case ".":
                return self._guarded(r"[^\n\r]"), True
            case "^":
                return "^", False
            case "$":
                return r"(?:\r?$)", False
            case "(":
                return self._group(depth), True
            case "[":
                return self._class(), True
            case "\\":
                return self._escape()
            case _:
                return self._literal(char), True

    def _group(self, depth: int) -> str:
        opening = "(?:"
        if self._peek() == "?":
            opening = self._group_kind()
        inner = self._alternatives(depth + 1)
        if self._peek() != ")":
            raise self._error("a ( is not closed")
        self._at += 1
        return f"{opening}{inner})"

    def _group_kind(self) -> str:
        """What stands behind `(?`: no capture, a name (left out), or flags for the group."""
        if named := re.compile(r"\?P?<[A-Za-z_]\w*>").match(self._text, self._at):
            self._at = named.end()
            return "(?:"
        flagged = re.compile(r"\?([a-zA-Z-]*)(:|\))").match(self._text, self._at)
        if flagged is None:
            raise self._error("lookaround and the like are not supported")
        flags, end = flagged.groups()
        if end == ")" or (flags and flags not in _CASE_FLAGS):
            raise self._error("of flags only (?i) at the start and (?i:…) are supported")
        self._at = flagged.end()
        switch = _CASE_FLAGS.get(flags)
        return "(?:" if switch is None else f"(?{flags}:"

    # ---------------------------------------------------------------- repeats

    def _repeat_at(self) -> tuple[str, int] | None:
        """The repetition that begins here as it is written, and where it ends."""
        char = self._peek()
        if char and char in "*+?":
            return char, self._at + 1
        found = _REPEAT.match(self._text, self._at)
        if found is None:
            return None
        least, comma, most, only_most = found.groups()
        if only_most is not None:
            least, comma, most = "0", ",", only_most
        if max(int(least), int(most or 0)) > MAX_REPEAT:
            raise self._error(f"more than {MAX_REPEAT} repetitions are not supported")
        if most and int(most) < int(least):
            raise self._error("the repetition ends below its start")
        return f"{{{int(least)}{comma or ''}{int(most) if most else ''}}}", found.end()

    def _repeat(self, *, repeatable: bool) -> str:
        found = self._repeat_at()
        if found is None:
            return ""
        if not repeatable:
            raise self._error("a position cannot be repeated")
        written, self._at = found
        if self._peek() == "?":
            self._at += 1
            written += "?"
        if self._repeat_at() is not None:
            raise self._error("a repetition cannot be repeated; use a group")
        return written

    # -------------------------------------------------- characters and classes

    def _escape(self) -> tuple[str, bool]:
        char = self._peek()
        if char and char in "bB":
            self._at += 1
            return f"\\{char}", False
        if char and char in "dws":
            self._at += 1
            return (f"[{_SPACES}]" if char == "s" else f"\\{char}"), True
        if char and char in "DWS":
            self._at += 1
            return self._guarded(f"[^{_SPACES}]" if char == "S" else f"\\{char}"), True
        return self._literal(self._escaped()), True

    def _escaped(self) -> str:
        """The one character an escape stands for."""
        char = self._take()
        if char in _CONTROL:
            return _CONTROL[char]
        if char and char in "xuU":
            return self._by_number(char)
        if char == "n":
            raise self._error("lines are searched one by one, so \\n never matches")
        if char.isdigit():
            raise self._error("back-references are not supported")
        if not char or char in string.ascii_letters:
            raise self._error(f"\\{char} is not supported")
        return char

    def _by_number(self, kind: str) -> str:
        digits = {"x": 2, "u": 4, "U": 8}[kind]
        form = rf"\{{([0-9A-Fa-f]{{1,8}})\}}|([0-9A-Fa-f]{{{digits}}})"
        found = re.compile(form).match(self._text, self._at)
        code = int(found[1] or found[2], 16) if found else -1
        if found is None or code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise self._error(f"\\{kind} needs the number of a character")
        self._at = found.end()
        return chr(code)

    def _literal(self, char: str) -> str:
        if char == "\n":
            raise self._error("lines are searched one by one, so a newline never matches")
        if char == "\0" or "\ud800" <= char <= "\udfff":
            raise self._error("it holds a character that no text has")
        if char in _META:
            return f"\\{char}"
        return f"\\x{ord(char):02x}" if ord(char) < 0x20 or ord(char) == 0x7F else char

    def _class(self) -> str:
        """A set in brackets, read as Python does: what is special to others in it stands for itself."""
        negated = self._peek() == "^"
        self._at += negated
        written = ""
        spans = negated
        first = True
        while first or self._peek() != "]":
            first = False
            item, low = self._class_item()
            spans = spans or item in ("\\D", "\\W", "\\S")
            written += item
            if low and self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                high_item, high = self._class_item()
                if not high or high < low:
                    raise self._error("a range in [ ] is the wrong way round")
                written += f"-{high_item}"
        self._at += 1
        whole = f"[{'^' if negated else ''}{written}]"
        return self._guarded(whole) if spans else whole

    def _class_item(self) -> tuple[str, str]:
        """What is written for one member, and the character it is ("" for a set of them)."""
        if named := re.compile(r"\[:([a-z]+):\]").match(self._text, self._at):
            if named[1] not in _POSIX:
                raise self._error(f"[:{named[1]}:] is not supported")
            self._at = named.end()
            return _POSIX[named[1]], ""
        if not self._peek():
            raise self._error("a [ is not closed")
        char = self._take()
        if char != "\\":
            return self._literal(char), char
        kind = self._peek()
        if kind and kind in "dDwWsS":
            self._at += 1
            return (_SPACES if kind == "s" else f"\\{kind}"), ""
        if kind == "b":
            raise self._error("\\b in [ ] is not supported")
        char = self._escaped()
        return self._literal(char), char

    # ----------------------------------------------------------------- reading

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        char = self._peek()
        self._at += 1
        return char

    def _guarded(self, matcher: str) -> str:
        return f"(?:{_NO_RAW_BYTE}{matcher})" if self._for_python else matcher

    def _error(self, problem: str) -> PatternError:
        at = min(self._at, len(self._text))
        return PatternError(f"The pattern cannot be used: {problem} (at character {at + 1}).")
