"""Which tools a provider refuses, from its own words; and what else it may mean by them.

Wordings of many providers, recognised and never shown as they are. Not here: finding out by trying (bisect).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hel_tui.core.vocabulary import ToolDefinition
from hel_tui.foreign import plain_line

MOST_WORDS = 6_000
"""Characters of a refusal that are looked at."""
MOST_REASON = 200

_GEMINI = re.compile(r"function_declarations\[(\d{1,5})\]")
_INDEX = re.compile(r"\b(?:tools|functions)(?:\[(\d{1,5})\]|\.(\d{1,5})\b)")
_MOST = (
    re.compile(r"maximum length (\d+)", re.I),
    re.compile(r"(?:at most|maximum(?: of)?|max|up to|more than|limit(?: of| is)?)[^.\d]{0,30}(\d+)", re.I),
)
_MANY = re.compile(
    r"too many (?:tools|functions|function declarations)|'?tools'?: array too long"
    r"|number of (?:tools|functions)"
    r"|(?:tools|functions) (?:exceed|limit)|max(?:imum)? (?:number of )?(?:tools|functions)",
    re.I,
)
_STRICT = re.compile(
    r"'additionalProperties' is required to be supplied and to be false"
    r"|additionalProperties'? (?:must|should) be (?:set to )?false"
    r"|'required' is required to be supplied and to be an array including every key"
    r"|all fields must be required",
    re.I,
)
_CONTEXT = re.compile(r"In context=\(([^)]{0,400})\)")
_AT = re.compile(r"At path '([^']{0,300})'")
_TAIL = re.compile(r"(?:parameters|input_schema)((?:\.\w+|\[\d+\]){1,20})")


@dataclass(frozen=True, slots=True)
class Culprit:
    """A refused tool; place and reason as far as the provider named them."""

    name: str
    place: str = ""
    reason: str = ""
    is_named: bool = False
    """By its name; else by a number that the provider counted."""


def too_many(said: str) -> int | None:
    """How many tools a provider takes, when it said that there are too many (0: it named no number)."""
    words = said[:MOST_WORDS]
    if not _MANY.search(words):
        return None
    for pattern in _MOST:
        if match := pattern.search(words):
            return int(match[1][:6])
    return 0


def wants_strict(said: str) -> bool:
    """Whether a provider demands schemas of strict mode."""
    return _STRICT.search(said[:MOST_WORDS]) is not None


def culprits(said: str, tools: Sequence[ToolDefinition]) -> tuple[Culprit, ...]:
    """The tools of the request (in its order) that the provider's words name; none when they name none.

    A number in Gemini's words counts function declarations, in others' tools. A refusal that repeats most
    of the request names nobody.
    """
    words = said[:MOST_WORDS]
    found: dict[str, Culprit] = {}
    pattern = _GEMINI if _GEMINI.search(words) else _INDEX
    for match in pattern.finditer(words):
        number = int(next(group for group in match.groups() if group is not None))
        if number < len(tools):
            name = tools[number].name
            found.setdefault(name, Culprit(name, _place(words[match.start() :]), _reason(words)))
    named = [tool.name for tool in tools if _is_named(tool.name, words)]
    if len(named) <= max(1, len(tools) // 2):
        for name in named:
            known = found.get(name, Culprit(name, _place(words), _reason(words)))
            found[name] = replace(known, is_named=True)
    if named and len(named) <= max(1, len(tools) // 2):
        # a name is surer than a number: some servers count other lists
        found = {name: culprit for name, culprit in found.items() if name in named}
    return tuple(found.values())


def _is_named(name: str, words: str) -> bool:
    """Whether a tool's name stands there as a word; a short one only in quotes."""
    edge = r"[\w.-]"
    quoted = rf"['\"`]{re.escape(name)}['\"`]"
    if re.search(quoted, words):
        return True
    return name.startswith("mcp__") and bool(re.search(rf"(?<!{edge}){re.escape(name)}(?!{edge})", words))


def _place(words: str) -> str:
    if match := _CONTEXT.search(words):
        steps = re.findall(r"'([^']*)'|(\d+)", match[1])
        return ".".join(text or number for text, number in steps)
    if match := _AT.search(words):
        return plain_line(match[1])
    if match := _TAIL.search(words[:400]):
        return match[1].lstrip(".")
    return ""


def _reason(words: str) -> str:
    """The provider's sentence, as short as a notice wants it."""
    text = words
    if match := re.search(r'"message"\s*:\s*"((?:[^"\\]|\\.|"(?!\s*[,}]))*)"', words):
        text = match[1]
    line = plain_line(text)
    return line if len(line) <= MOST_REASON else line[: MOST_REASON - 1] + "…"
