"""English for the list of what is still to do."""

STRINGS: dict[str, str] = {
    "pane.todos": "to do",
    "todo.done_before": "{n} before these",
    "todo.more": "{n} more",
    "short.app.todos": "fold",
    "action.app.todos": "Fold or unfold what is to do",
}
