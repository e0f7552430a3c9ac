"""Keys of the server screen and its tabs."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
