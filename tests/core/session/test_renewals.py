"""What came of saves, as it is kept and said."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.session.renewals import KEPT, Renewals, sentence


def renewal(number: int, text: str = "", **more: int) -> p.Renewal:
    again = p.Rerun("t", "{}", text, text, same=True, failed=False)
    return p.Renewal(number, "s", 0.0, (), "renewed", reruns=(again,) if text else (), **more)


def test_only_the_newest_are_kept() -> None:
    renewals = Renewals()
    for number in range(1, KEPT + 3):
        renewals.keep(renewal(number))
    assert renewals.get(2) is None
    assert renewals.get(3) is not None


def test_large_results_push_the_oldest_out_but_never_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hel_tui.core.session.renewals.MAX_KEPT", 1_000)
    renewals = Renewals()
    renewals.keep(renewal(1))
    renewals.keep(renewal(2, "x" * 300))
    renewals.keep(renewal(3, "x" * 300))
    assert [number for number in (1, 2, 3) if renewals.get(number)] == [3]
    renewals.keep(renewal(4, "x" * 5_000))
    assert [number for number in (3, 4) if renewals.get(number)] == [4]


def test_what_is_known_of_a_renewal_by_now_takes_the_place_of_what_was() -> None:
    renewals = Renewals()
    renewals.keep(renewal(1, running=True))
    renewals.keep(done := renewal(1, "x"))
    assert renewals.get(1) is done


@pytest.mark.parametrize(
    ("one", "left", "told"),
    [
        (renewal(1), 0, "the new one answers"),
        (renewal(1, asking=2), 0, "the new one answers; 2 not called again, it asks you meanwhile"),
        (renewal(1, running=True), 3, "the new one answers; 3 are being called again"),
        (renewal(1, "x"), 0, "the new one answers; 1 called again, 0 with another result"),
        (
            renewal(1, "x"),
            2,
            "the new one answers; 1 called again, 0 with another result; 2 not called again, the next save came first",
        ),
        (
            p.Renewal(1, "s", 0.0, (), "renewed", reruns=(p.Rerun("t", "{}", "a", "b", same=False, failed=True),)),
            0,
            "1 failed; the new one answers; 1 called again, 1 with another result",
        ),
    ],
)  # fmt: skip
def test_a_renewal_is_said_in_a_sentence(one: p.Renewal, left: int, told: str) -> None:
    assert sentence(one, still_up=True, left=left) == told
