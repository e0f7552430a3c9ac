"""Keys of the server screen and its tabs."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("server.overview", "1", "tab('overview')"),
    Action("server.tools", "t,2", "tab('tools')"),
    Action("server.resources", "3", "tab('resources')"),
    Action("server.prompts", "4", "tab('prompts')"),
    Action("server.log", "l,5", "tab('log')"),
    Action("server.wire", "w,6", "tab('wire')"),
    Action("server.process", "7", "tab('process')"),
    Action("server.config", "8", "tab('config')"),
    Action("server.health", "h,9", "tab('health')"),
    Action("server.next_tab", "right_square_bracket", "step(1)"),
    Action("server.previous_tab", "left_square_bracket", "step(-1)"),
    Action("server.next_pane", "tab,f6", "next_pane"),
    Action("server.next", "alt+down,greater_than_sign", "server(1)"),
    Action("server.previous", "alt+up,less_than_sign", "server(-1)"),
    Action("server.restart", "r", "restart"),
    Action("server.switch", "d", "switch"),
    Action("server.call", "n", "call"),
    Action("server.login", "a", "login"),
    Action("server.trust", "T", "trust"),
    Action("server.edit", "E", "edit"),
    Action("server.diagnose", "H", "diagnose"),
    Action("server.apply", "f8", "apply"),
    Action("server.waiting", "f3", "waiting"),
    Action("server.palette", "ctrl+p", "palette"),
    Action("server.keys", "question_mark,f1", "keys"),
    Action("server.redraw", "ctrl+l", "redraw"),
    Action("server.quit", "ctrl+q", "quit"),
    Action("server.close", "escape,q,f2,ctrl+c", "close"),
)
