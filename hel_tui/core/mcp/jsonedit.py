"""Minimal edits of JSON as people write it: one member in or out, every other byte as it was.

Comments, commas, indentation, line ends and the order of keys stay. Pure functions over parsed text. Not
here: files (editing), reading (jsonc).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp.jsonc import Parsed, Path, skip_gap

WIDTH = 88
"""Characters up to which a list or an object inside an entry stays on one line."""
_NOTE = re.compile(r"[ \t\r\n]*(?://[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_REST_OF_LINE = re.compile(r"[ \t]*(?:\r?\n|\r)")


@dataclass(frozen=True, slots=True)
class _Style:
    """How the members of an object are written."""

    is_open: bool
    """Each on a line of its own."""
    indent: str
    """Before a member."""
    base: str
    """Before the line that the object begins in."""
    unit: str
    newline: str


def put_member(parsed: Parsed, parent: Path, key: str, value: Any) -> str:
    """Return the text with `key` of the object at `parent` set to `value`: in its place, else behind all.

    Raises KeyError when `parent` is no object of the upper levels.
    """
    members = _object(parsed, parent)
    text = parsed.text
    style = _style(parsed, parent, members)
    if key in members:
        start, end = parsed.spans[(*parent, key)]
        return text[:start] + _rendered(value, style) + text[end:]
    member = f"{json.dumps(key, ensure_ascii=False)}: {_rendered(value, style)}"
    opening, after = parsed.spans[parent]
    close = after - 1
    if not members:
        at = _after_notes(text, opening + 1)
        has_end = _has_line_end(text[at:close])
        rest = text[at:] if has_end else style.newline + style.base + text[close:]
        return text[:at] + style.newline + style.indent + member + rest
    last = parsed.spans[(*parent, members[-1])][1]
    comma = skip_gap(text, last)
    has_comma = text[comma] == ","
    at = _after_notes(text, comma + 1 if has_comma else last)
    head = text[:at] if has_comma else f"{text[:last]},{text[last:at]}"
    breaks = style.is_open or "//" in text[last:at]
    between = style.newline + style.indent if breaks else " "
    return head + between + member + ("," if has_comma else "") + text[at:]


def drop_member(parsed: Parsed, parent: Path, key: str) -> str:
    """Return the text without `key` of the object at `parent`, its comma and its line. Raises KeyError.

    Comments around it stay. Without trailing commas before there is none afterwards.
    """
    members = _object(parsed, parent)
    at = members.index(key) if key in members else None
    if at is None:
        raise KeyError(key)
    text = parsed.text
    start, end = parsed.starts[(*parent, key)], parsed.spans[(*parent, key)][1]
    cuts = [(start, end)]
    stop = end
    comma = skip_gap(text, end)
    before: int | None = None
    if text[comma] == ",":
        cuts.append((comma, comma + 1))
        stop = comma + 1 if not text[end:comma].strip() else end
    elif at > 0:
        before = skip_gap(text, parsed.spans[(*parent, members[at - 1])][1])
        cuts.append((before, before + 1))
    return _without(text, [*cuts, _tidied(text, start, stop, before)])


def _tidied(text: str, start: int, stop: int, comma_before: int | None) -> tuple[int, int]:
    """The white space that goes with a member at `start`..`stop`, as a cut."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    rest = _REST_OF_LINE.match(text, stop)
    if not text[line:start].strip():
        return (line, rest.end()) if rest else (start, _after_space(text, stop, " \t"))
    if comma_before is None:
        is_alone = text[start - 1 : start] == "{" and text[_after_space(text, stop) :][:1] == "}"
        return (start, stop if rest or is_alone else _after_space(text, stop, " \t"))
    if not text[comma_before + 1 : start].strip():
        return comma_before, stop
    return start, stop


def _without(text: str, cuts: list[tuple[int, int]]) -> str:
    out: list[str] = []
    at = 0
    for start, end in sorted(cuts):
        out.append(text[at : max(start, at)])
        at = max(end, at)
    return "".join((*out, text[at:]))


def _object(parsed: Parsed, path: Path) -> list[str]:
    """The keys of the object at `path`, in order. Raises KeyError."""
    value = parsed.value
    for key in path:
        value = value[key]
    if not isinstance(value, dict) or path not in parsed.spans:
        raise KeyError(path)
    return list(value)


def _style(parsed: Parsed, parent: Path, members: list[str]) -> _Style:
    text = parsed.text
    opening = parsed.spans[parent][0]
    base = _indent_of(text, opening)
    top = list(parsed.value)
    first = parsed.starts[(top[0],)] if top else 0
    unit = _indent_of(text, first) if top and not text[_line_start(text, first) : first].strip() else ""
    newline = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    if not members:
        return _Style(True, base + (unit or "  "), base, unit or "  ", newline)
    first = parsed.starts[(*parent, members[0])]
    is_open = _has_line_end(text[opening:first])
    has_line = not text[_line_start(text, first) : first].strip()
    indent = _indent_of(text, first) if is_open and has_line else base + (unit or "  ")
    if indent.startswith(base) and len(indent) > len(base):
        unit = indent[len(base) :]
    return _Style(is_open, indent, base, unit or "  ", newline)


def _rendered(value: Any, style: _Style) -> str:
    """`value` as JSON: an object of the style's object over several lines when that is open."""
    if not (style.is_open and isinstance(value, dict) and value):
        return json.dumps(value, ensure_ascii=False)
    return _opened(value, style.indent, style.unit, style.newline)


def _opened(value: Any, indent: str, unit: str, newline: str) -> str:
    """A filled object or list, each member on a line; what is in it only where it is long."""
    inner = indent + unit
    pairs = (
        [(f"{json.dumps(key, ensure_ascii=False)}: ", item) for key, item in value.items()]
        if isinstance(value, dict)
        else [("", item) for item in value]
    )
    lines = []
    for name, item in pairs:
        flat = json.dumps(item, ensure_ascii=False)
        if item and isinstance(item, dict | list) and len(inner) + len(name) + len(flat) > WIDTH:
            flat = _opened(item, inner, unit, newline)
        lines.append(f"{newline}{inner}{name}{flat}")
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{','.join(lines)}{newline}{indent}{closing}"


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _indent_of(text: str, at: int) -> str:
    """The white space at the beginning of the line that `at` is in."""
    start = _line_start(text, at)
    return text[start : _after_space(text, start, " \t")]


def _after_space(text: str, at: int, kinds: str = " \t\r\n") -> int:
    while at < len(text) and text[at] in kinds:
        at += 1
    return at


def _after_notes(text: str, at: int) -> int:
    """The offset after the last of the comments that begin at `at`; `at` itself when there is none."""
    while found := _NOTE.match(text, at):
        at = found.end()
    return at


def _has_line_end(text: str) -> bool:
    return "\n" in text or "\r" in text
