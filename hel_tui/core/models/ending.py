"""How an answer ends, whatever API it came over: judged by its content, with remarks for the person.

Finish reasons are missing, empty or wrong often enough. Not here: the pieces of an answer (each API's
assembler), what a turn makes of an ending (agent).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hel_tui.core.models.call_pieces import CallPieces
from hel_tui.core.models.types import Finish, FinishReason, Usage
from hel_tui.core.vocabulary import AssistantMessage, Json, ToolCall

NO_REASON = "no finish reason"
TEXT_CALL = "The model wrote a tool call as text; it was not executed."
TEXT_RESULT = "The model wrote a tool result itself; no tool gave it."
MOST = 4 * 2**20
"""Characters that are taken of one answer: thoughts, text and calls. No model's output limit is that high."""
MOST_CALLS = 128
"""Calls that are taken of one answer: as many as OpenAI takes back."""
TOO_LONG = f"The answer had more than {MOST:,} characters, and was cut off there."
TOO_MANY = f"The answer had more than {MOST_CALLS} calls, and was cut off there."

_TEXT_CALL = re.compile(
    r"<tool_call>|<\|tool_call|<function=|<function_call|<tool_use>|\[TOOL_CALLS\]|<｜tool▁calls?▁begin｜>"
    r'|<invoke name="|<｜DSML｜invoke|<minimax:tool_call>|<\|python_tag\|>'
    r"|<\|channel\|>commentary to=functions\.|<start_function_call>|<\|action_start\|>"
    r'|\A\s*(?:```json\s*)?\{\s*"name":\s*"[\w.-]+",\s*"(?:arguments|parameters)":'
)
_CALL_NAME = re.compile(
    r"(?:<function=|<invoke name=\"|invoke name=\"|tool▁sep｜>|to=functions\.|<start_function_call>call:"
    r"|<\|tool_call_begin\|>\s*functions\.|<\|tool_call>call:|\[TOOL_CALLS\]\s*(?=\w)"
    r"|\"(?:name|tool|function)\"\s*:\s*\"|<tool_call>\s*(?=\w))\s*(?P<name>[\w-]{1,128})"
)
"""The tool that a call in text names, in the ways chat templates write calls (Hermes and Qwen, Mistral,
DeepSeek, Kimi, Llama, gpt-oss, GLM, MiniMax, Gemma, InternLM, and Anthropic's own in texts).
"""
_TEXT_RESULT = re.compile(r"<tool_result|<function_results?>|<tool_response>")
_NAME_ROOM = 2_000
"""Characters behind the beginning of a call in text that are looked at for its name."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """A finish reason as its provider spelled it, and what it means; both empty where none came."""

    word: str = ""
    reason: FinishReason | None = None
    remark: str = ""
    """A sentence for the person, where the reason alone says too little."""


class Gathered:
    """What of an answer has arrived, whatever API it comes over."""

    __slots__ = ("_counted", "_size", "besides", "calls", "cut", "new_id", "reasoning", "text")

    def __init__(self, new_id: Callable[[], str]) -> None:
        """`new_id` makes ids for calls that came without one."""
        self.new_id = new_id
        self.calls = CallPieces()
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.besides = 0
        """Characters of what is kept only to go back to the provider."""
        self.cut = ""
        """Why what came behind this was not taken; empty when nothing did."""
        self._size = 0
        """Characters of the first pieces of text and reasoning, `_counted` of each."""
        self._counted = [0, 0]

    @property
    def is_too_long(self) -> bool:
        """Whether it has more than is taken of one answer. Costs what came since the last time."""
        for number, pieces in enumerate((self.text, self.reasoning)):
            for piece in pieces[self._counted[number] :]:
                self._size += len(piece)
            self._counted[number] = len(pieces)
        return self._size + self.besides + self.calls.size > MOST or len(self.calls) > MOST_CALLS

    def __bool__(self) -> bool:
        return bool(self.text or self.reasoning or self.calls)

    def cut_off(self) -> int:
        """It is too long: what comes is not taken. Returns how many characters of its texts were too many."""
        self.cut = TOO_MANY if len(self.calls) > MOST_CALLS else TOO_LONG
        most = MOST
        for pieces in (self.reasoning, self.text):
            whole = "".join(pieces)
            pieces[:] = [whole[:most]]
            most -= len(pieces[0])
        self.calls.shorten(MOST_CALLS, MOST)
        return max(0, self._size - MOST)

    def partial(self) -> AssistantMessage:
        """As a message, calls aside: a broken stream's calls are never run."""
        return AssistantMessage("".join(self.text), "".join(self.reasoning))


@dataclass(slots=True)
class Answered:
    """What an assembler has at the end of a stream."""

    got: Gathered
    spelled: Spelled
    usage: Usage | None = None
    ended: bool = False
    """The stream said itself that it is over."""
    refused: bool = False
    extra: Callable[[Sequence[tuple[ToolCall, Json]]], Json] = lambda _calls: {}
    """What must go back with the message, from its calls and what came with each."""


def concluded(answer: Answered) -> Finish:
    """The last part of an answer."""
    spelled = Spelled("length", "length", answer.got.cut) if answer.got.cut else answer.spelled
    reason: FinishReason = spelled.reason or "unknown"
    limited = reason == "length"
    got, said = answer.got, answer.got.partial()
    calls, extras, lost = got.calls.finish(
        got.new_id, cut=limited or not spelled.word, ended=answer.ended and not limited
    )
    notes = _notes(spelled, lost)
    written = ""
    if calls:
        reason = "tool_calls"
    else:
        if begun := _TEXT_CALL.search(said.text):
            notes.append(TEXT_CALL)
            written = _name(said.text, begun.start())
        if _TEXT_RESULT.search(said.text):
            notes.append(TEXT_RESULT)
        if lost:
            reason = "length"
        elif answer.refused:
            reason = "refusal"
        elif said.text and reason == "unknown":
            reason = "stop"
    extra = answer.extra(list(zip(calls, extras, strict=True)))
    message = replace(said, calls=tuple(calls), extra=extra)
    ended = answer.ended or bool(spelled.word)
    return Finish(message, reason, answer.usage, tuple(notes), written, ended)


def _notes(spelled: Spelled, lost: Sequence[str]) -> list[str]:
    notes = []
    if not spelled.word:
        notes.append(NO_REASON)
    elif spelled.reason is None:
        notes.append(f"The provider ended the answer with {spelled.word[:40]!r}.")
    if spelled.remark:
        notes.append(spelled.remark)
    return notes + [f"The call of {name} was cut off and not executed." for name in lost]


def _name(text: str, start: int) -> str:
    found = _CALL_NAME.search(text, start, start + _NAME_ROOM)
    return found["name"] if found else ""


def count(value: Any) -> int:
    """A number of tokens as it came; 0 for what is none."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e15 else 0


def counts(holder: Any, *names: str) -> int:
    """The first number of tokens that `holder` has under one of these names."""
    if not isinstance(holder, dict):
        return 0
    return next((found for name in names if (found := count(holder.get(name)))), 0)
