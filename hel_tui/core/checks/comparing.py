"""Compares what a call came to with what a check expects of it.

Pure functions over the result as the server sent it. Not here: making the call (running), files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hel_tui.core.checks.check import MAX_DEPTH, NOTHING, TOO_DEEP, Check, Expected
from hel_tui.core.checks.masks import TooSlow, masked, masked_value
from hel_tui.core.checks.paths import without
from hel_tui.core.checks.schemas import schema_problem
from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.vocabulary import Json
from hel_tui.differences import unified

MAX_DIFF = 400
"""Lines of a diff that are kept; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Why a result is not what was expected; both empty when it is."""

    message: str = ""
    diff: str = ""

    def __bool__(self) -> bool:
        return bool(self.message)


def compare(
    check: Check,
    result: Json,
    snapshot: str | None = None,
    hide: Callable[[str], str] = lambda text: text,
) -> Difference:
    """Say how `result` (of `tools/call`) differs from what `check` expects.

    `snapshot` is the expected text of a snapshot; None when there is none yet. `hide` takes secrets out, as
    it did when the snapshot was kept.
    """
    if is_nested_deeper(result, MAX_DEPTH):
        return Difference(f"the result is {TOO_DEEP}")
    expected = check.expected
    text = text_of(result)
    if (result.get("isError") is True) != expected.is_error:
        message = "the tool failed" if not expected.is_error else "the tool did not fail, which was expected"
        first = next((line.strip() for line in text.splitlines() if line.strip()), "")
        return Difference(f"{message}: {first[:200]}" if first else message, text[:2_000])
    try:
        match expected.kind:
            case "snapshot":
                return _snapshot(expected, result, snapshot, hide)
            case "schema":
                return _schema(expected, result)
            case kind:
                return _parts(expected, result, text, whole=kind == "exact")
    except TooSlow as slow:
        return Difference(str(slow))


# ---------------------------------------------------------------------- reading


def text_of(result: Json) -> str:
    """The text blocks of a result, joined by newlines."""
    texts = [block.get("text") for block in blocks_of(result) if block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def blocks_of(result: Json) -> list[Json]:
    """The content blocks of a result; what is no block is left out."""
    blocks = result.get("content")
    return [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []


def value_of(result: Json) -> Any:
    """The structured content; where there is none, the JSON that the text is; `NOTHING` when it is none."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    try:
        value = json.loads(text_of(result))
    except (ValueError, RecursionError):
        return NOTHING
    return NOTHING if is_nested_deeper(value, MAX_DEPTH) else value


def rendered(result: Json, ignore: tuple[str, ...] = ()) -> str:
    """A result as the text of a snapshot: the same for the same result, and readable.

    Blocks in order, binary ones by their size and hash; then the structured content with sorted keys, where
    the text does not say the same.
    """
    if is_nested_deeper(result, MAX_DEPTH):
        return f"[a result {TOO_DEEP}]\n"
    parts = [_block(block) for block in blocks_of(result)]
    structured = result.get("structuredContent")
    if structured is not None and value_of({"content": result.get("content")}) != structured:
        parts.append("structured content:\n" + pretty(without(structured, ignore)))
    elif structured is not None and ignore:
        parts = [pretty(without(structured, ignore))]
    return "\n".join(parts).rstrip("\n") + "\n"


def _block(block: Json) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    resource = block.get("resource")
    if isinstance(resource, dict) and isinstance(resource.get("text"), str):
        return f"[resource {resource.get('uri', '')}]\n{resource['text']}"
    data = block.get("data") or (resource.get("blob") if isinstance(resource, dict) else None)
    if isinstance(data, str):
        digest = hashlib.sha256(data.encode("utf-8", "replace")).hexdigest()[:16]
        mime = block.get("mimeType") or (resource or {}).get("mimeType", "")
        return f"[{kind} {mime}, {len(data):,} characters of base64, sha256 {digest}]"
    return pretty(block)


