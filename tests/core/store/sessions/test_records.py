"""Records say what they are made of, and nothing else is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.store.sessions.reading import with_bytes
from hel_tui.core.store.sessions.records import (
    EVENTS,
    call_of,
    call_record,
    event_of,
    event_record,
    message_of,
    message_record,
)
from hel_tui.core.vocabulary import AssistantMessage, Image, Message, ToolCall, ToolMessage, UserMessage

SOME: tuple[p.Event, ...] = (
    p.TurnStarted(3, "hi", ("fix:file:///a",)),
    p.Joined(3, "and that", ("fix:file:///b",)),
    p.PromptSent(3, (("user", "x"), ("assistant", "y"))),
    p.StepStarted(3, 1),
    p.CallStarted(3, "c1", "fix", "echo", "text", by_hand=True, limit=2.5),
    p.CallChanged("c1", "ok", 1.5, "preview", 3, 12.0),
    p.TurnEnded(3, "length", "cut", 2.0),
    p.Compacted(1, 3, 100, 50, summarised=4),
    p.UsageChanged(1, 2, 3, 4, 5, 6, cost=0.25),
    p.TodosChanged((("done", "read"), ("pending", "쓰기"))),
    p.Notice("warning", "careful", "fix"),
)
MESSAGES: tuple[Message, ...] = (
    UserMessage("hi"),
    AssistantMessage("a", "r", (ToolCall("c1", "t", "{}"),), {"anthropic": [{"signature": "s"}]}),
    ToolMessage("c1", "t", "result", failed=True),
)


def through_a_file(record: object) -> dict[str, object]:
    read: dict[str, object] = json.loads(json.dumps(record))
    return read


def test_each_kind_of_event_is_tried_here() -> None:
    assert {type(event).__name__ for event in SOME} == set(EVENTS)


@pytest.mark.parametrize("event", SOME, ids=lambda event: type(event).__name__)
def test_an_event_comes_back_as_it_was(event: p.Event) -> None:
    assert event_of(through_a_file(event_record(event))) == event


@pytest.mark.parametrize(
    "record",
    [
        {"k": "TurnStarted", "turn": "three", "text": "hi"},
        {"k": "TurnStarted", "turn": True, "text": "hi"},
        {"k": "TurnStarted", "text": "hi"},
        {"k": "CallChanged", "call_id": "c1", "state": "elsewhere"},
        {"k": "CallChanged", "call_id": "c1", "state": ["ok"]},
        {"k": "PromptSent", "turn": 1, "messages": [["user"]]},
        {"k": "Notice", "severity": "info", "text": None},
        {"k": "Stopped"},
    ],
)
def test_what_is_wrong_in_a_record_makes_no_event(record: dict[str, object]) -> None:
    assert event_of(record) is None


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_as_it_was(message: Message, tmp_path: Path) -> None:
    assert message_of(through_a_file(message_record(message, tmp_path)), tmp_path) == message


def test_images_come_back_from_their_files(tmp_path: Path) -> None:
    picture = tmp_path / "files" / "a.png"
    picture.parent.mkdir()
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (4).to_bytes(4) + (3).to_bytes(4)
    picture.write_bytes(data)
    message = UserMessage("look", (Image("image/png", data, picture, 4, 3),))
    record = message_record(message, tmp_path)
    assert record["images"] == [["image/png", "files/a.png", 4, 3]]
    read = message_of(through_a_file(record), tmp_path)
    assert read is not None
    assert with_bytes(read, tmp_path) == message
    picture.unlink()
    assert with_bytes(read, tmp_path) == UserMessage("look")


def test_a_call_comes_back_with_paths_of_its_folder(tmp_path: Path) -> None:
    saved = str(tmp_path / "files" / "a.png")
    detail = p.CallDetail("c1", "fix", "echo", "{}", "text", "ok", saved=(saved,), images=(saved,), raw="{}")
    record = through_a_file(call_record(detail, "c1", "text", tmp_path))
    assert record["saved"] == ["files/a.png"]
    assert call_of(record, tmp_path) == detail
