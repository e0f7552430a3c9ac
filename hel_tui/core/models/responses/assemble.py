"""From the events of a Responses stream to the message they make, part by part.

Events: API reference "Streaming events" of developers.openai.com. What deltas brought counts; items that only
come whole are read from their end, or from the end of the response. Pure. Not here: bytes (sse).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hel_tui.core.models.assemble import read_usage
from hel_tui.core.models.ending import Answered, Gathered, Spelled, concluded
from hel_tui.core.models.types import CallPart, Finish, FinishReason, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json, ToolCall

_REASONS: dict[str, FinishReason] = {
    "completed": "stop",
    "max_output_tokens": "length",
    "content_filter": "filter",
}
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THOUGHT = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_LAST = ("response.completed", "response.incomplete")


class ResponseAssembler:
    """Takes events in order. What goes back unchanged is in the message's `extra`: `items`, in their order;
    reasoning whole, the text of messages with their phase, calls by id. None without reasoning or phases.
    """

    def __init__(self, new_id: Callable[[], str], provider: str = "", model: str = "") -> None:
        self._got = Gathered(new_id)
        self._provider = provider
        self._model = model
        self._items: list[Json] = []
        self._places: dict[int | None, Json] = {}
        """Items by the place in the output the server gave them."""
        self._refused = False
        self._reason = ""
        self._over = False
        self._usage: Usage | None = None

    @property
    def got(self) -> Gathered:
        """What of the answer has arrived."""
        return self._got

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has arrived."""
        return bool(self._got or self._items)

    @property
    def complete(self) -> bool:
        """The response is completed, or was ended early."""
        return self._over

    @property
    def grace(self) -> float | None:
        """Nothing follows the last event."""
        return None

    def fault(self, chunk: Json) -> Any:
        """The error of an `error` or `response.failed` event, or of a failed response in one piece."""
        if chunk.get("type") == "error":
            return chunk.get("error") or chunk
        response = chunk.get("response") if chunk.get("type") == "response.failed" else chunk
        if isinstance(response, dict) and (response.get("error") or response.get("status") == "failed"):
            return response.get("error") or "the response failed"
        return None

    def understands(self, chunk: Json) -> bool:
        """Whether it is an event of a response, or a whole one."""
        kind = chunk.get("type")
        return (isinstance(kind, str) and kind.startswith("response.")) or chunk.get("object") == "response"

    def feed(self, chunk: Json) -> list[Part]:
        """The parts one event brings."""
        parts: list[Part] = []
        kind = chunk.get("type")
        place = chunk.get("output_index")
        place = place if isinstance(place, int) else None
        if kind in _TEXT:
            self._refused = self._refused or kind == "response.refusal.delta"
            self._say(place, _string(chunk.get("delta")), parts)
        elif kind in _THOUGHT:
            self._think(place, chunk, parts)
        elif kind == "response.output_item.added":
            self._item(place, _dict(chunk.get("item")), parts)
        elif kind == "response.function_call_arguments.delta":
            self._arguments(place, chunk.get("delta"))
        elif kind == "response.output_item.done":
            self._done(place, _dict(chunk.get("item")), parts)
        elif kind in _LAST or chunk.get("object") == "response":
            self._whole(_dict(chunk.get("response")) or chunk, parts)
        return parts

    # ------------------------------------------------------------------- pieces

    def _at(self, place: int | None, kind: str) -> Json:
        """The item at this place of the output; a new one where its beginning is missing."""
        found = self._places.get(place)
        if found is None or found["type"] != kind:
            found = {"type": kind, "number": len(self._items), "pieces": [], "part": None}
            self._items.append(found)
            self._places[place] = found
        return found

    def _say(self, place: int | None, piece: str, parts: list[Part]) -> None:
        if piece:
            self._at(place, "message")["pieces"].append(piece)
            self._got.text.append(piece)
            parts.append(TextPart(piece))

    def _think(self, place: int | None, chunk: Json, parts: list[Part]) -> None:
        """A piece of reasoning, or of its summary, whose parts are paragraphs."""
        item, piece = self._at(place, "reasoning"), _string(chunk.get("delta"))
        part = chunk.get("summary_index", chunk.get("content_index"))
        if piece and item["part"] not in (None, part):
            piece = f"\n\n{piece}"
        if piece:
            item["part"] = part
            item["pieces"].append(piece)
            self._got.reasoning.append(piece)
            parts.append(ReasoningPart(piece))

    def _item(self, place: int | None, item: Json, parts: list[Part]) -> None:
        """An item begins; another one at a place that is taken is another item."""
        kind = item.get("type")
        if kind not in ("message", "reasoning", "function_call"):
            return
        known = self._places.get(place)
        if known is not None and (known.get("id") != item.get("id") or known["type"] != kind):
            del self._places[place]
        kept = self._at(place, kind)
        kept["id"] = item.get("id")
        if kind == "function_call":
            self._call(kept, item, item.get("arguments"), parts)

    def _call(self, kept: Json, item: Json, arguments: Any, parts: list[Part]) -> None:
        fragment = {
            "index": kept["number"],
            "id": item.get("call_id"),
            "function": {"name": item.get("name"), "arguments": arguments or ""},
            "extra_content": {"item": kept["number"]},
        }
        kept["given"] = bool(arguments)
        if (name := self._got.calls.take(fragment)) is not None:
            parts.append(CallPart(name))

    def _arguments(self, place: int | None, piece: Any) -> None:
        kept = self._at(place, "function_call")
        kept["given"] = kept.get("given", False) or bool(piece)
        self._got.calls.take({"index": kept["number"], "function": {"arguments": piece}})

    def _done(self, place: int | None, item: Json, parts: list[Part]) -> None:
        """An item is whole: what no delta brought is taken from it."""
        kind = item.get("type")
        if kind not in ("message", "reasoning", "function_call"):
            return
        if place not in self._places:
            self._item(place, item, parts)
        kept = self._at(place, kind)
        if kind == "message":
            kept["phase"] = item.get("phase")
            kinds = [one.get("type") for one in _dicts(item, "content")]
            self._refused = self._refused or "refusal" in kinds
            if not kept["pieces"]:
                said = (one.get("text") or one.get("refusal") for one in _dicts(item, "content"))
                self._say(place, "".join(_string(one) for one in said), parts)
        elif kind == "reasoning":
            kept["whole"] = {name: one for name, one in item.items() if name != "status" and one is not None}
            if not kept["pieces"]:
                thoughts = _dicts(item, "summary") or _dicts(item, "content")
                words = "\n\n".join(_string(one.get("text")) for one in thoughts)
                self._think(place, {"delta": words}, parts)
        elif not kept.get("given"):
            self._call(kept, item, item.get("arguments"), parts)

    def _whole(self, response: Json, parts: list[Part]) -> None:
        """The end of the response, which repeats all of it."""
        if not self._items:
            for place, item in enumerate(_dicts(response, "output")):
                self._done(place, item, parts)
        status = _string(response.get("status"))
        details = _dict(response.get("incomplete_details"))
        self._reason = _string(details.get("reason")) or status
        self._over = True
        if isinstance(usage := response.get("usage"), dict):
            self._usage = read_usage(usage)

    # ------------------------------------------------------------------ the end

    def held(self) -> Sequence[Part]:
        """Nothing is held back."""
        return ()

    def partial(self) -> AssistantMessage:
        """What has arrived, calls aside."""
        return self._got.partial()

    def finish(self, ended: bool) -> Finish:
        """The last part."""
        return concluded(
            Answered(
                self._got,
                Spelled(self._reason, _REASONS.get(self._reason)),
                self._usage,
                ended,
                self._refused,
                self._extra,
            )
        )

    def _extra(self, calls: Sequence[tuple[ToolCall, Json]]) -> Json:
        if not any("whole" in item or item.get("phase") for item in self._items):
            return {}
        ids = {more.get("item"): call.id for call, more in calls}
        items = [whole for item in self._items if (whole := _back(item, ids)) is not None]
        return {"provider": self._provider, "model": self._model, "items": items}


def _back(item: Json, ids: dict[Any, str]) -> Json | None:
    """An item as it goes back; None for a call that is none, and for reasoning that cannot be read again."""
    kind = item["type"]
    if kind == "reasoning":
        whole = item.get("whole")
        return whole if whole and whole.get("encrypted_content") else None
    if kind == "message":
        said = "".join(item["pieces"])
        return {"type": kind, "text": said} | ({"phase": item["phase"]} if item.get("phase") else {})
    id = ids.get(item["number"])
    return None if id is None else {"type": kind, "call_id": id}


def _dicts(holder: Json, name: str) -> list[Json]:
    value = holder.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
