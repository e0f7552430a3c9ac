"""Tools to search among: the lists of published servers, and look-alikes that fill up to a number.

Deterministic: the same number gives the same tools. Not here: measuring (measure), obtaining lists (obtain).
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.search import Document

HERE = Path(__file__).parent
SEED = 20_261

_VERBS = {
    "list": "List all {many} of a {place}",
    "get": "Get one {one} by its ID",
    "search": "Search for {many} that match a query",
    "create": "Create a new {one} in a {place}",
    "update": "Update the fields of an existing {one}",
    "delete": "Delete a {one} permanently",
    "add": "Add a {one} to a {place}",
    "remove": "Remove a {one} from a {place}",
    "export": "Export {many} as a file in CSV or JSON",
    "send": "Send a {one} to the people of a {place}",
    "read": "Read the content of a {one}",
    "move": "Move a {one} to another {place}",
}
_THINGS = {
    "crm": ("customer", "contact", "deal", "lead", "pipeline"),
    "shop": ("order", "product", "cart", "coupon", "refund"),
    "helpdesk": ("ticket", "agent reply", "queue", "macro", "satisfaction survey"),
    "calendar": ("event", "meeting room", "invitation", "reminder", "holiday"),
    "payroll": ("employee", "payslip", "contract", "leave request", "tax form"),
    "warehouse": ("pallet", "shipment", "carrier", "stock level", "barcode"),
    "music": ("playlist", "track", "album", "artist", "concert"),
    "school": ("course", "student", "grade", "assignment", "lecture note"),
    "clinic": ("patient", "appointment", "prescription", "lab result", "ward"),
    "bank": ("account", "transaction", "card", "standing order", "statement"),
    "fleet": ("vehicle", "driver", "trip", "fuel record", "inspection"),
    "iot": ("sensor", "device", "alert", "firmware", "reading"),
    "wiki": ("page", "comment", "space", "attachment", "label"),
    "forge": ("repository", "issue", "branch", "pull request", "release"),
    "mail": ("message", "folder", "draft", "attachment", "filter"),
    "chat": ("channel", "message", "thread", "user", "reaction"),
    "drive": ("file", "folder", "share link", "comment", "revision"),
    "warehouse-db": ("table", "query", "view", "index", "schema"),
    "cloud": ("instance", "volume", "network", "log group", "cluster"),
    "recipes": ("recipe", "ingredient", "menu", "shopping list", "nutrition fact"),
}
_PLACES = ("workspace", "project", "team", "account", "site")


@dataclass(frozen=True, slots=True)
class Request:
    """One labelled request: any of `want` (`server.tool`) counts as found."""

    query: str
    language: str
    kind: str
    half: str
    want: tuple[str, ...]


def requests() -> tuple[Request, ...]:
    """All labelled requests."""
    lines = (HERE / "requests.jsonl").read_text("utf-8").splitlines()
    return tuple(Request(**{**facts, "want": tuple(facts["want"])}) for facts in map(json.loads, lines))


def published() -> dict[str, list[Document]]:
    """The tools of published servers, by server."""
    servers: dict[str, list[Document]] = {}
    for path in sorted((HERE / "lists").glob("*.json")):
        facts = json.loads(path.read_text("utf-8"))
        servers[facts["server"]] = [_document(facts["server"], tool) for tool in facts["tools"]]
    return servers


def tools(number: int) -> dict[str, list[Document]]:
    """Published tools and look-alikes, `number` in all (never fewer than the published), by server."""
    servers = published()
    chance = random.Random(SEED)
    missing = number - sum(map(len, servers.values()))
    round_ = 0
    while missing > 0:
        round_ += 1
        for domain, things in _THINGS.items():
            name = domain if round_ == 1 else f"{domain}-{round_}"
            made = _look_alikes(name, things, chance)[:missing]
            servers[name] = made
            missing -= len(made)
            if missing <= 0:
                break
    return servers


def _look_alikes(server: str, things: tuple[str, ...], chance: random.Random) -> list[Document]:
    """Some thirty tools of one server, in the ways real ones are written."""
    style = chance.choice(("snake", "kebab", "camel"))
    found = []
    for thing in things:
        for verb in chance.sample(sorted(_VERBS), 6):
            place = chance.choice(_PLACES)
            many = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
            words = [verb, *(many if verb in ("list", "search", "export") else thing).split()]
            description = _VERBS[verb].format(one=thing, many=many, place=place) + "."
            if chance.random() < 0.4:
                description += f" Returns the {thing} with its {place} and the time of its last change."
            parameters = {
                f"{thing.replace(' ', '_')}_id": f"ID of the {thing}",
                f"{place}_id": f"ID of the {place}",
            }
            if verb == "search":
                parameters["query"] = "Words to search for"
            schema = {
                "type": "object",
                "properties": {
                    key: {"type": "string", "description": text} for key, text in parameters.items()
                },
            }
            tool = {"name": _named(words, style), "description": description, "inputSchema": schema}
            found.append(_document(server, tool))
    return found


def _named(words: list[str], style: str) -> str:
    if style == "camel":
        return words[0] + "".join(word.capitalize() for word in words[1:])
    return ("_" if style == "snake" else "-").join(words)


def _document(server: str, tool: dict[str, Any]) -> Document:
    title = (tool.get("annotations") or {}).get("title") or tool.get("title") or ""
    name, description = tool["name"], tool.get("description") or ""
    return Document(public_name(server, name), server, name, title, description, tool.get("inputSchema"))
