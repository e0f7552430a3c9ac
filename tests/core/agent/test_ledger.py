"""Cards of calls are kept as long as somebody may ask for them, and not without bound."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hel_tui.core.agent import ledger as module
from hel_tui.core.agent.ledger import GONE, Ledger
from hel_tui.core.protocol import Event
from hel_tui.core.vocabulary import Outcome, ToolCall


class NoRecord:
    """Writes nothing."""

    def write(self, kind: str, **facts: Any) -> None:
        """Nothing."""


@pytest.fixture
def ledger() -> Ledger:
    events: list[Event] = []
    return Ledger(events.append, NoRecord())


def ended(ledger: Ledger, call_id: str, text: str) -> str:
    card = ledger.open(1, ToolCall(call_id, "tool", "{}"), None)
    ledger.finish(card, Outcome(text))
    return card.id


def result(ledger: Ledger, call_id: str) -> str:
    detail = ledger.detail(call_id)
    assert detail is not None
    return detail.result


def test_the_oldest_results_go_when_there_are_too_many(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_KEPT", 100)
    for number in range(5):
        ended(ledger, f"c{number}", "x" * 40)
    kept = [result(ledger, f"c{number}") for number in range(5)]
    assert kept == [GONE, GONE, GONE, "x" * 40, "x" * 40]
    ended(ledger, "large", "y" * 500)
    assert result(ledger, "large") == "y" * 500
    assert result(ledger, "c4") == GONE


def test_large_arguments_of_old_calls_go_with_their_results(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that the model wrote, for one. The beginning stays, to know the call by."""
    monkeypatch.setattr(module, "MAX_KEPT", 100_000)
    for number in range(3):
        arguments = json.dumps({"path": "a.txt", "content": "x" * 60_000})
        ledger.finish(ledger.open(1, ToolCall(f"c{number}", "write_file", arguments), None), Outcome("ok"))
    sizes = []
    for number in range(3):
        detail = ledger.detail(f"c{number}")
        assert detail is not None and "a.txt" in detail.arguments
        sizes.append(len(detail.arguments))
    assert sizes[0] == sizes[1] < 3_000
    assert sizes[2] > 60_000


def test_an_id_that_comes_again_gets_a_name_of_its_own(ledger: Ledger) -> None:
    assert [ended(ledger, "call_0", "x") for _ in range(3)] == ["call_0", "call_0~2", "call_0~3"]


def test_a_new_session_begins_without_the_cards_of_the_last(ledger: Ledger) -> None:
    ended(ledger, "call_0", "x")
    ledger.clear()
    assert ledger.detail("call_0") is None
    assert ended(ledger, "call_0", "y") == "call_0"
    assert result(ledger, "call_0") == "y"


def test_calls_by_hand_are_those_that_ran_to_an_end(ledger: Ledger) -> None:
    for name, runs, state in (
        ("made", True, "ok"),
        ("failed", True, "failed"),
        ("never made", False, "failed"),
        ("stopped", True, "cancelled"),
        ("still running", True, None),
    ):
        card = ledger.open(1, ToolCall(name, "tool", "{}"), None, by_hand=True)
        if runs:
            ledger.state(card, "running")
        if state is not None:
            card.state = state
            ledger.finish(card, Outcome("x"))
    assert [detail.call_id for detail in ledger.by_hand("")] == ["made", "failed"]
    ended(ledger, "of the model", "x")
    assert len(ledger.by_hand("")) == 2
