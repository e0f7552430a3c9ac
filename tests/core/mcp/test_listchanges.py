"""Changes of lists of tools, numbered, with what they touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.generations import ListChange, Listed, build, compare
from hel_tui.core.mcp.listchanges import ListChanges
from hel_tui.core.mcp.listing import Listing, ToolSpec


async def _call(_raw: str, _arguments: Any, _progress: Any) -> dict[str, Any]:
    return {}


def _tools(*specs: ToolSpec) -> tuple[Listed, ...]:
    entry = ServerEntry(name="s", scope="user", file=Path("f"), transport="stdio", definition={})
    return build(entry, Listing(specs), _call, lambda: None, "hash")  # type: ignore[arg-type,return-value]


def _spec(raw: str, description: str, schema: dict[str, Any] | None = None) -> ToolSpec:
    return ToolSpec(raw, description, schema or {"type": "object"}, {})


def _change() -> ListChange:
    before = _tools(_spec("gone", "old"), _spec("same", "x"), _spec("other", "one\ntwo"))
    after = _tools(
        _spec("new", "fresh"), _spec("same", "x"), _spec("other", "one\n2", {"type": "object", "title": "T"})
    )
    return compare(before, after, {"mcp__s__other"})


def test_a_change_shows_differences_of_words_and_schema_and_what_it_touches() -> None:
    changes = ListChanges(lambda server, raw: (server, raw) == ("s", "other"))
    changes.dropped = lambda before, after: 2 if before.raw == after.raw == "other" else 0
    detail = changes.get(changes.add("s", _change(), "restart"))
    assert detail is not None and (detail.number, detail.cause) == (1, "restart")
    assert [(one.kind, one.tool) for one in detail.tools] == [
        ("removed", "gone"),
        ("changed", "other"),
        ("added", "new"),
    ]
    other = detail.tools[1]
    assert (other.loaded, other.pinned, other.approvals) == (True, True, 2)
    assert "-two\n+2" in other.diff and '+  "title": "T",' in other.diff
    assert not detail.tools[2].loaded and detail.tools[2].diff == ""


def test_what_is_too_old_is_not_kept() -> None:
    changes = ListChanges()
    for _ in range(201):
        changes.add("s", _change(), "list_changed")
    assert changes.get(1) is None and changes.get(201) is not None
