"""Questions are answered by id, once, and quitting answers them all with "not answered"."""

import asyncio

from hel_tui.core.protocol import Asked, ContinueAnswer, ContinueQuestion, Event, NotAnswered, QuestionClosed
from hel_tui.core.questions import Desk, question_id


def desk() -> tuple[Desk, list[Event]]:
    events: list[Event] = []
    return Desk(events.append), events


async def test_an_answer_reaches_the_one_who_asked_and_the_dialog_is_taken_down() -> None:
    table, events = desk()
    question = ContinueQuestion(question_id(), 50)
    asking = asyncio.create_task(table.ask(question))
    await asyncio.sleep(0)
    table.reply(question.id, ContinueAnswer(True))
    table.reply(question.id, ContinueAnswer(False))
    assert await asking == ContinueAnswer(True)
    assert events == [Asked(question), QuestionClosed(question.id)]


async def test_closing_answers_what_is_open_and_what_comes_later() -> None:
    table, events = desk()
    asking = asyncio.create_task(table.ask(ContinueQuestion("a", 1)))
    await asyncio.sleep(0)
    table.close("bye")
    assert await asking == NotAnswered("bye")
    assert await table.ask(ContinueQuestion("b", 1)) == NotAnswered("bye")
    assert not any(isinstance(event, Asked) and event.question.id == "b" for event in events)


async def test_a_cancelled_asker_takes_the_question_back() -> None:
    table, events = desk()
    asking = asyncio.create_task(table.ask(ContinueQuestion("a", 1)))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert events[-1] == QuestionClosed("a")
    table.reply("a", ContinueAnswer(True))
