"""Keys of a log, and of a log with a line of its own to type in."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("log.filter", "slash", "filter"),
    Action("log.clear", "escape", "clear_filter"),
    Action("log.level", "L", "level"),
    Action("log.regex", "R", "regex"),
    Action("log.pause", "space", "pause"),
    Action("log.end", "G,end", "end"),
    Action("log.start", "g,home", "start"),
    Action("log.down", "j,down", "scroll_lines(1)"),
    Action("log.up", "k,up", "scroll_lines(-1)"),
    Action("log.page_down", "pagedown", "scroll_pages(1)"),
    Action("log.page_up", "pageup", "scroll_pages(-1)"),
    Action("log.next_match", "n", "match(1)"),
    Action("log.previous_match", "N", "match(-1)"),
    Action("log.wrap", "W", "wrap"),
    Action("log.select", "v", "select"),
    Action("log.large", "f", "large"),
    Action("log.copy", "c", "copy"),
    Action("logs.search", "s", "search"),
    Action("logs.go", "colon", "go"),
    Action("logs.save", "x", "save"),
    Action("logs.forget", "D", "forget"),
    Action("logs.card", "o", "card"),
    Action("logs.frames", "w", "frames"),
)
