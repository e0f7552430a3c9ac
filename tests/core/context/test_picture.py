"""What a request is made of, part by part."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.context.picture import parts_of, scaled
from hel_tui.core.context.prompt import system_prompt
from hel_tui.core.context.summary import summary_message
from hel_tui.core.protocol import ContextPart
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)

PROMPT = system_prompt(
    project=Path("/srv/notes"),
    platform="linux",
    instructions="Use tabs.\n\n# Tools of MCP servers\nThis is only a heading in a file.",
    inventory=[("mcp__notes__a", "Does a."), ("mcp__notes__b", "Does b.")],
    inventory_budget=2_000,
)
TOOLS = [
    ToolDefinition(name, "x" * 40, {}) for name in ("bash", "mcp__z__one", "mcp__a__two", "mcp__a__three")
]
HISTORY: list[Message] = [
    UserMessage(summary_message("before")),
    UserMessage("hello", (Image("image/png", b"", None, 10, 10),)),
    AssistantMessage("yes", "hm " * 40, (ToolCall("1", "bash", "{}"),)),
    ToolMessage("1", "bash", "result " * 100),
]


def server_of(name: str) -> str:
    return name.split("__")[1] if name.startswith("mcp__") else ""


def kinds(**more: bool) -> dict[tuple[str, str], ContextPart]:
    return {(part.kind, part.name): part for part in parts_of(PROMPT, HISTORY, TOOLS, server_of, **more)}


def test_every_kind_has_its_part_and_every_server_too() -> None:
    found = kinds(sees=True, thinks=True)
    assert list(found) == [
        ("system", ""),
        ("instructions", ""),
        ("inventory", ""),
        ("builtins", ""),
        ("server", "a"),
        ("server", "z"),
        ("summary", ""),
        ("person", ""),
        ("answers", ""),
        ("reasoning", ""),
        ("results", ""),
        ("images", ""),
    ]
    assert (found["inventory", ""].count, found["server", "a"].count, found["images", ""].count) == (2, 2, 1)
    assert found["instructions", ""].tokens < 40


def test_what_does_not_go_to_the_model_is_no_part() -> None:
    assert {("reasoning", ""), ("images", "")}.isdisjoint(kinds())


@given(st.lists(st.integers(1, 10_000), max_size=20), st.integers(0, 1_000_000))
def test_the_parts_together_are_the_whole(tokens: list[int], whole: int) -> None:
    parts = scaled([ContextPart("person", size) for size in tokens], whole)
    assert sum(part.tokens for part in parts) == (whole if tokens else 0)
    assert all(part.tokens >= 0 for part in parts)
