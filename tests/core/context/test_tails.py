"""What of a conversation stays as it is, and what may be shortened."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.context.meter import cost_of
from hel_tui.core.context.tails import fitted, fitting_start, long_results, newest_step, tail_start
from hel_tui.core.vocabulary import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage


def words(tokens: int) -> str:
    return "abcd" * tokens


def step(*results: int) -> list[Message]:
    """An answer with calls and a result of so many tokens for each."""
    calls = tuple(ToolCall(f"c{n}", "", "") for n in range(len(results)))
    return [
        AssistantMessage(words(10), calls=calls),
        *(ToolMessage(f"c{n}", "look", words(size)) for n, size in enumerate(results)),
    ]


def start(history: Sequence[Message], budget: int, most: int = 10_000) -> int:
    return tail_start(history, [cost_of(one) for one in history], budget, most)


HISTORY: list[Message] = [
    UserMessage(words(50)),
    *step(100, 100),
    *step(100),
    AssistantMessage(words(50)),
    UserMessage(words(20)),
]


def test_the_newest_messages_within_the_budget_stay() -> None:
    assert start(HISTORY, 1_000) == 0
    assert start(HISTORY, 75) == 6
    assert start(HISTORY, 25) == 7


def test_the_tail_never_begins_with_a_result() -> None:
    assert start(HISTORY, 180) == 4, "the answer and its result fit"
    assert start(HISTORY, 170) == 6, "the result alone would"


def test_the_newest_step_stays_whole_where_there_is_room() -> None:
    history = [UserMessage(words(10)), *step(50), *step(300, 300)]
    assert start(history, 100, most=700) == 3
    assert start(history, 100, most=500) == len(history)
    assert newest_step(history) == 3


sizes = st.integers(0, 40)
histories = st.lists(
    st.one_of(
        st.builds(lambda size: [UserMessage(words(size))], sizes),
        st.builds(lambda size: [AssistantMessage(words(size + 1))], sizes),
        st.builds(lambda some: step(*some), st.lists(sizes, min_size=1, max_size=3)),
    ),
    max_size=8,
).map(lambda pieces: [message for piece in pieces for message in piece])


@given(histories, st.integers(0, 200), st.integers(0, 200))
def test_no_cut_parts_an_answer_from_its_results(history: list[Message], budget: int, most: int) -> None:
    costs = [cost_of(one) for one in history]
    for at in (tail_start(history, costs, budget, most), fitting_start(history, costs, budget)):
        assert at == len(history) or not isinstance(history[at], ToolMessage)


@given(histories, st.integers(0, 200))
def test_what_is_left_out_last_is_the_newest_step(history: list[Message], room: int) -> None:
    at = fitting_start(history, [cost_of(one) for one in history], room)
    assert at <= newest_step(history)


def test_a_copy_that_has_to_fit_has_shorter_results_before_it_has_fewer_messages() -> None:
    history = [UserMessage(words(10)), *step(2_000), *step(2_000), UserMessage("and?")]
    assert fitted(history, 5_000) == history
    shorter = fitted(history, 2_600)
    assert len(shorter) == len(history) and "left out here" in shorter[2].text + shorter[4].text
    fewer = fitted(history, 500)
    assert fewer[0].text.startswith("[3 earlier messages") and fewer[-1] == history[-1]


def test_the_longest_results_come_first_and_the_newest_may_be_spared() -> None:
    history = [*step(100, 300), *step(200)]
    assert long_results(history, 0, 5, 500) == [2, 4]
    assert long_results(history, 0, 4, 100) == [2, 1]
    assert long_results(history, 3, 5, 100) == [4]
