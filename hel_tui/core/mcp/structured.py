"""Structured content of a result: what of it the text does not say, and whether it fits its schema.

Not here: the blocks beside it (content), schemas of arguments (arguments).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hel_tui.core.mcp.arguments import check_output
from hel_tui.core.mcp.large import LARGE, JsonText, same_but_space
from hel_tui.core.vocabulary import Json

LONG_BASE64 = 1000
"""Characters from which a base64 string is cut out of JSON."""
MOST_VALUES = 50_000
"""Values in structured content up to which it is checked against its schema."""

_TELLING = 20
"""Characters from which a string inside another text is there for its own sake."""
_BASE64 = re.compile(r"\A(?:data:[\w/+.;=-]{0,200},)?[A-Za-z0-9+/_\r\n-]+={0,2}\s*\Z")


def structured_text(value: Any, blocks: list[Any]) -> str:
    """Return structured content (any JSON value) as JSON, or "" when a text block says the same."""
    if value is None:
        return ""
    texts = [
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    if any(_same(value, text) for text in texts):
        return ""
    if isinstance(value, JsonText):
        return str(value)
    return json.dumps(without_base64(value), ensure_ascii=False, default=str)


def output_problem(schema: Json, result: Json) -> str:
    """Return how a result breaks the output schema of its tool, as a phrase; "" when it does not, failed, or
    is too large to be checked (specification, tools: output schema).
    """
    if result.get("isError") is True:
        return ""
    if "structuredContent" not in result:
        return "it has an output schema, but sent no structured content"
    value = result["structuredContent"]
    if isinstance(value, JsonText) or _is_large(value):
        return ""
    problem = check_output(schema, value)
    return f"its structured content does not fit its output schema: {problem}" if problem else ""


def without_base64(value: Any) -> Any:
    """Return JSON with long base64 strings replaced by their length."""
    if isinstance(value, str):
        if len(value) >= LONG_BASE64 and _BASE64.match(value):
            return f"[base64, {len(value):,} characters left out]"
        return value
    if isinstance(value, dict):
        return {key: without_base64(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_base64(item) for item in value]
    return value


def find_strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, keys excluded."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from find_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_strings(item)


def _same(value: Any, text: str) -> bool:
    """True if `text` is `value` written out, or the only thing in it."""
    if isinstance(value, JsonText):
        return same_but_space(value, text)
    only = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value
    if isinstance(only, str) and only.strip() and _says(text, only):
        return True
    if len(text) > LARGE:
        return same_but_space(json.dumps(value, ensure_ascii=False), text)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(read == value or (isinstance(value, dict) and list(value.values()) == [read]))


def _says(text: str, words: str) -> bool:
    return words.strip() == text.strip() or (len(words) > _TELLING and words in text)


def _is_large(value: Any) -> bool:
    left = [value]
    for _ in range(MOST_VALUES):
        if not left:
            return False
        one = left.pop()
        left.extend(one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
    return True
