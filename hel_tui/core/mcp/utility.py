"""Tools by which a model itself lists and reads resources and prompts of a server that is set so.

They stand beside the server's own tools under names of hel; a server's tool of that name wins. Not here:
what a person does with resources and prompts (session.offerings).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hel_tui.core.mcp.listing import Listing, ToolSpec
from hel_tui.core.mcp.offers import Prompts, Resources
from hel_tui.core.vocabulary import Json

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection

Through = Callable[[Callable[["Connection"], Awaitable[Any]]], Awaitable[Any]]
"""Does something with the connection of the server."""


def _spec(raw: str, description: str, **properties: Json) -> ToolSpec:
    required = [name for name, schema in properties.items() if schema.pop("required", True)]
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(raw, description, schema, {"readOnlyHint": True})


_SPECS: dict[str, tuple[ToolSpec, ...]] = {
    "resources": (
        _spec("list_resources", "List the resources and resource templates of this server, with their URIs."),
        _spec(
            "read_resource",
            "Read a resource of this server.",
            uri={"type": "string", "description": "Its URI, as listed or filled in from a template."},
        ),
    ),
    "prompts": (
        _spec("list_prompts", "List the prompts of this server with their arguments."),
        _spec(
            "get_prompt",
            "Get a prompt of this server with its arguments filled in.",
            name={"type": "string"},
            arguments={
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "The prompt's arguments by name.",
                "required": False,
            },
        ),
    ),
}


def with_utility(listing: Listing, offers: tuple[str, ...]) -> tuple[Listing, frozenset[str]]:
    """Return the listing with hel's own tools for what the server offers, and the names of those."""
    taken = {one.raw for one in listing.tools}
    added = [one for kind in _SPECS if kind in offers for one in _SPECS[kind] if one.raw not in taken]
    names = frozenset(one.raw for one in added)
    return replace(listing, tools=(*listing.tools, *added)), names


async def use_utility(raw: str, arguments: Json, through: Through) -> Json:
    """Carry out one of them and return what a tool call would return. Raises CallFault."""
    match raw:
        case "list_resources":
            return _text(_resource_lines(await through(lambda connection: connection.resources())))
        case "list_prompts":
            return _text(_prompt_lines(await through(lambda connection: connection.prompts())))
        case "read_resource":
            uri = str(arguments.get("uri", ""))
            read = await through(lambda connection: connection.read(uri))
            contents = read.get("contents")
            listed = contents if isinstance(contents, list) else []
            return {"content": [{"type": "resource", "resource": one} for one in listed]}
        case _:
            return await _prompt(arguments, through)


async def _prompt(arguments: Json, through: Through) -> Json:
    given = arguments.get("arguments")
    named = {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    name = str(arguments.get("name", ""))
    got = await through(lambda connection: connection.prompt(name, named))
    messages = got.get("messages")
    content: list[Any] = []
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, dict):
            content.append({"type": "text", "text": f"{one.get('role')}:"})
            inner = one.get("content")
            content += inner if isinstance(inner, list) else [inner]
    return {"content": content}


def _resource_lines(found: Resources) -> list[Json]:
    lines = [
        _about(uri=one.uri, name=one.name, description=one.description, mime=one.mime)
        for one in found.resources
    ]
    lines += [
        _about(template=one.uri, name=one.name, description=one.description, mime=one.mime)
        for one in found.templates
    ]
    return lines


def _prompt_lines(found: Prompts) -> list[Json]:
    return [
        _about(
            name=one.name,
            description=one.description,
            arguments=[
                _about(name=each.name, description=each.description, required=each.required)
                for each in one.arguments
            ],
        )
        for one in found.prompts
    ]


def _about(**facts: Any) -> Json:
    return {key: value for key, value in facts.items() if value}


def _text(lines: list[Json]) -> Json:
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return {"content": [{"type": "text", "text": text}]}
