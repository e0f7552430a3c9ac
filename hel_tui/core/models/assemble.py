"""From the chunks of a chat-completion stream to the message they make, part by part.

Pure: no clock, no network. Judges by content, because finish reasons are missing, empty or wrong often
enough. Not here: bytes and events (sse), requests and retries (client), errors (faults).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hel_tui.core.models.ending import Answered, Gathered, Spelled, concluded, count, counts
from hel_tui.core.models.thinking import ThinkSplitter
from hel_tui.core.models.types import CallPart, Finish, FinishReason, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json, ToolCall

GRACE = 1.0
"""Seconds an endpoint gets for usage and `[DONE]` once it has given a finish reason."""

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
    "refusal": "refusal",
}


class Assembler:
    """Takes chunks in order and gives back the parts they bring; `finish` gives the last one.

    `new_id` makes ids for calls that came without one. What a provider wants back unchanged goes to the
    message's `extra`: `reasoning_details` (OpenRouter), `calls` (by call id: Gemini's signatures), and
    `provider`, to whom alone they may go.
    """

    def __init__(self, new_id: Callable[[], str], provider: str = "") -> None:
        self._got = Gathered(new_id)
        self._provider = provider
        self._think = ThinkSplitter()
        self._refused = False
        self._streamed = False
        self._details: list[Json] = []
        self.reason = ""
        """The finish reason as the provider spelled it; empty while there is none."""
        self.usage: Usage | None = None

    @property
    def got(self) -> Gathered:
        """What of the answer has arrived."""
        return self._got

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has arrived."""
        return bool(self._got)

    @property
    def complete(self) -> bool:
        """`[DONE]` alone ends a stream, and it is no value."""
        return False

    @property
    def grace(self) -> float | None:
        """Seconds to wait for usage and `[DONE]`; None before a finish reason."""
        return GRACE if self.reason else None

    def fault(self, chunk: Json) -> Any:
        """The error of a chunk, as servers put one into a stream that has begun."""
        return chunk if chunk.get("error") else None

    def understands(self, chunk: Json) -> bool:
        """Whether it is a chunk, one with nothing but usage included."""
        return "choices" in chunk or "usage" in chunk

    def feed(self, chunk: Json) -> list[Part]:
        """The parts in one chunk (or in one whole, unstreamed completion)."""
        self._read_usage(chunk.get("usage"))
        if isinstance(groq := chunk.get("x_groq"), dict):
            self._read_usage(groq.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return []
        choice = choices[0]
        parts: list[Part] = []
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._streamed = True
        elif not self._streamed:  # a last chunk may repeat the whole message beside its delta
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._read_delta(delta, parts)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.reason = reason
        self._read_usage(choice.get("usage"))
        return parts

    def _read_delta(self, delta: Json, parts: list[Part]) -> None:
        for field in ("reasoning_content", "reasoning"):
            if isinstance(thought := delta.get(field), str) and thought:
                self._think_part(thought, parts)
                break
        if isinstance(details := delta.get("reasoning_details"), list):
            self._got.besides += _merge_details(self._details, details)
        if content := delta.get("content"):
            self._content(_plain(content), parts)
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            self._refused = True
            self._text_part(refusal, parts)
        fragments = delta.get("tool_calls")
        if isinstance(fragments, dict):
            fragments = [fragments]
        if isinstance(fragments, list):
            for fragment in fragments:
                if isinstance(fragment, dict):
                    self._call(fragment, parts)
        if isinstance(function := delta.get("function_call"), dict):
            self._call({"index": 0, "function": function}, parts)

    def _content(self, content: str, parts: list[Part]) -> None:
        thought, text = self._think.feed(content)
        self._think_part(thought, parts)
        self._text_part(text, parts)

    def _text_part(self, text: str, parts: list[Part]) -> None:
        if text:
            self._got.text.append(text)
            parts.append(TextPart(text))

    def _think_part(self, thought: str, parts: list[Part]) -> None:
        if thought:
            self._got.reasoning.append(thought)
            parts.append(ReasoningPart(thought))

    def _call(self, fragment: Json, parts: list[Part]) -> None:
        name = self._got.calls.take(fragment)
        if name is not None:
            parts.append(CallPart(name))

    def _read_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.usage = read_usage(usage) or self.usage

    # ------------------------------------------------------------------ the end

    def held(self) -> list[Part]:
        """Text that was held back as a possible tag; call once, when nothing more comes."""
        parts: list[Part] = []
        thought, text = self._think.close()
        self._think_part(thought, parts)
        self._text_part(text, parts)
        return parts

    def partial(self) -> AssistantMessage:
        """What has arrived, calls aside: a broken stream's calls are never run."""
        return self._got.partial()

    def finish(self, ended: bool) -> Finish:
        """The last part. `ended` says that the stream said so itself (`[DONE]`, or one whole answer)."""
        return concluded(
            Answered(
                self._got,
                Spelled(self.reason, _REASONS.get(self.reason.lower())),
                self.usage,
                ended,
                self._refused,
                self._extra,
            )
        )

    def _extra(self, calls: Sequence[tuple[ToolCall, Json]]) -> Json:
        """What the provider wants back unchanged."""
        extra: Json = {}
        if self._details:
            extra["reasoning_details"] = self._details
        if by_call := {call.id: more for call, more in calls if more}:
            extra["calls"] = by_call
        return extra | {"provider": self._provider} if extra else extra


def _plain(content: Any) -> str:
    """Content as text: a string, or a list of parts of which only the text ones count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def _merge_details(kept: list[Json], new: list[Any]) -> int:
    """Join streamed pieces of one reasoning block (same type and index): their strings are continued.

    Returns how many characters of strings came.
    """
    came = 0
    for piece in new:
        if not isinstance(piece, dict):
            continue
        came += sum(len(value) for value in piece.values() if isinstance(value, str))
        last = kept[-1] if kept else {}
        if not last or any(last.get(key) != piece.get(key) for key in ("type", "index")):
            kept.append(dict(piece))
            continue
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                last[key] = (last.get(key) or "") + value
            elif value is not None:
                last[key] = value
    return came


def read_usage(usage: Json) -> Usage | None:
    """Token counts in any of the spellings providers use; None when there are none.

    Cached: `prompt_tokens_details.cached_tokens` (OpenAI, gateways), `prompt_cache_hit_tokens` (DeepSeek),
    `cached_tokens` (Moonshot), `cache_read_input_tokens` (gateways to Anthropic). Written:
    `prompt_tokens_details.cache_write_tokens` (OpenAI, OpenRouter), `cache_creation_input_tokens`. Reasoning:
    `completion_tokens_details.reasoning_tokens`.
    """
    given = counts(usage, "prompt_tokens", "input_tokens")
    made = counts(usage, "completion_tokens", "output_tokens")
    if not given and not made:
        return None
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    more = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    cached = counts(details, "cached_tokens") or counts(
        usage, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"
    )
    written = counts(details, "cache_write_tokens") or count(usage.get("cache_creation_input_tokens"))
    cached = min(cached, given)
    return Usage(
        given, made, cached, min(written, given - cached), min(counts(more, "reasoning_tokens"), made)
    )
