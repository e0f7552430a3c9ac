"""From the events of a Messages stream to the message they make, part by part.

Events: guide "Streaming messages" of platform.claude.com. Pure. Not here: bytes (sse), requests (client).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hel_tui.core.models.ending import Answered, Gathered, Spelled, concluded, count, counts
from hel_tui.core.models.types import CallPart, Finish, FinishReason, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json, ToolCall

GRACE = 1.0
"""Seconds an endpoint gets for `message_stop` once it has given a stop reason."""

_REASONS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
_REMARKS = {"model_context_window_exceeded": "The answer reached the end of the model's context window."}
_EVENTS = ("message_start", "content_block_start", "content_block_delta", "content_block_stop")
_STARTS = ("text", "thinking", "redacted_thinking", "tool_use")


class MessageAssembler:
    """Takes events in order. What goes back unchanged is in the message's `extra`: `blocks`, the content in
    its order, thoughts whole with their signatures, text, and calls by id; none without thoughts.
    """

    def __init__(self, new_id: Callable[[], str], provider: str = "") -> None:
        self._got = Gathered(new_id)
        self._provider = provider
        self._blocks: list[Json] = []
        self._open: dict[int | None, Json] = {}
        """Blocks by the index the server gave them last."""
        self._stop = ""
        self._remark = ""
        self._stopped = False
        self._usage: Json = {}

    @property
    def got(self) -> Gathered:
        """What of the answer has arrived."""
        return self._got

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has arrived."""
        return bool(self._got or self._blocks)

    @property
    def complete(self) -> bool:
        """`message_stop` came."""
        return self._stopped

    @property
    def grace(self) -> float | None:
        """Seconds to wait for `message_stop`; None before a stop reason."""
        return GRACE if self._stop else None

    def fault(self, chunk: Json) -> Any:
        """The error of an `error` event, which may come after 200."""
        return chunk if chunk.get("type") == "error" or (chunk.get("error") and "type" not in chunk) else None

    def understands(self, chunk: Json) -> bool:
        """Whether it is an event with something of an answer, or a whole message; a ping is neither."""
        kind = chunk.get("type")
        return kind in _EVENTS or kind in ("message_delta", "message_stop", "message")

    def feed(self, chunk: Json) -> list[Part]:
        """The parts one event brings."""
        parts: list[Part] = []
        match chunk.get("type"):
            case "message_start":
                self._read_usage((_dict(chunk.get("message"))).get("usage"))
            case "content_block_start":
                self._start(_index(chunk), _dict(chunk.get("content_block")), parts)
            case "content_block_delta":
                self._delta(_index(chunk), _dict(chunk.get("delta")), parts)
            case "message_delta":
                self._ending(_dict(chunk.get("delta")))
                self._read_usage(chunk.get("usage"))
            case "message_stop":
                self._stopped = True
            case "message":  # a server that does not stream
                for index, block in enumerate(_list(chunk.get("content"))):
                    self._start(index, _dict(block), parts)
                self._ending(chunk)
                self._read_usage(chunk.get("usage"))
        return parts

    def _start(self, index: int | None, block: Json, parts: list[Part]) -> None:
        kind = block.get("type")
        if kind not in _STARTS:
            return
        if kind == "tool_use":
            name, given = block.get("name"), block.get("input")
            number = len(self._blocks)
            kept: Json = {"type": "tool_use", "number": number}
            fragment = {
                "index": number,
                "id": block.get("id"),
                "function": {"name": name, "arguments": given or ""},
                "extra_content": {"block": number},
            }
            if (told := self._got.calls.take(fragment)) is not None:
                parts.append(CallPart(told))
        elif kind == "redacted_thinking":
            kept = dict(block)
        else:
            kept = {"type": kind, "pieces": [], "signature": _string(block.get("signature"))}
        self._blocks.append(kept)
        self._open[index] = kept
        if kind in ("text", "thinking"):
            self._say(kept, _string(block.get(kind)), parts)

    def _delta(self, index: int | None, delta: Json, parts: list[Part]) -> None:
        block = self._open.get(index)
        kind = delta.get("type")
        if kind in ("text_delta", "thinking_delta"):
            name = str(kind).removesuffix("_delta")
            if block is None or block["type"] != name:  # its start is missing
                self._start(index, {"type": name}, parts)
                block = self._open[index]
            self._say(block, _string(delta.get(name)), parts)
        elif block is None:
            return
        elif kind == "signature_delta" and "signature" in block:
            block["signature"] += _string(delta.get("signature"))
        elif kind == "input_json_delta" and "number" in block:
            piece = {"index": block["number"], "function": {"arguments": delta.get("partial_json")}}
            self._got.calls.take(piece)

    def _say(self, block: Json, piece: str, parts: list[Part]) -> None:
        if not piece:
            return
        block["pieces"].append(piece)
        if block["type"] == "text":
            self._got.text.append(piece)
            parts.append(TextPart(piece))
        else:
            self._got.reasoning.append(piece)
            parts.append(ReasoningPart(piece))

    def _ending(self, delta: Json) -> None:
        if stop := _string(delta.get("stop_reason")):
            self._stop = stop
        details = _dict(delta.get("stop_details"))
        if told := _string(details.get("explanation")):
            self._remark = f"The provider says: {told[:300]}"

    def _read_usage(self, usage: Any) -> None:
        """Counts are cumulative, and a later event may leave out what an earlier one had, or say 0 of it."""
        if isinstance(usage, dict):
            self._usage |= {name: value for name, value in usage.items() if value}

    # ------------------------------------------------------------------ the end

    def held(self) -> Sequence[Part]:
        """Nothing is held back."""
        return ()

    def partial(self) -> AssistantMessage:
        """What has arrived, calls aside."""
        return self._got.partial()

    def finish(self, ended: bool) -> Finish:
        """The last part."""
        remark = _REMARKS.get(self._stop, self._remark)
        return concluded(
            Answered(
                self._got,
                Spelled(self._stop, _REASONS.get(self._stop), remark),
                usage_of(self._usage),
                ended,
                self._stop == "refusal",
                self._extra,
            )
        )

    def _extra(self, calls: Sequence[tuple[ToolCall, Json]]) -> Json:
        if not any("thinking" in block["type"] for block in self._blocks):
            return {}
        ids = {more.get("block"): call.id for call, more in calls}
        blocks = [whole for block in self._blocks if (whole := _whole(block, ids)) is not None]
        return {"provider": self._provider, "blocks": blocks}


def _whole(block: Json, ids: dict[Any, str]) -> Json | None:
    """A block as it goes back; None for a call that is none, and for a thought that was cut off."""
    kind = block["type"]
    if kind == "tool_use":
        id = ids.get(block["number"])
        return None if id is None else {"type": kind, "id": id}
    if kind == "redacted_thinking":
        return block
    said = "".join(block["pieces"])
    if kind == "text":
        return {"type": kind, "text": said} if said else None
    if not block["signature"]:
        return None
    return {"type": kind, "thinking": said, "signature": block["signature"]}


def usage_of(usage: Json) -> Usage | None:
    """Token counts. `input_tokens` leaves out what was read from the cache and written to it."""
    cached, written = (
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
    )
    given = count(usage.get("input_tokens")) + cached + written
    made = count(usage.get("output_tokens"))
    if not given and not made:
        return None
    thought = counts(usage.get("output_tokens_details"), "thinking_tokens")
    return Usage(given, made, cached, written, min(thought, made))


def _index(chunk: Json) -> int | None:
    """The index of a block; what is no number is one and the same place."""
    index = chunk.get("index")
    return index if isinstance(index, int) else None


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
