"""From the chunks of a generateContent stream to the message they make, part by part.

Shapes: API reference of ai.google.dev, `GenerateContentResponse`. Each chunk is a response of its own; calls
come whole. Pure. Not here: bytes (sse), requests (client).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hel_tui.core.models.ending import Answered, Gathered, Spelled, concluded, count
from hel_tui.core.models.types import CallPart, Finish, FinishReason, Part, ReasoningPart, TextPart, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json, ToolCall

GRACE = 10.0
"""Seconds for what may follow a finish reason, of which some models write one into every chunk."""

_FILTERS = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
)
_REASONS: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_FILTERS, "filter"),
}
_REMARKS = {
    "MALFORMED_FUNCTION_CALL": "The model wrote a call that its provider could not read; it was not made.",
    "UNEXPECTED_TOOL_CALL": "The model called a tool although none was offered; it was not executed.",
    "TOO_MANY_TOOL_CALLS": "The provider ended the answer after too many calls in a row.",
}


class GeminiAssembler:
    """Takes chunks in order. What goes back unchanged is in the message's `extra`: `signed`, by call id what
    the provider gave with it (`signature`, `id`), and `text_signature`.
    """

    def __init__(self, new_id: Callable[[], str], provider: str = "") -> None:
        self._got = Gathered(new_id)
        self._provider = provider
        self._number = 0
        self._text_signature = ""
        self._reason = ""
        self._remark = ""
        self._blocked = ""
        self._usage: Usage | None = None

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
        """The body ends the stream."""
        return False

    @property
    def grace(self) -> float | None:
        """Seconds to wait for more; None before a finish reason."""
        return GRACE if self._reason else None

    def fault(self, chunk: Json) -> Any:
        """The error that a chunk reports after 200."""
        return chunk if chunk.get("error") else None

    def understands(self, chunk: Json) -> bool:
        """Whether it is a response."""
        return any(name in chunk for name in ("candidates", "usageMetadata", "promptFeedback"))

    def feed(self, chunk: Json) -> list[Part]:
        """The parts in one chunk, or in one of a list of them."""
        parts: list[Part] = []
        if isinstance(usage := chunk.get("usageMetadata"), dict):
            self._usage = usage_of(usage) or self._usage
        if isinstance(feedback := chunk.get("promptFeedback"), dict):
            blocked = feedback.get("blockReason")
            self._blocked = blocked if isinstance(blocked, str) else self._blocked
        candidates = chunk.get("candidates")
        if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
            return parts
        candidate = candidates[0]
        content = candidate.get("content")
        given = content.get("parts") if isinstance(content, dict) else None
        for part in given if isinstance(given, list) else ():
            if isinstance(part, dict):
                self._part(part, parts)
        if isinstance(reason := candidate.get("finishReason"), str) and reason:
            self._reason = reason
            told = candidate.get("finishMessage") if reason != "STOP" else None
            self._remark = f"The provider says: {told[:300]}" if isinstance(told, str) and told else ""
        return parts

    def _part(self, part: Json, parts: list[Part]) -> None:
        signature = part.get("thoughtSignature")
        signature = signature if isinstance(signature, str) else ""
        if isinstance(called := part.get("functionCall"), dict):
            self._call(called, signature, parts)
        elif isinstance(text := part.get("text"), str):
            if part.get("thought"):
                self._got.reasoning += [text] if text else []
                parts += [ReasoningPart(text)] if text else []
                return
            self._text_signature = signature or self._text_signature
            self._got.text += [text] if text else []
            parts += [TextPart(text)] if text else []

    def _call(self, called: Json, signature: str, parts: list[Part]) -> None:
        """A call. Its arguments are an object; compatible servers write them as JSON text, too."""
        arguments = called.get("args")
        fragment: Json = {
            "index": self._number,
            "id": called.get("id") or "",
            "function": {
                "name": called.get("name"),
                "arguments": arguments if isinstance(arguments, dict | str) else json.dumps(arguments or {}),
            },
        }
        given = {"signature": signature, "id": fragment["id"]}
        fragment["extra_content"] = {name: value for name, value in given.items() if value}
        self._number += 1
        if (name := self._got.calls.take(fragment)) is not None:
            parts.append(CallPart(name))

    # ------------------------------------------------------------------ the end

    def held(self) -> Sequence[Part]:
        """Nothing is held back."""
        return ()

    def partial(self) -> AssistantMessage:
        """What has arrived, calls aside."""
        return self._got.partial()

    def finish(self, ended: bool) -> Finish:
        """The last part. A blocked prompt is a filter's work, and has no candidates."""
        spelled = Spelled(self._reason, _REASONS.get(self._reason), _REMARKS.get(self._reason, self._remark))
        if self._blocked and not self._reason:
            spelled = Spelled(
                self._blocked, "filter", f"The provider blocked the request: {self._blocked[:60]}."
            )
        return concluded(
            Answered(
                self._got,
                spelled,
                self._usage,
                ended or bool(self._reason),
                extra=self._extra,
            )
        )

    def _extra(self, calls: Sequence[tuple[ToolCall, Json]]) -> Json:
        signed = {call.id: more for call, more in calls if more}
        extra: Json = {"signed": signed} if signed else {}
        if self._text_signature:
            extra["text_signature"] = self._text_signature
        return extra | {"provider": self._provider} if extra else {}


def usage_of(usage: Json) -> Usage | None:
    """Token counts: thoughts are counted beside the answer, tool prompts beside the prompt."""
    given = count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount"))
    thought = count(usage.get("thoughtsTokenCount"))
    made = count(usage.get("candidatesTokenCount")) + thought
    if not given and not made:
        return None
    return Usage(given, made, min(count(usage.get("cachedContentTokenCount")), given), 0, thought)
