"""Keys of a call by hand: its form, its result, a comparison."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
