"""A tool of an MCP server as the agent sees it.

Not here: which tools exist (catalogue), the connection behind it (passed in as a function).
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from hel_tui.core.mcp.arguments import check_arguments
from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.causes import CALL
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.listing import ToolSpec
from hel_tui.core.mcp.messages import clean_surrogates
from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.results import fault_outcome, to_outcome
from hel_tui.core.mcp.suspicion import suspicions
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Access, Invocation, Json, Outcome, ProgressFn, ToolDefinition
from hel_tui.foreign import for_model

SUMMARY_LENGTH = 200
_LIGHT = 1000
"""Characters of a block of text that are converted at once instead of beside the loop."""
_VALUE_LENGTH = 60
MAX_RAW = 1_000_000
"""Characters of a raw result that is kept for its card."""

Caller = Callable[[str, Json, ProgressFn], Awaitable[Json]]
"""(raw name, arguments, on_progress) -> raw result. Raises CallFault."""


@dataclass(frozen=True, eq=False)
class McpTool:
    """Implements `vocabulary.Tool` for one listed tool."""

    server: str
    spec: ToolSpec
    call: Caller
    files: Callable[[], ResultFiles]
    """Where results are kept: asked for at each call, since sessions change."""
    trust_annotations: bool = False
    """Whether the person believes what this server says of its tools."""
    parallel: bool = False
    """Whether calls of this server may run together."""
    identity: str = ""
    """Of the entry whose process listed it."""
    lacks_sandbox: bool = False
    """Servers run outside any sandbox, and were trusted so."""
    limit: float = 0.0
    """Seconds a call may take without a sign of life."""

    @property
    def raw(self) -> str:
        """The name on the wire."""
        return self.spec.raw

    @property
    def access(self) -> Access:
        """`execute`; `read` only where the server is believed and says read-only and not destructive."""
        hints = self.spec.annotations
        says_read = hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True
        return "read" if self.trust_annotations and says_read else "execute"

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        """What the model is told once the tool is loaded: the server's own schema, its words clean."""
        name = public_name(self.server, self.raw)
        return ToolDefinition(name, for_model(self.spec.description), _readable(self.spec.parameters))

    @property
    def claims(self) -> tuple[str, ...]:
        """The server's annotations as phrases (defaults: specification, tools)."""
        hints = self.spec.annotations
        phrases = {
            "readOnlyHint": ("read-only", "writes"),
            "destructiveHint": ("destructive", "not destructive"),
            "idempotentHint": ("idempotent", "not idempotent"),
            "openWorldHint": ("reaches outside", "stays inside"),
        }
        return tuple(
            yes if hints[key] else no
            for key, (yes, no) in phrases.items()
            if isinstance(hints.get(key), bool)
        )

    @functools.cached_property
    def warnings(self) -> tuple[str, ...]:
        """What is suspicious about its definition."""
        said = {"schema": self.spec.parameters, "annotations": self.spec.annotations}
        return suspicions(self.raw, self.spec.description, said)

    def subject(self, arguments: Json) -> str:  # noqa: ARG002
        """Rules name MCP tools whole: there is nothing to match inside."""
        return ""

    def summary(self, arguments: Json) -> str:
        """The arguments as `name=value`, one line."""
        return summarise(arguments)

    async def preview(self, arguments: Json) -> str:  # noqa: ARG002
        """What a server changes cannot be known beforehand."""
        return ""

    def misfit(self, arguments: Json) -> str:
        """What is wrong with the arguments by the tool's own schema: a sentence; else empty."""
        problem = check_arguments(self.spec.parameters, arguments)
        return f"Not executed: the arguments do not fit the tool's schema. {problem}." if problem else ""

    async def run(self, arguments: Json, invocation: Invocation) -> Outcome:
        """Check the arguments, call the server, convert its answer."""
        if misfit := self.misfit(arguments):
            return Outcome(misfit, failed=True)
        cause = CALL.set(invocation.call_id)
        try:
            result = await self.call(self.raw, clean_surrogates(arguments), invocation.on_progress)
        except CallFault as fault:
            return fault_outcome(self.server, self.raw, fault.sentence, fault.told, self.files())
        finally:
            CALL.reset(cause)
        output = self.spec.output

        def convert() -> Outcome:
            outcome = to_outcome(self.server, self.raw, result, self.files(), output=output)
            return dataclasses.replace(outcome, raw=_compact(result))

        return convert() if _is_light(result) else await in_thread(convert, "hel-result")


def _is_light(result: Json) -> bool:
    """Whether a result is nothing but a few words: no file is written for it and little is looked at."""
    blocks = result.get("content")
    if result.get("structuredContent") is not None or not isinstance(blocks, list) or len(blocks) > 10:
        return False
    texts = [one.get("text") for one in blocks if isinstance(one, dict) and one.get("type") == "text"]
    return len(texts) == len(blocks) and all(isinstance(one, str) and len(one) < _LIGHT for one in texts)


def _compact(result: Json) -> str:
    """The result as JSON; empty when it is too large to keep, or nested too deeply."""
    try:
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return ""
    return text if len(text) <= MAX_RAW else ""


def _readable(schema: Any) -> Any:
    """The schema with clean titles and descriptions; what arguments are made of stays as it was written."""
    if isinstance(schema, dict):
        return {
            key: for_model(value)
            if key in ("title", "description") and isinstance(value, str)
            else _readable(value)
            for key, value in schema.items()
        }
    return [_readable(item) for item in schema] if isinstance(schema, list) else schema


def summarise(arguments: Json) -> str:
    """Return arguments as one line of `name=value`, at most 200 characters."""
    parts = [f"{name}={_brief(value)}" for name, value in arguments.items()]
    line = " ".join(" ".join(parts).split())
    return line if len(line) <= SUMMARY_LENGTH else line[: SUMMARY_LENGTH - 1] + "…"


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + "…"
