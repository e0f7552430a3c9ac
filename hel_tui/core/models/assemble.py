"""From the chunks of a chat-completion stream to the message they make, part by part.

Pure: no clock, no network. Judges by content, because finish reasons are missing, empty or wrong often
enough. Not here: bytes and events (sse), requests and retries (client), errors (faults).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hel_tui.core.models.call_pieces import CallPieces
from hel_tui.core.models.thinking import ThinkSplitter
from hel_tui.core.models.types import CallPart, Finish, FinishReason, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json

NO_REASON = "no finish reason"
TEXT_CALL = "The model wrote a tool call as text; it was not executed."
TEXT_RESULT = "The model wrote a tool result itself; no tool gave it."

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
_TEXT_CALL = re.compile(
    r"<tool_call>|<\|tool_call|<function=|<function_call|<tool_use>|\[TOOL_CALLS\]|<｜tool▁calls?▁begin｜>"
    r'|<invoke name="|\A\s*(?:```json\s*)?\{\s*"name":\s*"\w+",\s*"(?:arguments|parameters)":'
)
_TEXT_RESULT = re.compile(r"<tool_result|<function_results?>|<tool_response>")


class Assembler:
    """Takes chunks in order and gives back the parts they bring; `finish` gives the last one.

    `new_id` makes ids for calls that came without one. What a provider wants back unchanged goes to the
    message's `extra`: `reasoning_details` (OpenRouter), `calls` (by call id: Gemini's signatures), and
    `provider`, to whom alone they may go.
    """

    def __init__(self, new_id: Callable[[], str], provider: str = "") -> None:
        self._new_id = new_id
        self._provider = provider
        self._think = ThinkSplitter()
        self._calls = CallPieces()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refused = False
        self._streamed = False
        self._details: list[Json] = []
        self.reason = ""
        """The finish reason as the provider spelled it; empty while there is none."""
        self.usage: Usage | None = None

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has arrived."""
        return bool(self._text or self._reasoning or self._calls)

    def feed(self, chunk: Json) -> list[Part]:
        """The parts in one chunk (or in one whole, unstreamed completion)."""
        self._read_usage(chunk.get("usage"))
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
            _merge_details(self._details, details)
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
            self._text.append(text)
            parts.append(TextPart(text))

    def _think_part(self, thought: str, parts: list[Part]) -> None:
        if thought:
            self._reasoning.append(thought)
            parts.append(ReasoningPart(thought))

    def _call(self, fragment: Json, parts: list[Part]) -> None:
        name = self._calls.take(fragment)
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
        return AssistantMessage("".join(self._text), "".join(self._reasoning))

    def finish(self, ended: bool) -> Finish:
        """The last part. `ended` says that the stream said so itself (`[DONE]`, or one whole answer)."""
        reason = _REASONS.get(self.reason.lower(), "unknown")
        limited = reason == "length"
        calls, extras, lost = self._calls.finish(
            self._new_id, cut=limited or not self.reason, ended=ended and not limited
        )
        text = "".join(self._text)
        notes = []
        if not self.reason:
            notes.append(NO_REASON)
        elif self.reason.lower() not in _REASONS:
            notes.append(f"The provider ended the answer with {self.reason[:40]!r}.")
        notes += [f"The call of {name} was cut off and not executed." for name in lost]
        if not calls:
            notes += [TEXT_CALL] if _TEXT_CALL.search(text) else []
            notes += [TEXT_RESULT] if _TEXT_RESULT.search(text) else []
        if calls:
            reason = "tool_calls"
        elif lost:
            reason = "length"
        elif self._refused:
            reason = "refusal"
        elif text and reason == "unknown":
            reason = "stop"
        extra: Json = {}
        if self._details:
            extra["reasoning_details"] = self._details
        if any(extras):
            extra["calls"] = {call.id: more for call, more in zip(calls, extras, strict=True) if more}
        if extra:
            extra["provider"] = self._provider
        message = AssistantMessage(text, "".join(self._reasoning), tuple(calls), extra)
        return Finish(message, reason, self.usage, tuple(notes))


def _plain(content: Any) -> str:
    """Content as text: a string, or a list of parts of which only the text ones count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def _merge_details(kept: list[Json], new: list[Any]) -> None:
    """Join streamed pieces of one reasoning block (same type and index): their strings are continued."""
    for piece in new:
        if not isinstance(piece, dict):
            continue
        last = kept[-1] if kept else {}
        if not last or any(last.get(key) != piece.get(key) for key in ("type", "index")):
            kept.append(dict(piece))
            continue
        for key, value in piece.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                last[key] = (last.get(key) or "") + value
            elif value is not None:
                last[key] = value


def read_usage(usage: Json) -> Usage | None:
    """Token counts in any of the spellings providers use; None when there are none.

    Cached tokens: `prompt_tokens_details.cached_tokens` (OpenAI), `prompt_cache_hit_tokens` (DeepSeek).
    """

    def count(value: Any) -> int:
        return int(value) if isinstance(value, int | float) and 0 <= value < 1e15 else 0

    given = count(usage.get("prompt_tokens")) or count(usage.get("input_tokens"))
    made = count(usage.get("completion_tokens")) or count(usage.get("output_tokens"))
    if not given and not made:
        return None
    details = usage.get("prompt_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    cached = cached or count(usage.get("prompt_cache_hit_tokens"))
    return Usage(given, made, min(cached, given))
