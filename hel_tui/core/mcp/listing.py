"""A server's tool list, read tolerantly: every tool is judged alone, a bad one never hides the others.

Not here: asking for pages (connection), names for the model (naming), which tools are wanted (catalogue).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.mcp.messages import kind_of
from hel_tui.core.vocabulary import Json

MAX_PAGES = 50
MAX_TOOLS = 10_000
MAX_DEPTH = 100
"""How deep a tool may be nested."""

Ask = Callable[[Json], Awaitable[Json]]
"""Sends a list request with these params."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as listed. `problem` says why it cannot be offered; empty when it can."""

    raw: str
    description: str
    parameters: Json
    annotations: Json
    problem: str = ""
    output: Json | None = None
    """Schema of its structured content, where it has one."""
    sent: Any = None
    """Its input schema as the server sent it; None when it sent none."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One generation of a server's tools. `cut` says why there may be more; empty when it is whole."""

    tools: tuple[ToolSpec, ...] = ()
    cut: str = ""


def hidden(listing: Listing, hide: Callable[[str], str]) -> Listing:
    """The listing with `hide` applied to what tools say of themselves: servers may repeat what they got."""
    return replace(listing, tools=tuple(_hidden(one, hide) for one in listing.tools))


def _hidden(spec: ToolSpec, hide: Callable[[str], str]) -> ToolSpec:
    text = json.dumps([spec.description, spec.parameters, spec.sent], ensure_ascii=False)
    if hide(text) == text:  # as good as always
        return spec
    description, parameters = _each(spec.description, hide), _each(spec.parameters, hide)
    return replace(spec, description=description, parameters=parameters, sent=_each(spec.sent, hide))


def _each(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {key: _each(item, hide) for key, item in value.items()}
    return [_each(item, hide) for item in value] if isinstance(value, list) else value


def without(listing: Listing, problems: Mapping[str, str]) -> Listing:
    """The listing with these tools (raw name -> why) marked as not to be offered."""
    if not problems:
        return listing
    tools = tuple(
        replace(one, problem=one.problem or problems[one.raw]) if one.raw in problems else one
        for one in listing.tools
    )
    return replace(listing, tools=tools)


async def read_listing(ask: Ask) -> Listing:
    """Read all pages of the tools. Errors of `ask` pass through."""
    items, cut = await read_pages(ask, "tools", MAX_TOOLS)
    names: set[str] = set()
    return Listing(tuple(_judge(item, names) for item in items), cut)


async def read_pages(ask: Ask, key: str, most: int) -> tuple[list[Any], str]:
    """Read all pages of a list: to the end, a cursor seen before, or the limits.

    Returns the entries under `key` of every page, and why there may be more; empty when they are all. A page
    whose cursor was seen before adds only what no earlier page had: a server that ignores cursors sends the
    same one for ever. Errors of `ask` pass through.
    """
    entries: list[Any] = []
    seen: set[str] = set()
    cursor = ""
    for _ in range(MAX_PAGES):
        page = await ask({"cursor": cursor} if cursor else {})
        listed = page.get(key)
        if not isinstance(listed, list):
            return entries, f"a page of it has no {key} array"
        following = page.get("nextCursor")
        is_repeat = isinstance(following, str) and following in seen
        if is_repeat:
            known = {_identity(one) for one in entries}
            listed = [one for one in listed if _identity(one) not in known]
        entries += listed[: most - len(entries)]
        if not isinstance(following, str) or not following:
            return entries, ""
        if len(entries) >= most:
            return entries, f"more than {most:,} {key}"
        if is_repeat:
            return entries, "the server repeats a page cursor"
        seen.add(following)
        cursor = following
    return entries, f"more than {MAX_PAGES} pages"


def _identity(item: Any) -> str:
    """What tells one entry of a list from the others."""
    keys = ("name", "uri", "uriTemplate")
    return repr([item.get(key) for key in keys]) if isinstance(item, dict) else repr(item)


def _judge(item: Any, names: set[str]) -> ToolSpec:
    if not isinstance(item, dict):
        return _refused("", f"it is {kind_of(item)}, not an object")
    raw = item.get("name")
    if not isinstance(raw, str) or not raw:
        return _refused("", "it has no name")
    if raw in names:
        return _refused(raw, "the server lists this name twice")
    if not _is_shallow(item, MAX_DEPTH):
        return _refused(raw, "it is nested too deeply")
    names.add(raw)
    description = item.get("description")
    annotations = item.get("annotations")
    parameters, problem = _schema(item.get("inputSchema"))
    execution = item.get("execution")
    if not problem and isinstance(execution, dict) and execution.get("taskSupport") == "required":
        problem = "it can be run as a task only (execution.taskSupport is required), which hel does not do"
    output = item.get("outputSchema")
    return ToolSpec(
        raw=raw,
        description=description if isinstance(description, str) else "",
        parameters=parameters,
        annotations=annotations if isinstance(annotations, dict) else {},
        problem=problem,
        output=output if isinstance(output, dict) else None,
        sent=item.get("inputSchema"),
    )


def _is_shallow(value: Any, depth: int) -> bool:
    """True if `value` is nested at most `depth` deep, so that nothing later breaks on it."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(one, depth - 1) for one in inner)


def _refused(raw: str, problem: str) -> ToolSpec:
    return ToolSpec(raw, "", {}, {}, problem)


def _schema(schema: Any) -> tuple[Json, str]:
    """Return (schema to offer, with small repairs; why it cannot be offered)."""
    if schema is None:
        return {"type": "object", "properties": {}}, ""
    if not isinstance(schema, dict):
        return {}, f"its inputSchema is {kind_of(schema)}, not an object"
    kind = schema.get("type", "object")
    if isinstance(kind, list) and "object" in kind:
        kind = "object"
    if kind != "object":
        return {}, f"its inputSchema describes {kind!r:.40}, not an object"
    repaired = {**schema, "type": "object"}
    if not isinstance(repaired.get("properties", {}), dict):
        if repaired["properties"]:
            return {}, f"its properties are {kind_of(repaired['properties'])}, not an object"
        repaired["properties"] = {}
    return repaired, ""
