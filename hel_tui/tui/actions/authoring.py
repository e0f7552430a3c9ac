"""Keys for people who write servers: the saved checks, what came of a save."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("checks.all", "R", "all"),
    Action("checks.this", "r", "this"),
    Action("checks.server", "s", "server"),
    Action("checks.copy", "c", "copy"),
    Action("checks.other", "tab,f6", "other"),
    Action("checks.waiting", "f3", "waiting"),
    Action("checks.keys", "question_mark,f1", "keys"),
    Action("checks.close", "escape,q", "close"),
    Action("renewal.look", "v", "look"),
    Action("renewal.older", "left_square_bracket", "step(-1)"),
    Action("renewal.newer", "right_square_bracket", "step(1)"),
    Action("renewal.copy", "c", "copy"),
    Action("renewal.log", "l", "log"),
    Action("renewal.other", "tab,f6", "other"),
    Action("renewal.keys", "question_mark,f1", "keys"),
    Action("renewal.close", "escape,q", "close"),
)
