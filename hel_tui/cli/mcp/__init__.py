"""`hel mcp`: the configured servers from a shell: what there is, approval, tools, calls, logins.

Not here: reading files (core.mcp.config), what trust is bound to (core.permissions).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hel_tui.cli.common import Parser, project_folder


def _parser() -> Parser:
    parser = Parser(prog="hel mcp", description="The MCP servers that are configured for a project.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="every entry, where it comes from and whether it may start")
    listing.add_argument("--json", action="store_true", help="a JSON array with stable keys")
    trust = commands.add_parser("trust", help="show what the project wants to run, and approve it beforehand")
    trust.add_argument("names", nargs="*", metavar="SERVER", help="only these (default: all that wait)")
    trust.add_argument("-y", "--yes", action="store_true", help="approve without asking (for scripts)")
    tools = commands.add_parser("tools", help="start a server and list its tools")
    call = commands.add_parser("call", help="start a server and call one of its tools")
    login = commands.add_parser("login", help="authorize hel at a remote server (OAuth)")
    login.add_argument("--no-browser", dest="browser", action="store_false", help="only show the address")
    logout = commands.add_parser("logout", help="give that up: revoke and forget the tokens")
    for command in (tools, call, login, logout):
        command.add_argument("server", metavar="SERVER")
    call.add_argument("tool", metavar="TOOL", help="the server's own name of the tool")
    call.add_argument("arguments", nargs="?", default="", metavar="JSON", help="an object; none if left out")
    tools.add_argument("--json", action="store_true", help="a JSON array with stable keys")
    call.add_argument("--json", action="store_true", help="the result as the server sent it")
    for command in (listing, trust, tools, call, login, logout):
        command.add_argument(
            "-C", "--dir", type=Path, metavar="DIR", help="the project (default: this folder)"
        )
        command.add_argument(
            "--mcp-config",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="servers of this file too",
        )
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel mcp`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    project = project_folder(parser, args.dir)
    from hel_tui.core.mcp.config import load_servers
    from hel_tui.core.permissions.trust import TrustStore
    from hel_tui.core.store.places import find_places

    places = find_places(os.environ)
    configuration = load_servers(project, places, named_files=args.mcp_config, environ=os.environ)
    store = TrustStore(places.state)
    review = store.review(configuration, project, os.environ)
    if args.command == "list":
        from hel_tui.cli.mcp import listing

        return listing.show(configuration, review, as_json=args.json)
    if args.command == "trust":
        from hel_tui.cli.mcp import approving

        return approving.approve(args, configuration, review, store, project, places)
    if args.command in ("login", "logout"):
        from hel_tui.cli.mcp import login

        return login.use(args, configuration, review, project, places)
    from hel_tui.cli.mcp import live

    return live.use(args, configuration, review, project, places)
