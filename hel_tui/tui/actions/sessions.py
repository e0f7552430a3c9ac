"""Keys of the sheet of sessions."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("sessions.fork", "f", "wish('fork')"),
    Action("sessions.turns", "t", "wish('turns')"),
    Action("sessions.look", "v,space", "wish('look')"),
    Action("sessions.rename", "r", "wish('rename')"),
    Action("sessions.delete", "d", "wish('delete')"),
    Action("sessions.export", "x", "wish('export')"),
    Action("sessions.export_json", "X", "wish('export_json')"),
    Action("sessions.command", "y", "wish('command')"),
    Action("sessions.all", "a", "wish('all')"),
)
