"""Every change of the conversation is told before it is made, and those told make the same conversation."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.agent.history import History
from hel_tui.core.vocabulary import AssistantMessage, Image, Message, ToolCall, ToolMessage, UserMessage


class Notes:
    """A keeper that writes down what it is told, and how long the history was then."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []
        self.history: History | None = None

    def _note(self, *what: Any) -> None:
        assert self.history is not None
        self.told.append((*what, len(self.history)))

    def appended(self, message: Message) -> None:
        self._note("appended", message.text)

    def amended(self, text: str) -> None:
        self._note("amended", text)

    def shortened(self, at: int, text: str) -> None:
        self._note("shortened", at, text)

    def compacted(self, kept: int, summary: str) -> None:
        self._note("compacted", kept, summary)

    def announced(self, message: Message) -> None:
        self._note("announced", message.text)

    def withdrawn(self, count: int) -> None:
        self._note("withdrawn", count)

    def cleared(self) -> None:
        self._note("cleared")


def kept() -> tuple[History, Notes]:
    notes = Notes()
    notes.history = History(notes)
    return notes.history, notes


def test_a_change_is_told_before_it_is_made() -> None:
    history, notes = kept()
    history.append(UserMessage("one"))
    history.append(AssistantMessage("two"))
    history.append(UserMessage("three"))
    assert history.amend("news")
    history.shorten(0, "1")
    history.compact(1, "all before")
    assert [message.text for message in history] == ["all before", "three\n\nnews"]
    history.clear()
    assert notes.told == [
        ("appended", "one", 0),
        ("appended", "two", 1),
        ("appended", "three", 2),
        ("amended", "news", 3),
        ("shortened", 0, "1", 3),
        ("compacted", 1, "all before", 3),
        ("cleared", 2),
    ]
    assert list(history) == []


def test_the_model_is_never_made_to_have_said_what_it_did_not() -> None:
    history, notes = kept()
    history.append(AssistantMessage("mine"))
    assert not history.amend("news")
    assert history[0].text == "mine"
    assert [told[0] for told in notes.told] == ["appended"]


def test_nothing_is_amended_where_nothing_is() -> None:
    history, notes = kept()
    assert not history.amend("news")
    history.append(UserMessage("one"))
    assert not history.amend("")
    assert len(notes.told) == 1


def test_a_message_that_reached_nobody_goes_with_what_came_with_it_as_far_as_that_is_there() -> None:
    history, notes = kept()
    came: tuple[Message, ...] = (UserMessage("shown"), AssistantMessage("I analyse."))
    for message in (UserMessage("one"), AssistantMessage("two"), *came, UserMessage("three")):
        history.append(message)
    assert history.withdraw(came)
    assert [message.text for message in history] == ["one", "two"]
    assert notes.told[-1] == ("withdrawn", 3, 5)
    assert not history.withdraw(), "an answer is never taken back"
    for message in (*came, UserMessage("three")):
        history.append(message)
    history.compact(2, "all before")
    assert history.withdraw(came)
    assert [message.text for message in history] == ["all before"]


def test_what_compaction_keeps_never_begins_with_a_result() -> None:
    history, notes = kept()
    history.append(UserMessage("read it"))
    history.append(AssistantMessage(calls=(ToolCall("c1", "read_file", "{}"),)))
    history.append(ToolMessage("c1", "read_file", "text"))
    with pytest.raises(ValueError, match="result"):
        history.compact(1, "all before")
    with pytest.raises(ValueError, match="cannot be kept"):
        history.compact(4, "all before")
    assert len(history) == 3
    assert len(notes.told) == 3


def test_all_of_it_can_become_one_summary() -> None:
    history, _ = kept()
    history.append(UserMessage("one"))
    history.append(AssistantMessage("two"))
    history.compact(0, "both")
    assert list(history) == [UserMessage("both")]


def test_what_is_restored_is_not_told_again() -> None:
    history, notes = kept()
    history.restore([UserMessage("one"), AssistantMessage("two")])
    assert history[-1].text == "two"
    assert [one.text for one in history[:1]] == ["one"]
    assert notes.told == []


def test_bytes_of_images_that_no_request_carries_are_let_go() -> None:
    history, _ = kept()
    for number in range(14):
        history.append(UserMessage(f"look {number}", (Image("image/png", bytes([number])),)))
    assert history.let_go_of_images() and not history.let_go_of_images()
    assert [bool(getattr(message, "images", ())) for message in history] == [False] * 5 + [True] * 9
