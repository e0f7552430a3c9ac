"""What a request is made of, part by part, as a person sees it.

Pure functions. Not here: the estimate of the whole (meter), drawing (a screen).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hel_tui.core.context.meter import cost_of, definition_tokens
from hel_tui.core.context.prompt import INSTRUCTIONS_HEADING, INVENTORY_HEADING
from hel_tui.core.context.summary import is_summary
from hel_tui.core.protocol import ContextKind, ContextPart
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Message,
    ToolDefinition,
    ToolMessage,
    UserMessage,
    estimate_tokens,
)


def parts_of(
    system: str,
    history: Sequence[Message],
    tools: Sequence[ToolDefinition],
    server_of: Callable[[str], str],
    *,
    sees: bool = False,
    thinks: bool = False,
) -> list[ContextPart]:
    """The parts in the order they stand in a request, by characters / 4; none that is empty.

    `server_of` gives the server of a tool by its public name, empty for one of hel's own.
    """
    parts = _of_system(system)
    parts += _of_tools(tools, server_of)
    parts += _of_history(history, sees, thinks)
    return [part for part in parts if part.tokens]


def scaled(parts: Sequence[ContextPart], whole: int) -> tuple[ContextPart, ...]:
    """The parts so that together they are `whole`, in the same proportions."""
    total = sum(part.tokens for part in parts)
    out: list[ContextPart] = []
    seen = given = 0
    for part in parts:
        seen += part.tokens
        upto = round(whole * seen / total)
        out.append(replace(part, tokens=upto - given))
        given = upto
    return tuple(out)


def _of_system(system: str) -> list[ContextPart]:
    """The system prompt at the seams where it was put together."""
    rest, _, inventory = _parted(system, f"\n\n{INVENTORY_HEADING}\n", last=True)
    own, _, instructions = _parted(rest, f"\n\n{INSTRUCTIONS_HEADING}\n", last=False)
    return [
        ContextPart("system", estimate_tokens(own)),
        ContextPart("instructions", estimate_tokens(instructions)),
        ContextPart("inventory", estimate_tokens(inventory), count=inventory.count("\n- ")),
    ]


def _parted(text: str, seam: str, *, last: bool) -> tuple[str, str, str]:
    at = text.rfind(seam) if last else text.find(seam)
    return (text, "", "") if at < 0 else (text[:at], seam, text[at:])


def _of_tools(tools: Sequence[ToolDefinition], server_of: Callable[[str], str]) -> list[ContextPart]:
    own = ContextPart("builtins", 0)
    servers: dict[str, ContextPart] = {}
    for tool in tools:
        tokens = definition_tokens(tool)
        name = server_of(tool.name)
        if not name:
            own = replace(own, tokens=own.tokens + tokens, count=own.count + 1)
            continue
        part = servers.get(name, ContextPart("server", 0, name))
        servers[name] = replace(part, tokens=part.tokens + tokens, count=part.count + 1)
    return [own, *(servers[name] for name in sorted(servers))]


def _of_history(history: Sequence[Message], sees: bool, thinks: bool) -> list[ContextPart]:
    kinds: tuple[ContextKind, ...] = ("summary", "person", "answers", "reasoning", "results", "images")
    tokens: dict[ContextKind, int] = dict.fromkeys(kinds, 0)
    counts: dict[ContextKind, int] = dict.fromkeys(kinds, 0)

    def add(kind: ContextKind, more: int, count: int = 1) -> None:
        tokens[kind] += more
        counts[kind] += count if more else 0

    for message in history:
        cost = cost_of(message)
        match message:
            case UserMessage(text):
                add("summary" if is_summary(text) else "person", cost.text)
            case AssistantMessage():
                add("answers", cost.text)
                add("reasoning", cost.reasoning * thinks)
            case ToolMessage():
                add("results", cost.text)
        if isinstance(message, UserMessage | ToolMessage) and sees:
            add("images", cost.images, len(message.images))
    return [ContextPart(kind, tokens[kind], count=counts[kind]) for kind in kinds]
