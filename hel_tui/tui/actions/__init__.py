"""The one table of what can be done by key, a module for each part of the screen."""

from hel_tui.tui.actions import authoring, calling, log, main, models, rewinding, server, sessions, task, wire
from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    *main.ACTIONS,
    *log.ACTIONS,
    *server.ACTIONS,
    *wire.ACTIONS,
    *calling.ACTIONS,
    *authoring.ACTIONS,
    *rewinding.ACTIONS,
    *models.ACTIONS,
    *sessions.ACTIONS,
    *task.ACTIONS,
)

__all__ = ["ACTIONS", "Action"]
