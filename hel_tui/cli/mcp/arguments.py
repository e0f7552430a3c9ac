"""What each `hel mcp` command takes. Light: `--help` and completion import nothing else.

Not here: what the commands do (a module each).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from hel_tui.cli.common import Parser

COMMANDS = {
    "list": "every entry, where it comes from and whether it may start",
    "get": "one server: what it is, where it comes from, what it needs",
    "add": "write a server into a file: hel mcp add NAME URL, hel mcp add NAME -- COMMAND ARG…",
    "add-json": "the same from the JSON that a server's documentation shows",
    "remove": "take a server out of its file",
    "enable": "switch a server on in its file",
    "disable": "switch a server off in its file; it is listed and never started",
    "import": "copy servers from another agent's files",
    "trust": "show what the project wants to run, and approve it beforehand",
    "secret": "keep a value for ${keyring:NAME}, or forget it",
    "tools": "start a server and list its tools",
    "call": "start a server and call one of its tools",
    "resources": "start a server and list its resources, or read one",
    "prompts": "start a server and list its prompts, or fill one in",
    "test": "run the saved checks of the project: calls and what they must come to",
    "lint": "look at a server: how it starts, what it declares, how it takes disturbance",
    "record": "stand between a client and a server, and keep what they say in a cassette",
    "replay": "be the server of a cassette: answer as it was recorded",
    "logs": "what servers printed on stderr, in the newest session of the project",
    "login": "authorize hel at a remote server (OAuth)",
    "logout": "give that up: revoke and forget the tokens",
}
SCOPES = ("local", "user", "project")
SCOPE_HELP = "local: this project, only you; user: all your projects; project: committed, the whole team"
TRANSPORTS = ("stdio", "http", "sse", "streamable-http")
SOURCES = (
    *("claude", "claude-desktop", "codex", "opencode", "gemini", "crush"),
    *("goose", "cursor", "vscode", "zed"),
)
"""Agents whose files `hel mcp import` reads."""
VERBATIM = ("add", "record")
"""Commands that take a program behind `--`, whatever it looks like."""
_USAGES = {
    "add": "hel mcp add NAME [options] (URL | -- COMMAND [ARG …])",
    "record": "hel mcp record SERVER [options] [-- COMMAND [ARG …]]",
}


def parser_of(command: str) -> Parser:
    """The parser of `hel mcp COMMAND`."""
    parser = Parser(
        prog=f"hel mcp {command}",
        description=f"{_sentence(COMMANDS[command])}.",
        usage=_USAGES.get(command),
    )
    _ARGUMENTS[command](parser)
    parser.add_argument("-C", "--dir", type=Path, metavar="DIR", help="the project (default: this folder)")
    parser.add_argument(
        "--mcp-config",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="servers of this file too",
    )
    return parser


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _json(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"{what}, as JSON with stable keys")


def _server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", metavar="SERVER")


def _scope(parser: argparse.ArgumentParser, default: str | None) -> None:
    words = SCOPE_HELP if default is None else f"{SCOPE_HELP} (default: {default})"
    parser.add_argument("-s", "--scope", choices=SCOPES, default=default, help=words)


def _list(parser: Parser) -> None:
    _json(parser, "every entry")
    parser.add_argument("--names", action="store_true", help="only the names of those that count, one a line")


def _get(parser: Parser) -> None:
    _server(parser)
    _json(parser, "all of it")


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, not {text!r}")
    return int(number) if number == int(number) else number


def _add(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="letters, digits, - and _")
    parser.add_argument(
        "words", nargs="*", default=[], metavar="URL", help="of a remote server; a program goes behind --"
    )
    _scope(parser, "local")
    parser.add_argument("-t", "--transport", "--type", choices=TRANSPORTS, help="found out when left out")
    parser.add_argument("-e", "--env", action="append", default=[], metavar="K=V", help="for the program")
    parser.add_argument(
        "-H",
        "--header",
        action="append",
        default=[],
        metavar="K:V",
        help="sent with every request to the URL",
    )
    parser.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="K",
        help="as --env K, with a value that is asked for (or read from stdin) and kept in the keyring",
    )
    parser.add_argument(
        "--secret-header",
        action="append",
        default=[],
        metavar="K[:PREFIX]",
        help="as --header, kept in the keyring; 'Authorization: Bearer' puts Bearer before it",
    )
    parser.add_argument(
        "--cwd",
        metavar="DIR",
        help="where the program runs (default: the project; with -s user the folder of that file)",
    )
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="seconds a call may wait")
    parser.add_argument(
        "--startup-timeout", type=_seconds, metavar="S", help="seconds until it counts as slow"
    )
    parser.add_argument(
        "--watch", action="append", default=[], metavar="GLOB", help="start it anew when such a file is saved"
    )
    parser.add_argument(
        "--protocol", choices=("handshake", "stateless"), help="the era to speak (default: find out)"
    )
    parser.add_argument("--sampling", action="store_true", help="it may ask for the model")
    parser.add_argument("-f", "--force", action="store_true", help="replace one of that name")
    _json(parser, "what was written where")


def _add_json(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("entry", metavar="JSON", help="an object with command or url; - reads stdin")
    _scope(parser, "local")
    parser.add_argument("-f", "--force", action="store_true", help="replace one of that name")
    _json(parser, "what was written where")


def _remove(parser: Parser) -> None:
    _server(parser)
    _scope(parser, None)
    _json(parser, "what was removed from where")


def _switch(parser: Parser) -> None:
    _server(parser)
    _scope(parser, None)
    _json(parser, "what was changed where")


def _import(parser: Parser) -> None:
    parser.add_argument("source", choices=SOURCES, metavar="AGENT", help=", ".join(SOURCES))
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="default: where that agent keeps it"
    )
    _scope(parser, None)
    parser.add_argument("--only", metavar="a,b", default="", help="only these servers")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only show what would be written")
    parser.add_argument("-y", "--yes", action="store_true", help="write without asking (for scripts)")
    parser.add_argument("-f", "--force", action="store_true", help="replace those of the same name")
    parser.add_argument(
        "--keyring", action="store_true", help="keep credentials that are written out in the keyring"
    )
    _json(parser, "what was found and done")


def _trust(parser: Parser) -> None:
    parser.add_argument("names", nargs="*", metavar="SERVER", help="only these (default: all that wait)")
    parser.add_argument("-y", "--yes", action="store_true", help="approve without asking (for scripts)")
    parser.add_argument(
        "--forget",
        action="store_true",
        help="take approvals back: of these servers, or of all of the project",
    )
    _json(parser, "what waits, what was approved or taken back")


def _secret(parser: Parser) -> None:
    parser.add_argument("action", choices=("set", "remove"), help="set reads the value, or stdin")
    parser.add_argument("entry", metavar="NAME", help="as in ${keyring:NAME}")
    _json(parser, "what was done")


def _tools(parser: Parser) -> None:
    _server(parser)
    _json(parser, "an array of tools")


def _call(parser: Parser) -> None:
    _server(parser)
    parser.add_argument("tool", metavar="TOOL", help="the server's own name of the tool")
    parser.add_argument(
        "arguments", nargs="?", default="", metavar="JSON", help="an object; none if left out"
    )
    _json(parser, "the result as the server sent it")
    parser.add_argument("--meta", default="", metavar="JSON", help="an object that goes along as _meta")
    parser.add_argument(
        "--times", type=int, default=0, metavar="N", help="call it so often and tell how long it took"
    )
    parser.add_argument(
        "--at-once", type=int, default=1, metavar="M", help="so many calls at a time (with --times)"
    )


def _resources(parser: Parser) -> None:
    _server(parser)
    parser.add_argument("uri", nargs="?", default="", metavar="URI", help="the resource to read")
    _json(parser, "the list, or what was read as the server sent it")


def _prompts(parser: Parser) -> None:
    _server(parser)
    parser.add_argument("prompt", nargs="?", default="", metavar="PROMPT", help="the prompt to fill in")
    parser.add_argument("arguments", nargs="*", metavar="KEY=VALUE", help="its arguments")
    _json(parser, "the list, or what the prompt becomes as the server sent it")


def _lint(parser: Parser) -> None:
    parser.add_argument("server", metavar="SERVER", help="its name")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--strict", action="store_true", help="warnings fail too")


def _test(parser: Parser) -> None:
    parser.add_argument("server", nargs="?", metavar="SERVER", help="only the checks of this one")
    parser.add_argument("-k", dest="name", metavar="NAME", help="only checks whose name holds this")
    parser.add_argument(
        "--junit", type=Path, metavar="XML", help="also write the results to this file, as JUnit XML"
    )
    parser.add_argument(
        "--update", action="store_true", help="keep what comes as the expected text of snapshots"
    )
    _json(parser, "how each check went")


def _record(parser: Parser) -> None:
    parser.add_argument("server", metavar="SERVER", help="a configured one, or a name for what is behind --")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the cassette (default: SERVER-TIME.cassette)"
    )
    parser.add_argument("-f", "--force", action="store_true", help="write over a file that is there")


def _replay(parser: Parser) -> None:
    parser.add_argument("cassette", type=Path, metavar="CASSETTE_FILE", help="what was recorded")
    parser.add_argument(
        "--strict", action="store_true", help="requests must come in the order in which they were recorded"
    )
    parser.add_argument(
        "--match",
        choices=("arguments", "method"),
        default="arguments",
        help="which recorded request is meant: the same arguments (default), or the same tool or method only",
    )
    parser.add_argument("--latency", action="store_true", help="take as long as the recorded server took")


def _logs(parser: Parser) -> None:
    parser.add_argument("server", nargs="?", metavar="SERVER", help="only this one's")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl+C")
    parser.add_argument(
        "-n", "--lines", type=int, default=100, metavar="N", help="newest lines (default 100)"
    )
    parser.add_argument("--session", metavar="ID", help="another session; a beginning of its id will do")
    _json(parser, "one object a line")


def _login(parser: Parser) -> None:
    _server(parser)
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="only show the address")


_ARGUMENTS: dict[str, Callable[[Parser], None]] = {
    "list": _list,
    "get": _get,
    "add": _add,
    "add-json": _add_json,
    "remove": _remove,
    "enable": _switch,
    "disable": _switch,
    "import": _import,
    "trust": _trust,
    "secret": _secret,
    "tools": _tools,
    "call": _call,
    "resources": _resources,
    "prompts": _prompts,
    "test": _test,
    "lint": _lint,
    "record": _record,
    "replay": _replay,
    "logs": _logs,
    "login": _login,
    "logout": _server,
}
