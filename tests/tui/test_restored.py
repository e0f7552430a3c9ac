"""A kept session on the screen: its turns are there again, and none of it is news."""

from __future__ import annotations

from hel_tui.core import protocol as p
from hel_tui.tui.reducing import reduce
from hel_tui.tui.state import ViewState

TURN: tuple[p.Event, ...] = (
    p.TurnStarted(1, "hello"),
    p.TextDelta(1, "answer-1", "hi"),
    p.TextDone(1, "answer-1"),
    p.Notice("warning", "careful"),
    p.Notice("info", "by the way"),
    p.TurnEnded(1, "done"),
)


def test_turns_that_are_told_again_are_there_without_toasts() -> None:
    state = ViewState()
    first = reduce(state, [p.Cleared("s1", restoring=True), *TURN])
    rest = reduce(state, [p.SessionRestored("s1", "hello", 1, 1), p.Notice("warning", "now")])
    assert [item.key for item in state.items] == ["user-1", "answer-1", "note-1", "note-2", "note-3"]
    assert (first.toasts, first.news) == ([], [])
    assert [notice.text for notice in rest.toasts] == ["now"]
    assert state.session_id == "s1"
    assert not state.busy


def test_a_new_session_has_news_at_once() -> None:
    state = ViewState()
    changes = reduce(state, [p.Cleared("s2"), p.Notice("warning", "careful")])
    assert [notice.text for notice in changes.toasts] == ["careful"]
