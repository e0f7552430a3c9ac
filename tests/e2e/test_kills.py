"""Sessions that are killed at random moments lose nothing that was shown or said, and repeat nothing.

A few kills only; the campaign of hundreds is `python -m tests.bench.kills`.
"""

from __future__ import annotations

from tests.bench.kills import campaign


def test_a_killed_session_goes_on_as_it_was_shown() -> None:
    report = campaign(12, seed=3)
    assert report.problems == []
    assert report.kills == 12
    assert report.pieces > 20
    assert report.interrupted
    assert report.said > 12, "more is said than the words of each run"
    assert report.held


def test_what_was_shown_while_the_disk_was_full_is_saved_when_there_is_room() -> None:
    report = campaign(3, seed=3, full=True)
    assert report.problems == []
    assert report.outages
