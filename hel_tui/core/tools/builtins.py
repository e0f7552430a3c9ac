"""The built-in tools by name, made for one session.

Not here: which of them a session offers (settings), the loader of server tools (mcp).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hel_tui.core.tools.bash import Bash
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.edit import SearchReplace, WriteFile
from hel_tui.core.tools.glob import Glob
from hel_tui.core.tools.grep import Grep
from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.read import ReadFile
from hel_tui.core.tools.todo import Todos, TodoWrite
from hel_tui.core.vocabulary import Tool

BUILTIN_NAMES = ("read_file", "write_file", "search_replace", "glob", "grep", "bash", "todo_write", "task")


def builtin_tools(
    workspace: Workspace,
    *,
    names: tuple[str, ...] | None,
    environ: Mapping[str, str],
    network: bool = True,
    checkpoints: Checkpoints | None = None,
    todos: Todos | None = None,
    task: Tool | None = None,
) -> dict[str, Tool]:
    """Return the tools called `names` (all for None, each once), in the order of BUILTIN_NAMES.

    `environ` is the person's environment, `network` whether sandboxed commands may use it;
    `checkpoints` keep what files were, `todos` what is to do; without a `task` there is no such tool. Raises
    ValueError, naming the known ones, for a name that is none.
    """
    makers: dict[str, Callable[[], Tool]] = {
        "read_file": lambda: ReadFile(workspace),
        "write_file": lambda: WriteFile(workspace, checkpoints),
        "search_replace": lambda: SearchReplace(workspace, checkpoints),
        "glob": lambda: Glob(workspace),
        "grep": lambda: Grep(workspace, environ),
        "bash": lambda: Bash(workspace, environ, network=network, checkpoints=checkpoints),
        "todo_write": lambda: TodoWrite(workspace, todos or Todos(lambda _event: None)),
    }
    if task is not None:
        makers["task"] = lambda: task
    for name in names or ():
        if name not in BUILTIN_NAMES:
            raise ValueError(f"there is no built-in tool {name}; there are {', '.join(BUILTIN_NAMES)}")
    return {name: make() for name, make in makers.items() if names is None or name in names}
