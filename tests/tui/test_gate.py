"""The rules by which a key may allow something, over time alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.tui.dialogs.gate import DEAF, PAUSE, SETTLE, Gate, Hands

FRAME = 1 / 30
DRAW = 0.05


def opened_gate(at: float = 0.0) -> Gate:
    gate = Gate()
    gate.drawn(at)
    return gate


def test_a_gate_hears_nothing_before_it_is_drawn_and_for_its_deaf_time_after():
    gate = Gate()
    assert not gate.hears(5.0)
    gate.drawn(10.0)
    assert not gate.hears(10.0 + DEAF)
    assert opened_gate(10.0).hears(10.0 + DEAF + 0.01)


def test_a_key_in_the_deaf_time_starts_it_anew():
    gate = opened_gate()
    assert not gate.hears(0.39)
    assert not gate.hears(0.39 + DEAF)
    assert gate.hears(0.39 + 2 * DEAF + 0.01)


def test_keys_are_judged_by_when_they_were_pressed_not_by_when_they_are_handled():
    gate = opened_gate(at=100.0)
    assert not any(gate.hears(pressed) for pressed in (95.0, 95.1, 95.2))


def test_an_allowing_key_counts_once_quiet_has_followed():
    gate = opened_gate()
    assert gate.hears(1.0)
    assert gate.decide("once", 1.0)
    assert gate.settled(1.0 + SETTLE / 2) == ""
    assert gate.settled(1.0 + SETTLE) == "once"
    assert gate.settled(9.0) == ""


def test_a_key_that_follows_takes_the_decision_back():
    gate = opened_gate()
    gate.hears(1.0)
    gate.decide("once", 1.0)
    assert not gate.hears(1.1)
    assert gate.settled(9.0) == ""


def test_a_key_seen_later_but_not_handled_yet_prevents_the_decision():
    gate = opened_gate()
    assert gate.hears(1.0)
    gate.hears(1.07)
    assert not gate.decide("once", 1.0)


def test_the_end_of_a_word_is_not_heard():
    gate = opened_gate()
    assert gate.hears(1.0)
    assert not gate.hears(1.07)


def test_fields_hear_fast_typing_but_not_in_the_deaf_time():
    gate = opened_gate()
    assert not gate.hears_field(0.2)
    assert gate.hears_field(1.0) and gate.hears_field(1.02)


def test_scrolling_just_before_is_no_typing():
    gate = opened_gate()
    assert gate.hears(1.0, is_text=False)
    assert gate.hears(1.1)
    assert gate.decide("once", 1.1)


def simulate(keys: list[tuple[float, str]], appears: float) -> bool:
    """Type `keys` while an approval comes at `appears`; say whether it was allowed."""
    hands, gate, opens = Hands(), None, 0.0
    end = max(appears, keys[-1][0]) + 3.0
    queue, now = sorted(keys), 0.0
    while now < end:
        while queue and queue[0][0] <= now:
            pressed, key = queue.pop(0)
            hands.key(pressed)
            if gate is not None and gate.hears(pressed) and key in "yspnN\n":
                gate.decide(key, pressed)
        if gate is None and now >= appears and hands.resting(now):
            gate, opens = Gate(), now
        if gate is not None and gate.deaf_until == float("inf") and now >= opens + DRAW:
            gate.drawn(now)
        if gate is not None and gate.settled(now):
            return True
        now += FRAME
    return False


@settings(max_examples=1000, deadline=None)
@given(
    text=st.sampled_from(["yes always\n", "y\n", "yyyyyyyy", "apply it\n", "no, why\n"]),
    start=st.floats(0, 4),
    rate=st.floats(8, 40),
    appears=st.floats(0, 6),
)
def test_nothing_typed_ever_allows(text, start, rate, appears):
    keys = [(start + i / rate, key) for i, key in enumerate(text)]
    assert not simulate(keys, appears)


def test_a_single_deliberate_key_does_allow():
    assert simulate([(3.0, "y")], appears=0.5)


def test_a_dialog_opens_only_after_a_pause():
    hands = Hands()
    hands.key(5.0)
    assert not hands.resting(5.0 + PAUSE - 0.01)
    assert hands.resting(5.0 + PAUSE)
