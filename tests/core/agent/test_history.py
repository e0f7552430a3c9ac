"""Every request's history is one that strict providers accept."""

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.agent.history import INTERRUPTED, repaired
from hel_tui.core.vocabulary import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage


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
    """What the strictest provider checks: each call answered right behind it, nothing without partner."""
    waiting: list[str] = []
    for message in history:
        match message:
            case ToolMessage():
                if not waiting or waiting.pop(0) != message.call_id:
                    return False
            case AssistantMessage():
                if waiting or not (message.text.strip() or message.calls):
                    return False
                waiting = [one.id for one in message.calls]
            case _:
                if waiting:
                    return False
    return not waiting


@given(messages)
def test_any_history_becomes_valid_and_stays_as_it_is_then(history: list[Message]) -> None:
    once = repaired(history)
    assert is_strictly_valid(once)
    assert repaired(once) == once


@given(messages)
def test_nothing_a_person_wrote_is_lost(history: list[Message]) -> None:
    def words(some: list[Message]) -> str:
        return "".join(m.text for m in some if isinstance(m, UserMessage)).replace("\n\n", "")

    assert words(repaired(history)) == words(history)
