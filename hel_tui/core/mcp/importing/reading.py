"""Files of other agents as plain data, and the objects in them that hold servers.

Not here: where the files are (places), what an entry means (agents, editors).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hel_tui.core.mcp import jsonc
from hel_tui.core.mcp.editing import OwnScope
from hel_tui.core.mcp.importing.draft import Json
from hel_tui.core.mcp.importing.places import Source, Spot
from hel_tui.core.store.reading import Unreadable, read_plain
from hel_tui.core.store.toml import parse_toml

MAX_FILE = 64 << 20
"""Bytes of a file of JSON; that of Claude Code holds much besides servers."""
MAX_WRITTEN = 1 << 20
"""Bytes of a file of TOML or YAML, which people write and whose parsers are slow."""


class Unusable(Exception):
    """The file has no servers to take; the text is a sentence without the file's name."""


def document_of(spot: Spot, source: Source) -> Json | None:
    """What is in the file; None when there is no such file. Raises Unusable."""
    data = read_plain(spot.path, within=spot.within, limit=MAX_FILE)
    if data is None:
        return None
    if isinstance(data, Unreadable):
        raise Unusable(f"not read: {data.sentence}")
    parse = _FORMATS.get(spot.path.suffix, _json)
    if source == "codex":
        parse = _toml
    elif source == "goose":
        parse = _yaml
    document = parse(data)
    if not isinstance(document, dict):
        raise Unusable("it is not what this agent writes: an object is expected.")
    return document


def _json(data: bytes) -> Any:
    """Plain JSON first: it is read much faster, and some of these files are large."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        pass
    try:
        return jsonc.parse(data).value
    except jsonc.BadJson as bad:
        raise Unusable(f"not read: {bad}") from None


def _toml(data: bytes) -> Any:
    try:
        return parse_toml(data.decode("utf-8-sig"), MAX_WRITTEN)
    except ValueError as error:
        raise Unusable(f"not read: {error}.") from None


def _yaml(data: bytes) -> Any:
    if len(data) > MAX_WRITTEN:
        raise Unusable(f"not read: it is larger than {MAX_WRITTEN >> 20} MiB.")
    import yaml

    class Loader(yaml.SafeLoader):
        """Without base 60, dates and numbers of any length: they cost far more than they say."""

    numbers = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp")
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in numbers]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    digits = list("+-0123456789")
    Loader.add_implicit_resolver(numbers[0], re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})$"), digits)
    Loader.add_implicit_resolver(numbers[1], re.compile(r"[-+]?[0-9]{1,15}\.[0-9]{1,15}$"), digits)
    try:
        return yaml.load(data, Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        raise Unusable(f"not read: it is no YAML{where}.") from None


_FORMATS: dict[str, Callable[[bytes], Any]] = {".toml": _toml, ".yaml": _yaml, ".yml": _yaml}


def servers_of(
    source: Source, document: Json, project: Path, *, is_own: bool
) -> Iterator[tuple[OwnScope, Mapping[Any, Any]]]:
    """Yield the objects that hold servers, and whose they are. `is_own`: the file is no part of the project.

    Raises Unusable.
    """
    own: OwnScope = "user" if is_own else "project"
    keys = _KEYS[source]
    servers: Any = None
    for path in keys:
        servers = document
        for key in path:
            servers = servers.get(key) if isinstance(servers, dict) else None
        if isinstance(servers, dict):
            break
    if isinstance(servers, dict):
        yield own, servers
    elif servers is not None:
        raise Unusable(f"`{'.'.join(keys[0])}` is not an object of servers.")
    if source == "claude":
        projects = document.get("projects")
        mine = projects.get(str(project)) if isinstance(projects, dict) else None
        local = mine.get("mcpServers") if isinstance(mine, dict) else None
        if isinstance(local, dict):
            yield "local", local


_KEYS: dict[Source, tuple[tuple[str, ...], ...]] = {
    "claude": (("mcpServers",),),
    "claude-desktop": (("mcpServers",),),
    "codex": (("mcp_servers",),),
    "opencode": (("mcp", "servers"), ("mcp",)),
    "gemini": (("mcpServers",),),
    "crush": (("mcp",),),
    "goose": (("extensions",),),
    "cursor": (("mcpServers",),),
    "vscode": (("servers",), ("mcp", "servers"), ("mcpServers",)),
    "zed": (("context_servers",),),
}
"""Where the servers are, by source; the first that is an object counts."""
