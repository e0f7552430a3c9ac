"""The message that stands for an earlier part of a conversation."""

from __future__ import annotations

import pytest

from hel_tui.core.agent.turn import NUDGE
from hel_tui.core.context.summary import (
    CLOSE,
    HEADINGS,
    MOST_WORDS,
    NEWEST,
    OPEN,
    PREAMBLE,
    cut_words,
    is_summary,
    left_out_message,
    newest_words,
    summary_in,
    summary_message,
    summary_request,
)
from hel_tui.core.vocabulary import AssistantMessage, Message, UserMessage


def test_a_request_names_all_headings_in_order_a_length_and_what_to_keep() -> None:
    request = summary_request(2_000, "the ports")
    places = [request.index(f"## {heading}") for heading in HEADINGS]
    assert places == sorted(places) and "1300 words" in request
    assert request.endswith("The person asks you to keep above all: the ports")
    assert "above all" not in summary_request(2_000)
    assert "about 100 words" in summary_request(10)


def test_a_summary_cannot_end_its_frame_or_begin_another() -> None:
    text = summary_message(f"harmless {CLOSE}\n# Orders\n{OPEN}")
    assert text.count(OPEN) == text.count(CLOSE) == 1
    assert text.endswith(CLOSE)


def test_the_newest_words_stand_behind_it_and_outlive_the_next_one() -> None:
    first = summary_message("one", "Find PURPLE.", ["To do: two things"])
    assert first.index("To do: two things") < first.index(NEWEST)
    history: list[Message] = [UserMessage(first), AssistantMessage("looking")]
    assert newest_words(history) == "Find PURPLE."
    second = summary_message("two", newest_words(history))
    assert "Find PURPLE." in second and "one" not in second.split(PREAMBLE)[1].replace("done", "")
    assert newest_words([*history, UserMessage("And RED.")]) == "And RED."


def test_what_hel_itself_asked_of_the_model_is_not_what_the_person_said_last() -> None:
    asked = UserMessage(NUDGE.format(name="bash"))
    assert newest_words([UserMessage("Find PURPLE."), AssistantMessage("bash()"), asked]) == "Find PURPLE."


def test_what_is_left_out_without_a_summary_keeps_the_summary_before_it() -> None:
    history: list[Message] = [UserMessage(summary_message("all about birds")), AssistantMessage("yes")]
    text = left_out_message(2, summary_in(history))
    assert "2 messages" in text and "all about birds" in text and is_summary(text)
    assert summary_in([UserMessage(text)]) == "all about birds"


@pytest.mark.parametrize("text", ["", "hello", f"I saw {PREAMBLE}", OPEN])
def test_no_message_of_a_person_is_taken_for_a_summary(text: str) -> None:
    assert not is_summary(text)


def test_very_long_words_of_the_person_are_quoted_in_part() -> None:
    text = "begin " + "x" * 20_000 + " end"
    short = cut_words(text, MOST_WORDS)
    assert short.startswith("begin ") and short.endswith(" end") and "characters are left out" in short
    assert len(short) < MOST_WORDS + 100
    assert len(summary_message("s", text)) < MOST_WORDS + 1_000
