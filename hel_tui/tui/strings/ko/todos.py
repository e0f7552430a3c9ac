"""Korean for the list of what is still to do."""

STRINGS: dict[str, str] = {
    "pane.todos": "할 일",
    "todo.done_before": "앞에 {n}개",
    "todo.more": "{n}개 더",
    "short.app.todos": "접기",
    "action.app.todos": "할 일 접기/펼치기",
}
