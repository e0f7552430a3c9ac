"""What the tabs of the server screen show in tests: one healthy server, laid open."""

from __future__ import annotations

from hel_tui.core import protocol as p
from tests.tui import scenes
from tests.tui.fake_core import FakeCore

NOON = 1_700_000_000.0

INSIDE = p.ServerInside(
    "inventory",
    era="handshake",
    server_name="inventory-server",
    server_version="1.2.0",
    instructions="Ask for a service by its short name.",
    capabilities=(
        p.Capability("tools", "server", True),
        p.Capability("tools.listChanged", "server", True),
        p.Capability("resources", "server", False),
        p.Capability("roots", "hel", True),
        p.Capability("sampling", "hel", False, "declared from the next start on"),
    ),
    switches=(("roots", True), ("elicitation", True), ("sampling", False)),
    methods=(
        p.MethodFigures("tools/call", "out", 1_204, 3, 0.011, 0.250, (0.01, 0.02, 0.25, 0.01)),
        p.MethodFigures("roots/list", "in", 2, 0, 0.0004, 0.0004, (0.0004, 0.0004)),
    ),
    tokens=125,
    loaded_tokens=84,
    log_level="warning",
)
PROCESSES = (
    p.ProcessRow(4711, 1, 0, "python inventory.py", 3.0, 42_000_000, 12, 3, NOON),
    p.ProcessRow(4712, 4711, 1, "helper --fast", 0.0, 9_000_000, -1, 1, NOON),
    p.ProcessRow(999, 1, 0, "python old.py", 0.0, 8_000_000, 4, 1, NOON, leftover=True),
)
ENTRY = p.EntryDetail(
    "inventory",
    "project",
    "/srv/code/notes-app/.hel/mcp.json",
    '{\n  "command": "python",\n  "args": ["inventory.py"]\n}',
    command_line="python inventory.py",
    resolved="/usr/bin/python",
    cwd="/srv/code/notes-app",
    env_names=("HOME", "PATH", "TOKEN"),
    variables=(
        p.Variable("TOKEN", "env.TOKEN", "‹redacted›", "environment"),
        p.Variable("MISSING", "env.OTHER", "", "unset"),
    ),
    shadows=("/srv/code/notes-app/.mcp.json",),
    watch=("*.py",),
    sha256="0123456789abcdef" * 4,
    trust="approved for this project",
)
DIAGNOSIS = p.Diagnosis(
    "inventory",
    (
        p.Finding("ok", "spawn", "/usr/bin/python runs"),
        p.Finding("error", "stdout", "no protocol on stdout: 3 lines", mend="print to stderr"),
        p.Finding(
            "info",
            "schema",
            "$schema is left out",
            tool="lookup_port",
            path="(top)",
            profile="gemini",
            also=("a (top)",),
        ),
    ),
    seconds=0.4,
)


def inside_core() -> FakeCore:
    """The busy core, its inventory server laid open."""
    core = scenes.busy_core()
    core.inside_of["inventory"] = INSIDE
    core.process_rows["inventory"] = PROCESSES
    core.entries["inventory"] = ENTRY
    core.diagnoses["inventory"] = DIAGNOSIS
    for row in core.rows:
        core.tool_details[row.server, row.raw] = p.ToolDetail(
            row, row.description, '{\n  "type": "object"\n}'
        )
    return core
