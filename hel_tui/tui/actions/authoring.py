"""Keys for people who write servers: checks, renewals, diagnoses."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = ()
