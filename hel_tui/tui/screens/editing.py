"""What is written in the person's own editor: a message, the file of a server's entry.

Not here: keys (main), applying what changed (core).
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from hel_tui.tui.strings import t

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.main import MainScreen


class Editing:
    """Bound to the app and its main screen. The app stands still until the editor ends."""

    def __init__(self, hel: HelApp, screen: MainScreen) -> None:
        self.hel, self.screen = hel, screen

    def prompt(self) -> None:
        """Write the prompt in $VISUAL or $EDITOR."""
        with tempfile.TemporaryDirectory(prefix="hel-") as folder:
            file = Path(folder) / "message.md"
            file.write_text(self.screen.prompt.text, "utf-8")
            if self.file(str(file)):
                self.screen.prompt.write(file.read_text("utf-8", errors="replace").rstrip("\n"))

    def entry(self, server: str) -> None:
        """Open the file of a server's entry in the person's editor; what changed is then applied by key."""
        entry = self.hel.core.entry(server)
        if entry is None or not Path(entry.file).is_file():
            self.hel.say(t("config.no_file"), "warning")
        else:
            self.file(entry.file)

    def file(self, path: str) -> bool:
        """Open a file in $VISUAL or $EDITOR and wait for its end; say whether that worked."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            with self.hel.suspend():
                subprocess.run(
                    [*shlex.split(editor), path],
                    check=True,
                    stdin=sys.__stdin__,
                    stdout=sys.__stdout__,
                    stderr=sys.__stderr__,
                )
        except (OSError, ValueError, subprocess.SubprocessError, SuspendNotSupported) as error:
            self.hel.say(t("editor.failed", editor=editor, why=error), "warning")
            return False
        return True