def pretty(value: Any) -> str:
    """JSON as it is compared and shown: sorted keys, two spaces."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)


# -------------------------------------------------------------------- comparing


def _snapshot(
    expected: Expected, result: Json, snapshot: str | None, hide: Callable[[str], str]
) -> Difference:
    came = hide(masked(rendered(result, expected.ignore), expected.masks))
    if snapshot is None:
        return Difference("there is no snapshot yet: --update keeps this one", _diff("", came))
    before = masked(snapshot, expected.masks)
    if before.rstrip("\n") == came.rstrip("\n"):
        return Difference()
    return Difference("the result is not the snapshot", _diff(before, came))


def _schema(expected: Expected, result: Json) -> Difference:
    value = value_of(result)
    if value is NOTHING:
        return Difference("it has no structured content, and its text is no JSON", text_of(result)[:2_000])
    problem = schema_problem(expected.schema, without(value, expected.ignore))
    return Difference(problem, pretty(value)[:20_000]) if problem else Difference()


def _parts(expected: Expected, result: Json, text: str, *, whole: bool) -> Difference:
    """Text, value and blocks, as far as they are expected."""
    if expected.text is not None and (found := _text(expected, text, whole=whole)):
        return found
    for name, wanted, came in (
        ("value", expected.value, value_of(result)),
        ("content", expected.content, result.get("content", [])),
    ):
        if wanted is NOTHING:
            continue
        if came is NOTHING:
            return Difference("it has no structured content, and its text is no JSON", _diff("", text))
        if found := _json(expected, name, wanted, came, whole=whole):
            return found
    return Difference()


def _text(expected: Expected, text: str, *, whole: bool) -> Difference:
    wanted = masked(expected.text or "", expected.masks).rstrip("\n")
    came = masked(text, expected.masks).rstrip("\n")
    if wanted == came or (not whole and wanted in came):
        return Difference()
    what = "the text is another one" if whole else "the text does not hold what is expected"
    return Difference(what, _diff(wanted, came))


def _json(expected: Expected, name: str, wanted: Any, came: Any, *, whole: bool) -> Difference:
    wanted = masked_value(without(wanted, expected.ignore), expected.masks)
    came = masked_value(without(came, expected.ignore), expected.masks)
    places = list(_unlike(wanted, came, name, whole=whole))
    if not places:
        return Difference()
    path, want, got = places[0]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    message = f"{path}: expected {_brief(want)}, came {_brief(got)}{more}"
    if whole:
        return Difference(message, _diff(pretty(wanted), pretty(came)))
    lines = [
        f"{sign}{path}: {_brief(value, 400)}" for path, w, g in places for sign, value in (("-", w), ("+", g))
    ]
    return Difference(message, "\n".join(["--- expected", "+++ came", *lines[:MAX_DIFF]]))


def _unlike(wanted: Any, came: Any, path: str, *, whole: bool) -> Iterator[tuple[str, Any, Any]]:
    """Each place where `came` is not what is wanted: (path, wanted, came).

    Of a subset, objects may have more keys and lists more items between those that are wanted.
    """
    if isinstance(wanted, dict) and isinstance(came, dict):
        for key in wanted:
            if key not in came:
                yield f"{path}.{key}", wanted[key], NOTHING
            else:
                yield from _unlike(wanted[key], came[key], f"{path}.{key}", whole=whole)
        if whole:
            for key in came:
                if key not in wanted:
                    yield f"{path}.{key}", NOTHING, came[key]
    elif isinstance(wanted, list) and isinstance(came, list):
        if whole or len(wanted) == len(came):
            for at in range(max(len(wanted), len(came))):
                want, got = (one[at] if at < len(one) else NOTHING for one in (wanted, came))
                yield from _unlike(want, got, f"{path}[{at}]", whole=whole)
            return
        left = iter(enumerate(came))
        for at, item in enumerate(wanted):
            if not any(not any(_unlike(item, other, "", whole=False)) for _, other in left):
                yield f"{path}[{at}]", item, NOTHING
                return
    elif not _same(wanted, came):
        yield path, wanted, came


def _same(wanted: Any, came: Any) -> bool:
    """Equal as JSON: true is not 1, and 1 is 1.0."""
    return isinstance(wanted, bool) == isinstance(came, bool) and bool(wanted == came)


# ----------------------------------------------------------------------- showing


def _brief(value: Any, most: int = 100) -> str:
    if value is NOTHING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else text[: most - 1] + "…"


def _diff(wanted: str, came: str) -> str:
    """Unified diff of two texts, at most `MAX_DIFF` lines."""
    return unified(wanted, came, ("expected", "came"), MAX_DIFF)
