"""The scripted model of a lab: real requests to a real endpoint on loopback, answers from the lab's file.

Which step comes is told by the request alone, so a request that is made again gets the same answer. Values
come from results, never from the script. Not here: the endpoint's wire (core.models.demo).
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from hel_tui.core.checks.masks import TooSlow, search
from hel_tui.core.models.demo.endpoint import DemoEndpoint
from hel_tui.core.models.demo.script import Line, filled
from hel_tui.core.vocabulary import Json
from hel_tui.labs.lab import ScriptedStep

PATTERN_TIME = 2.0
"""Seconds the patterns of one answer may take together: a lab may be anybody's."""
OVER = "The script of this condition is over."


@asynccontextmanager
async def scripted_model(steps: Sequence[ScriptedStep]) -> AsyncIterator[tuple[str, str]]:
    """Open the endpoint; gives its base URL and the key it takes."""
    key = secrets.token_hex(16)
    endpoint = DemoEndpoint(key, pause=0.0, plays=lambda body: answer(steps, body))
    try:
        yield await endpoint.start(), key
    finally:
        await endpoint.aclose()


def answer(steps: Sequence[ScriptedStep], body: Json) -> Line:
    """The answer to a chat-completions request: the step after those that the turn has already."""
    made, results = _turn(body)
    values: dict[str, str] = {}
    end = time.monotonic() + PATTERN_TIME
    for step, texts in zip(steps, results, strict=False):
        for call, text in zip(step.calls, texts, strict=False):
            literal = {name: re.escape(value) for name, value in values.items()}
            try:
                found = search(filled(call.shows, literal), text, end - time.monotonic())
            except TooSlow as slow:
                return Line(say=f"I stop here: {slow}.")
            if found is None:
                return Line(say=f"I stop here: {call.tool} did not show what I need.")
            values |= found.groupdict("")
    if made >= len(steps):
        return Line(say=OVER)
    step = steps[made]
    calls = tuple((call.tool, filled(dict(call.arguments), values)) for call in step.calls)
    return Line(say=filled(step.say.strip(), values), calls=calls)


def _turn(body: Json) -> tuple[int, list[list[str]]]:
    """How many answers the turn has, and the results of each one's calls, in order."""
    answers: list[list[str]] = []
    found: dict[str, str] = {}
    for message in body.get("messages") or []:
        if message.get("role") == "user":
            answers, found = [], {}
        elif message.get("role") == "assistant":
            answers.append([str(call.get("id")) for call in message.get("tool_calls") or []])
        elif message.get("role") == "tool":
            content = message.get("content")
            found[str(message.get("tool_call_id"))] = content if isinstance(content, str) else ""
    return len(answers), [[found.get(call, "") for call in calls] for calls in answers]
