"""todo_write: the list of what is to do is replaced whole, bounded, and said again after a summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from hel_tui.core.protocol import TodosChanged
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.todo import MOST_ITEMS, MOST_TEXT, Todos, TodoWrite
from hel_tui.core.vocabulary import Invocation, Outcome


@pytest.fixture
def told() -> list[TodosChanged]:
    return []


@pytest.fixture
def todos(told: list[TodosChanged]) -> Todos:
    return Todos(told.append)


@pytest.fixture
def tool(tmp_path: Path, todos: Todos) -> TodoWrite:
    return TodoWrite(Workspace(tmp_path), todos)


async def write(tool: TodoWrite, items: object) -> Outcome:
    return await tool.run({"items": items}, Invocation("1"))


async def test_the_list_is_kept_told_and_replaced(
    tool: TodoWrite, todos: Todos, told: list[TodosChanged]
) -> None:
    outcome = await write(
        tool,
        [
            {"text": "read  the\ncode", "state": "done"},
            {"text": "write it", "state": "in_progress"},
            {"text": "test it", "state": "pending"},
        ],
    )
    assert outcome == Outcome("The list is kept: 1 done, 1 in progress, 1 to do.")
    assert told == [
        TodosChanged((("done", "read the code"), ("in_progress", "write it"), ("pending", "test it")))
    ]
    await write(tool, [{"text": "other", "state": "pending"}])
    assert todos.items == (("pending", "other"),)
    assert (await write(tool, [])).text == "The list is empty now."
    assert todos.items == ()


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ("no list", "expected an array"),
        ([{"text": " ", "state": "done"}], "Item 1 has no text"),
        ([{"text": "a", "state": "done"}, {"state": "done"}], "Item 2 has no text"),
        ([{"text": "a", "state": "doing"}], "'doing'; there are pending, in_progress, done"),
        ([{"text": "a", "state": ["done"]}], "there are pending"),
        ([{"text": "a", "status": "done"}], "Item 1 has the key 'status'; there are text, state"),
        ([7], "Item 1 has no text"),
        ([{"text": "a", "state": "done"}] * (MOST_ITEMS + 1), "at most 50"),
    ],
)
async def test_what_cannot_be_a_list_is_said_and_the_old_one_stays(
    tool: TodoWrite, todos: Todos, items: object, problem: str
) -> None:
    await write(tool, [{"text": "old", "state": "pending"}])
    outcome = await write(tool, items)
    assert outcome.failed and problem in outcome.text
    assert todos.items == (("pending", "old"),)


async def test_long_texts_are_cut_and_plain_ones_are_to_do(tool: TodoWrite, todos: Todos) -> None:
    await write(tool, ["x" * 500, {"text": "y"}])
    assert [(state, len(text)) for state, text in todos.items] == [("pending", MOST_TEXT), ("pending", 1)]


async def test_the_reminder_says_the_list_until_all_is_done(tool: TodoWrite, todos: Todos) -> None:
    assert todos.reminders() == ()
    await write(tool, [{"text": "a", "state": "done"}, {"text": "b", "state": "in_progress"}])
    assert todos.reminders()[0].splitlines()[1:] == ["[x] a", "[>] b"]
    await write(tool, [{"text": "a", "state": "done"}])
    assert todos.reminders() == ()


def test_it_runs_at_every_level_unasked(tool: TodoWrite) -> None:
    assert tool.access == "read"
    assert tool.summary({"items": ["a"]}) == "0 done, 0 in progress, 1 to do"
    assert tool.summary({"items": 1}) == "`items` is no list."
