"""An answer that comes faster than it can be drawn: no frame takes in much, and nothing is lost."""

from __future__ import annotations

from hel_tui.tui.state import AnswerItem
from hel_tui.tui.text.markdown import render_markdown
from hel_tui.tui.text.transcript import LAST_FRAMES, PACE, Transcript
from tests.bench.markdown_text import answer


def shown(transcript: Transcript) -> str:
    return "\n".join(line.text for line in transcript.lines(0))


def streaming(text: str) -> tuple[Transcript, AnswerItem]:
    """A transcript of one answer whose first words are shown, and then `text` arrives at once."""
    item = AnswerItem("a", text="Begin.\n\n")
    transcript = Transcript(lambda _: None)
    transcript.sync([item], {"a"})
    transcript.lay_out(0)
    item.text += text
    transcript.sync([item], {"a"})
    return transcript, item


def test_a_frame_takes_in_no_more_than_its_share_of_a_flood():
    transcript, item = streaming("word " * 4_000)
    assert len(shown(transcript)) < 2 * PACE
    frames = 0
    while transcript.behind:
        before = len(shown(transcript))
        assert transcript.catch_up() == [0]
        assert len(shown(transcript)) - before <= 1.1 * PACE
        frames += 1
    assert frames >= len(item.text) // PACE - 1
    assert shown(transcript).split() == item.text.split()


def test_the_rows_in_the_end_are_those_of_the_whole_text():
    transcript, item = streaming(answer(4_000))
    shown(transcript)
    item.done = True
    transcript.sync([item], {"a"})
    while transcript.lines(0) and transcript.behind:
        transcript.catch_up()
    assert [line.text for line in transcript.lines(0)] == [
        line.text for line in render_markdown(item.text, transcript.width)
    ]


def test_the_rest_of_a_long_answer_follows_soon_after_its_end():
    transcript, item = streaming("word " * 30_000)
    item.done = True
    frames = 0
    while transcript.lines(0) and transcript.behind:
        transcript.catch_up()
        frames += 1
    assert frames < 8 * LAST_FRAMES


def test_an_answer_that_had_ended_before_it_was_seen_is_shown_whole():
    transcript = Transcript(lambda _: None)
    transcript.sync([AnswerItem("a", text="word " * 4_000, done=True)], {"a"})
    assert len(shown(transcript).split()) == 4_000
    assert not transcript.behind


def test_a_new_conversation_is_not_behind():
    transcript, _ = streaming("word " * 4_000)
    shown(transcript)
    assert transcript.behind
    transcript.clear()
    assert not transcript.behind
