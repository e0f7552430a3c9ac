"""What is known about a server that failed, as lines for a terminal.

Not here: finding it out (core.mcp), the sheet of the app (tui).
"""

from __future__ import annotations

from hel_tui.core.protocol import ServerFailure

MOST_LINES = 10
"""Of stderr and of noise."""


def failure_lines(failure: ServerFailure) -> list[str]:
    """Return a line for each thing that helps: what was run, where, how it ended, its last words."""
    facts = [
        ("ran" if failure.env_names or failure.cwd else "address", failure.command_line),
        ("which is", failure.resolved),
        ("in", failure.cwd),
        ("ended", failure.exit),
        ("variables", ", ".join(failure.env_names)),
    ]
    lines = [f"  {name:<9} {value}" for name, value in facts if value]
    lines += [f"  stderr    {line}" for line in failure.stderr[-MOST_LINES:]]
    return lines + [f"  stdout    {line}" for line in failure.noise[-MOST_LINES:]]
