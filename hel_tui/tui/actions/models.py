"""Keys of the sheet of models."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("models.effort", "e", "effort"),
    Action("models.again", "r", "again"),
)
