"""A session as a file for people (Markdown) or programs (JSON), made from its file of lines.

What could not be read is said in it: an export never looks whole when it is not. Not here: search (index).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from hel_tui.core.counts import counted
from hel_tui.core.protocol import CallDetail
from hel_tui.core.store.sessions.mending import never_ended
from hel_tui.core.store.sessions.reading import Kept, read_call, read_session, records_between
from hel_tui.core.vocabulary import Json

MOST_RESULT = 20_000
"""Characters of a result in Markdown; JSON has it whole."""


def as_json(folder: Path) -> str:
    """The session as one JSON object: what it is, and its turns with all in them. Raises OSError."""
    kept = read_session(folder)
    document = {**_facts(kept), "turns": list(_turns(kept))}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_markdown(folder: Path) -> str:
    """The session as Markdown. Raises OSError."""
    kept = read_session(folder)
    facts = _facts(kept)
    head = [f"# {_line(kept.name) or folder.name}", ""]
    for name in ("session", "project", "model", "created", "updated", "fork_of"):
        if facts[name]:
            head.append(f"- {name.replace('_', ' ')}: {facts[name]}")
    if kept.damaged:
        lines = counted(len(kept.damaged), "line")
        head += ["", f"> Missing here, for it could not be read: {lines} of this session."]
    blocks = ["\n".join(head)]
    for turn in _turns(kept):
        blocks += _turn_blocks(turn)
    return "\n\n".join(blocks) + "\n"


def _facts(kept: Kept) -> Json:
    parent = kept.head.get("parent")
    return {
        "session": kept.folder.name,
        "title": kept.name,
        "project": str(kept.head.get("project", "")),
        "model": kept.model,
        "created": _clock(kept.head.get("t")),
        "updated": _clock(kept.updated),
        "fork_of": str(parent.get("id", "")) if isinstance(parent, dict) else "",
        "damaged_lines": len(kept.damaged),
        "usage": {
            "input_tokens": kept.usage.input_tokens,
            "output_tokens": kept.usage.output_tokens,
            "cached_tokens": kept.usage.cached_tokens,
            "cost": kept.usage.cost,
        }
        if kept.usage is not None
        else None,
    }


def _clock(written: object) -> str:
    if not isinstance(written, int | float) or not written:
        return ""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(written))


def _turns(kept: Kept) -> Iterator[Json]:
    """Each turn: who said what, in order. What came before the first turn has the number 0."""
    begins = [(0, 0), *kept.turns]
    for (number, begin), after in zip(begins, [*(at for _, at in begins[1:]), None], strict=True):
        records = records_between(kept.folder, begin, after)
        steps = list(_steps(kept, records if after is not None else _to_the_end(kept.folder, records)))
        if steps or number:
            yield {"turn": number, "steps": steps}


def _to_the_end(folder: Path, records: Iterator[Json]) -> Iterator[Json]:
    """The records of the last turn, and behind them what had arrived of a text when hel was ended."""
    newest = list(records)
    return iter([*newest, *never_ended(folder, newest)])


def _steps(kept: Kept, records: Iterator[Json]) -> Iterator[Json]:
    states: dict[str, Json] = {}
    for record in records:
        match record:
            case {"k": "TurnStarted" | "Joined", "text": str(text)}:
                attached = record.get("attachments")
                yield {"kind": "user", "text": text, **({"attachments": attached} if attached else {})}
            case {"k": "text", "text": str(text)}:
                yield {"kind": "reasoning" if record.get("reasoning") else "answer", "text": text}
            case {"k": "CallStarted", "call_id": str(call_id)}:
                states[call_id] = step = _call(kept, call_id, record)
                yield step
            case {"k": "Notice", "text": str(text)}:
                yield {"kind": "notice", "severity": record.get("severity", "info"), "text": text}
            case {"k": "TurnEnded", "reason": str(reason)}:
                yield {"kind": "end", "reason": reason, "text": str(record.get("message", ""))}
            case _:
                pass


def _call(kept: Kept, call_id: str, started: Json) -> Json:
    at = kept.calls.get(call_id)
    detail = read_call(kept.folder, at) if at is not None else None
    step: Json = {
        "kind": "call",
        "id": call_id,
        "server": str(started.get("server", "")),
        "tool": str(started.get("tool", "")),
        "by_hand": bool(started.get("by_hand", False)),
    }
    if detail is None:
        return {**step, "state": "unknown", "arguments": None, "result": "", "files": []}
    return {
        **step,
        "state": detail.state,
        "arguments": _value(detail),
        "result": detail.result,
        "files": list(detail.saved),
    }


def _value(detail: CallDetail) -> object:
    try:
        return json.loads(detail.arguments)
    except (ValueError, RecursionError):
        return detail.arguments


# ------------------------------------------------------------------- markdown


def _turn_blocks(turn: Json) -> list[str]:
    blocks: list[str] = []
    for step in turn["steps"]:
        blocks += _blocks(step, turn["turn"])
    return blocks


def _blocks(step: Json, number: int) -> Sequence[str]:
    match step["kind"]:
        case "user":
            said = [step["text"]] if step["text"] else []
            said += [f"*▤ {_line(name)}*" for name in step.get("attachments", ())]
            return [f"## {number}. You", *said] if said else []
        case "answer":
            return [step["text"].strip()]
        case "reasoning":
            return ["\n".join(f"> {line}".rstrip() for line in step["text"].strip().splitlines())]
        case "call":
            name = f"{step['server']} · {step['tool']}" if step["server"] else step["tool"]
            arguments = json.dumps(step["arguments"], ensure_ascii=False, indent=2)
            result = step["result"]
            cut = f"\n… {len(result) - MOST_RESULT:,} more characters" if len(result) > MOST_RESULT else ""
            head = f"**{_line(name)}** ({step['state']})"
            return [head, _fenced(arguments, "json"), _fenced(result[:MOST_RESULT] + cut, "")]
        case "notice":
            return [f"*{_line(step['text'])}*"]
        case "end" if step["text"]:
            return [f"*{_line(step['text'])}*"]
        case _:
            return []


def _line(text: str) -> str:
    return " ".join(text.split())


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
