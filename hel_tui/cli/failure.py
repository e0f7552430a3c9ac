"""What is known about a server that failed, and how its tools changed, as lines for a terminal.

Not here: finding it out (core.mcp), the sheet of the app (tui).
"""

from __future__ import annotations

from hel_tui.core.protocol import ListChanged, ListChangeDetail, ServerFailure

MOST_LINES = 10
"""Of stderr and of noise."""
MOST_NAMES = 5


def list_change(event: ListChanged, detail: ListChangeDetail | None) -> str:
    """How the tools of a server changed, in one sentence."""
    tools = detail.tools if detail is not None else ()
    parts = []
    for word, count in (("added", event.added), ("removed", event.removed), ("changed", event.changed)):
        names = [one.tool for one in tools if one.kind == word]
        if count:
            more = " …" if count > MOST_NAMES else ""
            parts.append(f"{word}: {', '.join(names[:MOST_NAMES]) or count}{more}")
    if loaded := [one.tool for one in tools if one.loaded]:
        parts.append(f"of these loaded: {', '.join(loaded[:MOST_NAMES])}")
    return f"Its tools changed. {'; '.join(parts)}."


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
