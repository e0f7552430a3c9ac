"""`todo_write`: the list of what is still to do in a longer task, seen by the person beside the conversation.

The list is the session's: it survives summaries and a resume. Not here: drawing it (screen).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, get_args

from hel_tui.core.protocol import TodosChanged, TodoState
from hel_tui.core.tools.builtin import Builtin, refused
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Access, Invocation, Json, Outcome, ToolDefinition

MOST_ITEMS = 50
MOST_TEXT = 200
"""Characters of an item; a longer one is cut."""
STATES: tuple[TodoState, ...] = get_args(TodoState)
_KEYS = ("text", "state")
_BOXES = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}

Items = tuple[tuple[str, str], ...]
"""(state, text) each."""


class Todos:
    """The list of one session. Lives in the core's loop."""

    def __init__(self, emit: Callable[[TodosChanged], None]) -> None:
        self._emit = emit
        self.items: Items = ()

    def write(self, items: Items) -> None:
        """Put a new list in the place of this one."""
        self.items = items
        self._emit(TodosChanged(items))

    def go_on(self, items: Items) -> None:
        """The list of a kept session, or none: nothing is told."""
        self.items = items

    def reminders(self) -> Sequence[str]:
        """For a model whose conversation was shortened: the list as it is, unless all of it is done."""
        if all(state == "done" for state, _ in self.items):
            return ()
        lines = [f"{_BOXES[state]} {text}" for state, text in self.items]
        return ("\n".join(["Your list of what is to do (todo_write), as it is now:", *lines]),)


class TodoWrite(Builtin):
    """Keep the list."""

    access: ClassVar[Access] = "read"
    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "todo_write",
        "Keep a list of what is to do, shown to the person, for tasks of three or more steps. Give the whole "
        "list each time: it replaces the one before. Have one item in_progress, and mark each done at once.",
        {
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "state": {"type": "string", "enum": list(STATES)},
                        },
                        "required": ["text", "state"],
                    },
                }
            },
            "required": ["items"],
        },
    )

    def __init__(self, workspace: Workspace, todos: Todos) -> None:
        super().__init__(workspace)
        self._todos = todos

    def summary(self, arguments: Json) -> str:
        """How far the list is."""
        items = read_items(arguments.get("items"))
        return items if isinstance(items, str) else _measure(items)

    async def perform(self, arguments: Json, invocation: Invocation) -> Outcome:  # noqa: ARG002
        """Replace the list."""
        items = read_items(arguments["items"])
        if isinstance(items, str):
            return refused(f"{items} The list stays as it was.")
        self._todos.write(items)
        return Outcome(f"The list is kept: {_measure(items)}." if items else "The list is empty now.")


def read_items(given: object) -> Items | str:
    """The items of a call, or what is wrong with them, as a sentence."""
    if not isinstance(given, list):
        return "`items` is no list."
    if len(given) > MOST_ITEMS:
        return f"`items` has {len(given):,} items; at most {MOST_ITEMS} are kept."
    items: list[tuple[str, str]] = []
    for number, one in enumerate(given, 1):
        item: Json = one if isinstance(one, dict) else {"text": one}
        for name in item:
            if name not in _KEYS:
                return f"Item {number} has the key {str(name)[:40]!r}; there are {', '.join(_KEYS)}."
        text, state = item.get("text"), item.get("state", "pending")
        if not isinstance(text, str) or not text.strip():
            return f"Item {number} has no text."
        if state not in STATES:
            return f"Item {number} has the state {str(state)[:40]!r}; there are {', '.join(STATES)}."
        items.append((state, _cut(" ".join(text.split()))))
    return tuple(items)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"


def _measure(items: Items) -> str:
    count = {state: sum(one == state for one, _ in items) for state in STATES}
    return f"{count['done']} done, {count['in_progress']} in progress, {count['pending']} to do"
