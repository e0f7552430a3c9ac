"""A project, the tools that change it, and the checkpoints between: what tests of going back work at."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from hel_tui.core.tools.bash import Bash
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.checkpoints.restoring import Done, Step, plan, restore
from hel_tui.core.tools.edit import SearchReplace, WriteFile
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.vocabulary import Invocation, Outcome


class Desk:
    """A project, the tools that change it, and the session's folder."""

    def __init__(self, base: Path) -> None:
        self.project = base / "project"
        self.session = base / "state" / "session"
        self.project.mkdir()
        self.told: list[str] = []
        self.open()

    def open(self) -> None:
        """As a new process does: nothing is in memory."""
        workspace = Workspace(self.project, closed=(self.session.parent,))
        hides: Callable[[str], bool] = lambda text: "hunter2-hunter2" in text  # noqa: E731
        self.checkpoints = Checkpoints(workspace, self.session, hides=hides, tell=self.told.append)
        self.tools = {
            "write": WriteFile(workspace, self.checkpoints),
            "swap": SearchReplace(workspace, self.checkpoints),
            "bash": Bash(workspace, dict(os.environ), checkpoints=self.checkpoints, confined=False),
        }

    async def call(self, tool: str, turn: int, **arguments: object) -> Outcome:
        self.checkpoints.turn = turn
        return await self.tools[tool].run(arguments, Invocation("1"))

    async def bash(self, turn: int, command: str) -> None:
        outcome = await self.call("bash", turn, command=command)
        assert not outcome.failed, outcome.text

    def steps(self, turn: int) -> dict[str, Step]:
        return {step.path: step for step in plan(self.checkpoints, turn)}

    def undo(self, turn: int, *, overwrite: bool = False) -> Done:
        return restore(self.checkpoints, turn, plan(self.checkpoints, turn), overwrite)

    def picture(self) -> dict[str, tuple[str, object]]:
        """All there is: kind, and content or target; with permissions."""
        found: dict[str, tuple[str, object]] = {}
        for folder, folders, files in os.walk(self.project):
            for name in folders + files:
                path = Path(folder, name)
                mode = f"{stat.S_IMODE(path.lstat().st_mode):03o}"
                shown = str(path.relative_to(self.project))
                if path.is_symlink():
                    found[shown] = ("link", os.readlink(path))
                elif path.is_dir():
                    found[shown] = (f"folder {mode}", None)
                else:
                    found[shown] = (f"file {mode}", path.read_bytes())
        return found
