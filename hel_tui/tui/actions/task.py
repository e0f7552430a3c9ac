"""Keys of a task's conversation; those of its cards are the conversation's."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("task.search", "slash,ctrl+f", "search"),
    Action("task.expand", "ctrl+o", "expand"),
    Action("task.waiting", "f3", "waiting"),
    Action("task.keys", "question_mark,f1", "keys"),
    Action("task.close", "escape,q,ctrl+c", "close"),
)
