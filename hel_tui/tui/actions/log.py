"""Keys of a log."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("log.filter", "slash", "filter"),
    Action("log.clear", "escape", "clear_filter"),
    Action("log.pause", "space", "pause"),
    Action("log.end", "G,end", "end"),
    Action("log.start", "g,home", "start"),
    Action("log.down", "j,down", "scroll_lines(1)"),
    Action("log.up", "k,up", "scroll_lines(-1)"),
    Action("log.page_down", "pagedown", "scroll_pages(1)"),
    Action("log.page_up", "pageup", "scroll_pages(-1)"),
    Action("log.large", "f", "large"),
    Action("log.copy", "c", "copy"),
)
