"""Wildcards for paths: `*`, `?`, `[a-z]`, `{a,b}` in a name, `**` for any folders between.

Matching takes time in proportion to pattern times name, whatever the pattern. Not here: the walk (walking).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_WILDCARD = 1_000
MAX_ALTERNATIVES = 64
ANY_FOLDERS = "**"


class WildcardError(ValueError):
    """The wildcard cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class _Set:
    """A bracketed set: ranges of characters, or all others."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


@dataclass(frozen=True, slots=True)
class _Sign:
    """`*` or `?`."""

    many: bool


_Token = str | _Set | _Sign
_Segment = tuple[_Token, ...] | None
"""None stands for `**`."""
States = frozenset[tuple[int, int]]
"""How far along a path is in each alternative: (alternative, segments matched)."""


class Wildcard:
    """A pattern of one or more `/`-separated segments, read once."""

    def __init__(self, pattern: str) -> None:
        """Raises WildcardError."""
        if not pattern.strip("/"):
            raise WildcardError("The pattern is empty.")
        if len(pattern) > MAX_WILDCARD:
            raise WildcardError(f"The pattern is longer than {MAX_WILDCARD:,} characters.")
        spelled = [_segments(alternative) for alternative in _expanded(pattern)]
        self.names = frozenset(name for segments in spelled for name in segments)
        """The segments as they are written."""
        self.is_path = "/" in pattern
        self.extensions = _only_extensions(spelled)
        """The extensions it asks for, where it asks for nothing else."""
        self.any_depth = ANY_FOLDERS in self.names
        self._alternatives: list[list[_Segment]] = [
            [None if name == ANY_FOLDERS else _tokens(name) for name in segments] for segments in spelled
        ]

    def start(self) -> States:
        """The states at the folder the pattern is relative to."""
        return self._closed((number, 0) for number in range(len(self._alternatives)))

    def step(self, states: States, name: str) -> States:
        """The states one name further down; empty when nothing below can match."""
        after: list[tuple[int, int]] = []
        for number, at in states:
            segments = self._alternatives[number]
            if at == len(segments):
                continue
            segment = segments[at]
            if segment is None:
                after.append((number, at))
            elif _matches(segment, name):
                after.append((number, at + 1))
        return self._closed(after)

    def accepts(self, states: States) -> bool:
        """Whether a path in these states matches."""
        return any(at == len(self._alternatives[number]) for number, at in states)

    def matches(self, parts: Iterable[str]) -> bool:
        """Whether the path of these names matches as a whole."""
        states = self.start()
        for part in parts:
            states = self.step(states, part)
        return self.accepts(states)

    def _closed(self, states: Iterable[tuple[int, int]]) -> States:
        """`**` also stands for no folder at all."""
        reached = set()
        for number, start in states:
            segments, at = self._alternatives[number], start
            reached.add((number, at))
            while at < len(segments) and segments[at] is None:
                at += 1
                reached.add((number, at))
        return frozenset(reached)


def _segments(pattern: str) -> list[str]:
    return [name for name in pattern.split("/") if name not in ("", ".")]


def _only_extensions(spelled: list[list[str]]) -> tuple[str, ...]:
    found = [re.fullmatch(r"\*\.(\w+)", segments[0]) for segments in spelled if len(segments) == 1]
    extensions = tuple(one[1] for one in found if one is not None)
    return extensions if len(extensions) == len(spelled) else ()


def _expanded(pattern: str) -> list[str]:
    """All alternatives of `{a,b}`, nested ones too; a brace without a partner stands for itself."""
    waiting, done = [pattern], list[str]()
    while waiting:
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise WildcardError(f"The pattern has more than {MAX_ALTERNATIVES} alternatives.")
        text = waiting.pop()
        braces = _first_braces(text)
        if braces is None:
            done.append(text)
            continue
        start, commas, end = braces
        edges = [start, *commas, end]
        waiting += [
            text[:start] + text[left + 1 : right] + text[end + 1 :]
            for left, right in itertools.pairwise(edges)
        ]
    return done


def _first_braces(text: str) -> tuple[int, list[int], int] | None:
    """The first `{…,…}`: where it opens, its own commas, where it closes."""
    opened: list[tuple[int, list[int]]] = []
    skip = False
    for at, char in enumerate(text):
        if skip or char == "\\":
            skip = not skip
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            if commas:
                return start, commas, at
    return None


def _tokens(segment: str) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            if not (tokens and tokens[-1] == _Sign(many=True)):
                tokens.append(_Sign(many=True))
        elif char == "?":
            tokens.append(_Sign(many=False))
        elif char == "[" and (found := _bracket(segment, at)):
            token, at = found
            tokens.append(token)
        elif char == "\\" and at < len(segment):
            tokens.append(segment[at])
            at += 1
        else:
            tokens.append(char)
    return tuple(tokens)


def _bracket(segment: str, at: int) -> tuple[_Set, int] | None:
    """The set that opens before `at`, and where it ends; None when it is not closed."""
    negated = segment[at : at + 1] in ("!", "^")
    at += negated
    close = segment.find("]", at + 1)
    if close < 0:
        return None
    inner = segment[at:close]
    ranges: list[tuple[str, str]] = []
    index = 0
    while index < len(inner):
        if inner[index + 1 : index + 2] == "-" and index + 2 < len(inner):
            ranges.append((inner[index], inner[index + 2]))
            index += 3
        else:
            ranges.append((inner[index], inner[index]))
            index += 1
    return _Set(tuple(ranges), negated), close + 1


def _matches(tokens: tuple[_Token, ...], name: str) -> bool:
    """Match a name; of several `*` only the last is ever tried again, which is enough."""
    token_at = name_at = 0
    star, retry = -1, 0
    while name_at < len(name):
        token = tokens[token_at] if token_at < len(tokens) else None
        if isinstance(token, _Sign) and token.many:
            star, retry = token_at, name_at
            token_at += 1
        elif token is not None and _is_one(token, name[name_at]):
            token_at += 1
            name_at += 1
        elif star >= 0:
            retry += 1
            token_at, name_at = star + 1, retry
        else:
            return False
    return all(isinstance(token, _Sign) and token.many for token in tokens[token_at:])


def _is_one(token: _Token, char: str) -> bool:
    if isinstance(token, _Set):
        return token.holds(char)
    return True if isinstance(token, _Sign) else token == char
