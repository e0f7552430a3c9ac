"""Where a person changes what a dialog would send, in the place of its text.

Not here: what the text means, and when it is sent (the dialogs).
"""

from __future__ import annotations

from textual.widgets import TextArea


class TextEditor(TextArea):
    """Hidden until it is wanted."""

    DEFAULT_CSS = """
    TextEditor { height: 1fr; min-height: 4; border: none; display: none; background: $panel; }
    TextEditor:focus { border: none; }
    """
