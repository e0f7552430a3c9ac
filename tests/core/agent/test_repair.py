"""Every request's history is one that strict providers accept."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.agent.repair import GO_ON, INTERRUPTED, repaired, without_old_images
from hel_tui.core.vocabulary import AssistantMessage, Image, Message, ToolCall, ToolMessage, UserMessage


def call(number: int) -> ToolCall:
    return ToolCall(f"c{number}", "read_file", "{}")


def test_a_call_without_a_result_gets_one_that_says_it_was_interrupted() -> None:
    asked = AssistantMessage(calls=(call(1), call(2)))
    history = [UserMessage("hi"), asked, ToolMessage("c2", "read_file", "x")]
    assert repaired(history)[2:] == [
        ToolMessage("c1", "read_file", INTERRUPTED, failed=True),
        ToolMessage("c2", "read_file", "x"),
    ]


def test_a_result_without_a_call_is_left_out() -> None:
    assert repaired([UserMessage("hi"), ToolMessage("c9", "read_file", "x")]) == [UserMessage("hi")]


def test_an_assistant_message_with_only_reasoning_is_left_out() -> None:
    assert repaired([UserMessage("hi"), AssistantMessage(reasoning="hm")]) == [UserMessage("hi")]


def test_neighbouring_user_messages_become_one() -> None:
    assert repaired([UserMessage("a"), UserMessage("b")]) == [UserMessage("a\n\nb")]


def test_answers_in_a_row_first_or_last_have_something_that_they_answer_or_that_answers_them() -> None:
    """As a prompt of a server has them, or an answer that broke off and was gone on with."""
    go = UserMessage(GO_ON)
    one, two = AssistantMessage("I analyse."), AssistantMessage("And count.")
    assert repaired([one, two]) == [go, one, go, two, go]
    assert repaired([UserMessage("a"), one, UserMessage("b")]) == [UserMessage("a"), one, UserMessage("b")]
    asked = [UserMessage("a"), AssistantMessage(calls=(call(1),)), ToolMessage("c1", "read_file", "x")]
    assert repaired([*asked, one, two, UserMessage("b")]) == [*asked, one, go, two, UserMessage("b")]


numbers = st.integers(0, 4)
messages = st.lists(
    st.one_of(
        st.builds(UserMessage, st.text(max_size=3)),
        st.builds(
            lambda text, ids: AssistantMessage(text, calls=tuple(call(i) for i in ids)),
            st.text(max_size=3),
            st.lists(numbers, unique=True, max_size=3),
        ),
        st.builds(lambda i: ToolMessage(f"c{i}", "read_file", "r"), numbers),
    ),
    max_size=12,
)


def is_strictly_valid(history: list[Message]) -> bool:
    """What the strictest provider checks: each call answered right behind it, nothing without partner, each
    answer behind something of the person or a tool, and something to answer at the end.
    """
    waiting: list[str] = []
    before: type[Message] = AssistantMessage
    for message in history:
        match message:
            case ToolMessage():
                if not waiting or waiting.pop(0) != message.call_id:
                    return False
            case AssistantMessage():
                if waiting or before is AssistantMessage or not (message.text.strip() or message.calls):
                    return False
                waiting = [one.id for one in message.calls]
            case _:
                if waiting:
                    return False
        before = type(message)
    return not waiting and (not history or before is not AssistantMessage)


@given(messages)
def test_any_history_becomes_valid_and_stays_as_it_is_then(history: list[Message]) -> None:
    once = repaired(history)
    assert is_strictly_valid(once)
    assert repaired(once) == once


@given(messages)
def test_nothing_a_person_wrote_is_lost(history: list[Message]) -> None:
    def words(some: list[Message]) -> str:
        return "".join(m.text for m in some if isinstance(m, UserMessage) and m.text != GO_ON).replace(
            "\n\n", ""
        )

    assert words(repaired(history)) == words(history)


def image(number: int, size: int = 1) -> Image:
    return Image("image/png", bytes([number]) * size, None, 1, 1)


def kept(history: Sequence[Message]) -> list[int]:
    return [one.data[0] for message in without_old_images(history) for one in getattr(message, "images", ())]


def test_only_the_newest_images_stay_in_steps_of_five_and_every_text_does() -> None:
    history: list[Message] = [
        UserMessage("a", (image(1), image(2), image(3))),
        *(ToolMessage(str(n), "shot", f"[image {n}]", images=(image(n),)) for n in range(4, 13)),
        UserMessage("end"),
    ]
    assert kept(history) == list(range(6, 13))
    assert [message.text for message in without_old_images(history)] == [one.text for one in history]
    lengths = [len(kept([UserMessage("", (image(n),)) for n in range(many)])) for many in range(10, 22)]
    assert lengths == [10, 6, 7, 8, 9, 10, 6, 7, 8, 9, 10, 6]


def test_a_history_with_few_images_is_not_touched() -> None:
    history = [UserMessage("", (image(n),)) for n in range(10)]
    assert without_old_images(history) is history


def test_all_images_together_are_bounded_in_bytes() -> None:
    assert kept([UserMessage("", (image(n, 6 * 2**20),)) for n in range(5)]) == [2, 3, 4]


def test_neighbouring_messages_of_the_person_keep_their_images() -> None:
    (merged,) = repaired([UserMessage("a", (image(1),)), UserMessage("b", (image(2),))])
    assert merged == UserMessage("a\n\nb", (image(1), image(2)))
