"""What matters of a message, in a few words: for a row of the trace.

Pure functions over foreign data: nothing here trusts a type, and nothing raises. Secrets are taken out before
anything is cut. Not here: which message answers which (trace).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hel_tui.core.counts import counted
from hel_tui.core.store.redact import MARGIN, MIN_SECRET, head
from hel_tui.foreign import is_clean

Mask = Callable[[str], str]

LENGTH = 200
_REACH = 2 * LENGTH + MARGIN
"""Characters of a text that are looked at: no cut before secrets are out may come nearer to what is shown."""

_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "roots/list": "roots",
}


def of_params(method: str, params: Any, mask: Mask = str) -> str:
    """What matters of a request or a notification; `mask` takes secrets out."""
    if not isinstance(params, dict):
        return ""
    get = params.get
    match method:
        case "tools/call" | "prompts/get":
            said = _text(get("name"))
        case "resources/read" | "resources/subscribe" | "resources/unsubscribe":
            said = _text(get("uri"))
        case "notifications/resources/updated":
            said = _text(get("uri"))
        case "notifications/progress":
            total = get("total")
            share = (
                f"{_text(get('progress'))}/{_text(total)}" if total is not None else _text(get("progress"))
            )
            said = f"{share} {_text(get('message'))}"
        case "notifications/cancelled":
            said = f"#{_text(get('requestId'))} {_text(get('reason'))}"
        case "notifications/message":
            said = f"{_text(get('level'))} {_text(get('logger'))} {_text(get('data'))}"
        case "initialize":
            said = f"{_text(get('protocolVersion'))} {_name(get('clientInfo'))}"
        case "logging/setLevel":
            said = _text(get("level"))
        case "elicitation/create":
            said = _text(get("message"))
        case "completion/complete":
            argument = get("argument")
            said = _text(argument.get("name")) if isinstance(argument, dict) else ""
        case "sampling/createMessage":
            said = f"at most {_text(get('maxTokens'))} tokens"
        case _:
            said = ""
    return _line(said, mask)


def of_result(method: str, result: Any, mask: Mask = str) -> str:
    """What matters of the answer to a request of `method`."""
    if not isinstance(result, dict):
        return ""
    if (name := _LISTS.get(method)) and isinstance(listed := result.get(name), list):
        more = ", more to come" if result.get("nextCursor") else ""
        return f"{len(listed)} {name}{more}"
    if result.get("resultType") == "input_required":
        return "input_required"
    match method:
        case "tools/call":
            said = f"{'isError ' if result.get('isError') is True else ''}{_content(result)}"
        case "initialize" | "server/discover":
            said = f"{_name(result.get('serverInfo'))} {_text(result.get('protocolVersion'))}"
        case "resources/read":
            contents = result.get("contents")
            said = counted(len(contents), "content") if isinstance(contents, list) else ""
        case "elicitation/create":
            said = _text(result.get("action"))
        case _:
            said = ""
    return _line(said, mask)


def of_error(error: Any, mask: Mask = str) -> str:
    """What matters of an error."""
    if not isinstance(error, dict):
        return _line(_text(error), mask)
    return _line(f"{_text(error.get('code'))} {_text(error.get('message'))}", mask)


def _content(result: dict[str, Any]) -> str:
    """The first text of a tool's result, and what else is in it."""
    blocks = result.get("content")
    if not isinstance(blocks, list):
        return "structured" if result.get("structuredContent") is not None else ""
    for block in blocks[:3]:
        if isinstance(block, dict) and block.get("type") == "text":
            return _text(block.get("text"))
    kinds = [_text(block.get("type")) for block in blocks[:5] if isinstance(block, dict)]
    return ", ".join(kinds)


def _name(info: Any) -> str:
    return f"{_text(info.get('name'))} {_text(info.get('version'))}" if isinstance(info, dict) else ""


def _text(value: Any) -> str:
    """A value that is short as it is; of anything nested only that it is there."""
    if isinstance(value, str):
        return value[:_REACH]
    if isinstance(value, int | float):
        return str(value) if not isinstance(value, int) or abs(value) < 10**20 else "…"
    return "{…}" if isinstance(value, dict) else "[…]" if isinstance(value, list) else ""


def _line(text: str, mask: Mask) -> str:
    if len(text) >= MIN_SECRET:
        text = head(text, 2 * LENGTH, mask)
    if len(text) <= LENGTH and is_clean(text) and "  " not in text:
        return text.strip()
    line = " ".join(text.split())
    return line if len(line) <= LENGTH else line[: LENGTH - 1] + "…"


def of_noise(text: str, mask: Mask = str) -> str:
    """How a line begins that is no protocol."""
    return _line(text, mask)
