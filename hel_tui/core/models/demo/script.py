"""What the scripted model answers to a request: decided by the last user message and this turn's results.

Reads samples/demo.toml (the format is described there). Pure functions of a request body. The values it
speaks of come from tool results; it has none of its own. Not here: sockets and pauses (endpoint).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hel_tui.core.vocabulary import Json

LOADER = "load_mcp_tool"


@dataclass(frozen=True, slots=True)
class Line:
    """One answer: thought, words, calls (name, arguments)."""

    think: str = ""
    say: str = ""
    calls: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What a request says of the turn: the person's words, the calls made since and their results."""

    text: str
    offered: frozenset[str]
    results: dict[str, str]
    """Tool name to the text of its newest result."""

    @property
    def language(self) -> str:
        return "ko" if re.search("[\uac00-\ud7a3]", self.text) else "en"


@cache
def script() -> Json:
    """The script as parsed."""
    import hel_tui.samples

    return tomllib.loads((Path(hel_tui.samples.__file__).parent / "demo.toml").read_text("utf-8"))


def answer(body: Json) -> Line:
    """The next answer to this chat-completions request."""
    turn = read_turn(body)
    for scene in script()["scene"]:
        if all(re.search(pattern, turn.text, re.I) for pattern in scene["when"]):
            return _play(scene, turn)
    return Line(say=script()["about"][turn.language].strip())


def read_turn(body: Json) -> Turn:
    """The turn that a request body is in the middle of."""
    text = ""
    results: dict[str, str] = {}
    names: dict[str, str] = {}
    for message in body.get("messages") or []:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            text, results, names = content if isinstance(content, str) else "", {}, {}
        elif role == "assistant":
            names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls") or []}
        elif role == "tool" and message.get("tool_call_id") in names:
            results[names[message["tool_call_id"]]] = content if isinstance(content, str) else ""
    tools = body.get("tools") or []
    return Turn(text, frozenset(tool["function"]["name"] for tool in tools), results)


def _play(scene: Json, turn: Turn) -> Line:
    """The first step of the scene that is not done yet, or why there is none."""
    language = turn.language
    values = _asked(scene, turn.text)
    for step in scene["step"]:
        same = step.get("unless_same")
        if same and len({values[name] for name in same}) == 1:
            return Line(say=scene["same"][language].format_map(values))
        pending: list[tuple[str, Json]] = []
        for call in step.get("calls", ()):
            tool = call["tool"]
            if tool in turn.results:
                found = re.search(filled(call.get("shows", ""), values), turn.results[tool])
                if found is None:
                    return _stopped(scene, tool, turn)
                values |= found.groupdict()
            elif tool in turn.offered:
                if not _is_loaded(call, turn):
                    pending.append((tool, filled(call["arguments"], values)))
            elif tool != LOADER:
                return _stopped(scene, tool, turn)
        if pending or "calls" not in step:
            think = step.get("think", {}).get(language, "")
            return Line(think, step["say"][language].strip().format_map(values), tuple(pending))
    return Line(say=script()["about"][language].strip())


def _asked(scene: Json, text: str) -> dict[str, str]:
    """Values that the person's own words give, or their defaults."""
    values: dict[str, str] = {}
    for name, ask in scene.get("asked", {}).items():
        found = re.search(ask["pattern"], text, re.I)
        values[name] = found[0].lower() if found else ask["default"]
    return values


def _is_loaded(call: Json, turn: Turn) -> bool:
    return call["tool"] == LOADER and turn.offered.issuperset(call["arguments"]["names"])


def filled(value: Any, values: dict[str, str]) -> Any:
    """`value` with `<name>` replaced by the value of that name, in every string in it."""
    if isinstance(value, str):
        return re.sub(r"(?<!\?P)<(\w+)>", lambda m: values.get(m[1], m[0]), value)
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    if isinstance(value, dict):
        return {key: filled(one, values) for key, one in value.items()}
    return value


def _stopped(scene: Json, tool: str, turn: Turn) -> Line:
    """Said when a call did not bring what it should, or its tool is not there."""
    language = turn.language
    said = turn.results.get(tool, "" if tool in turn.offered else turn.results.get(LOADER, ""))
    if not said and LOADER not in turn.offered:
        return Line(say=scene["missing"][language].strip())
    lines = [line for line in said.splitlines() if line.strip() and not line.lstrip().startswith("<")]
    quoted = " ".join(lines)[:200] or "(no such tool)"
    return Line(say=script()["stopped"][language].strip().format(tool=tool, said=quoted))


def arguments_text(arguments: Json) -> str:
    return json.dumps(arguments, ensure_ascii=False)
