"""Keys of the wire of a server, and of a body that folds."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
