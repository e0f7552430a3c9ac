"""`load_mcp_tool`: the tool with which the model asks for definitions it read of in the inventory.

Contacts no server and shows no schema. Not here: the inventory in the system prompt (context).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hel_tui.core.mcp.catalogue import Catalogue, LoadResult
from hel_tui.core.mcp.own import OwnTool
from hel_tui.core.vocabulary import Invocation, Json, Outcome, ToolDefinition

NAME = "load_mcp_tool"

_DEFINITION = ToolDefinition(
    NAME,
    "Load MCP tools from the inventory by their full names before using them. "
    "They can be called from the next request on. Load all you need at once.",
    {
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Full tool names, such as mcp__server__tool.",
            }
        },
        "required": ["names"],
    },
)


class LoadMcpTool(OwnTool):
    """Implements `vocabulary.Tool`."""

    raw = NAME
    definition = _DEFINITION

    def __init__(self, catalogue: Catalogue, starting: Callable[[], Sequence[str]] = tuple) -> None:
        """`starting` names the servers whose tools may come yet."""
        self._catalogue = catalogue
        self._starting = starting

    def summary(self, arguments: Json) -> str:
        """The tools' own names."""
        raws = (self._raw(name) for name in _names(arguments) or ())
        return ", ".join(raws)[:200]

    def _raw(self, name: str) -> str:
        tool = self._catalogue.get(name)
        return tool.raw if tool is not None else name

    async def run(self, arguments: Json, invocation: Invocation) -> Outcome:  # noqa: ARG002
        """Load what is known and say a line for each name."""
        names = _names(arguments)
        if names is None:
            return Outcome("arguments.names: must be an array of tool names.", failed=True)
        if not names:
            return Outcome("arguments.names: name at least one tool of the inventory.", failed=True)
        results = self._catalogue.load(dict.fromkeys(names))
        lines = [_line(result) for result in results]
        known = any(one.state in ("loaded", "already loaded") for one in results)
        if any(one.state == "loaded" for one in results):
            lines.append("Loaded tools can be called from the next request on.")
        if any(one.state == "unknown" for one in results) and (coming := self._starting()):
            lines.append(f"Still starting: {', '.join(coming)}; their tools may come.")
        return Outcome("\n".join(lines), failed=not known)


def _names(arguments: Json) -> list[str] | None:
    """The names asked for; a lone string counts as one. None when they are no names."""
    names = arguments.get("names")
    if isinstance(names, str):
        return [names]
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return None


def _line(result: LoadResult) -> str:
    if result.state == "unknown":
        hint = f"; did you mean {result.detail}?" if result.detail else ""
        return f"{result.name[:100]}: unknown{hint}"
    if result.state == "not offered":
        return f"{result.name}: not offered ({result.detail})"
    if result.state == "no room":
        return f"{result.name}: not loaded, {result.detail}; the person can unload others"
    return f"{result.name}: {result.state}"
