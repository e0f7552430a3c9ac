"""Keys for going back: the sheet of turns, and the question before files are overwritten."""

from hel_tui.tui.actions.action import Action

ACTIONS: tuple[Action, ...] = (
    Action("rewind.files", "f", "files"),
    Action("rewind.conversation", "c", "conversation"),
    Action("restore.overwrite", "y", "overwrite"),
    Action("restore.keep", "k", "keep"),
    Action("restore.cancel", "n,escape", "cancel"),
)
