"""`hel mcp`: the configured servers from a shell: what there is, adding, approval, tools, calls, logins.

Not here: what each command takes (arguments) and does (a module each).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from hel_tui.cli.common import Exit, project_folder
from hel_tui.cli.mcp.arguments import COMMANDS, VERBATIM, parser_of

_MODULES = {
    "list": "listing",
    "get": "showing",
    "add": "adding",
    "add-json": "adding",
    "remove": "changing",
    "enable": "changing",
    "disable": "changing",
    "import": "importing",
    "trust": "approving",
    "secret": "keeping",
    "tools": "live",
    "call": "live",
    "resources": "offering",
    "prompts": "offering",
    "test": "testing",
    "lint": "linting",
    "record": "recording",
    "replay": "replaying",
    "logs": "logs",
    "login": "login",
    "logout": "login",
}


def usage() -> str:
    """The text of `hel mcp --help`."""
    commands = "\n".join(f"  {name:<10} {what}" for name, what in COMMANDS.items())
    return (
        "usage: hel mcp COMMAND …\n\nThe MCP servers that are configured for a project.\n\n"
        f"commands:\n{commands}\n\n"
        "`hel mcp COMMAND --help` tells its options, `hel help servers` the files.\n"
    )


def main(argv: Sequence[str]) -> int:
    """Run `hel mcp`; returns the exit status."""
    arguments = list(argv)
    if not arguments:
        sys.stderr.write("hel mcp: a command is needed, such as list or add\nTry `hel mcp --help`.\n")
        return Exit.USAGE
    command = arguments.pop(0)
    if command in ("-h", "--help"):
        sys.stdout.write(usage())
        return Exit.DONE
    if command not in COMMANDS:
        return _unknown(command)
    parser = parser_of(command)
    verbatim: list[str] | None = None
    if command in VERBATIM and "--" in arguments:  # what is behind it is the server's, whatever it looks like
        at = arguments.index("--")
        arguments, verbatim = arguments[:at], arguments[at + 1 :]
    args = parser.parse_intermixed_args(arguments)
    args.verbatim = verbatim
    from hel_tui.cli.mcp.ground import Ground

    ground = Ground(command, project_folder(parser, args.dir), tuple(args.mcp_config))
    try:
        status: int = import_module(f"hel_tui.cli.mcp.{_MODULES[command]}").run(args, ground)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return Exit.INTERRUPTED
    return status


def _unknown(command: str) -> int:
    from hel_tui.cli.mcp.ground import did_you_mean
    from hel_tui.foreign import printable

    near = did_you_mean(command, COMMANDS, "")
    sys.stderr.write(f"hel mcp: there is no command {printable(command)[:60]}{near}\nTry `hel mcp --help`.\n")
    return Exit.USAGE
