"""The `hel` command: finds the sub-command and leaves the rest to its module.

Nothing heavy is imported here or by any `--help`: the screen, the model client and MCP come in where used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from hel_tui.cli import streams

FAILED = 1
USAGE_ERROR = 2
INTERRUPTED = 130
COMMANDS = {
    "run": "answer one prompt without a screen",
    "mcp": "add, list and import servers, approve what a project wants to run, call tools, log in",
    "sessions": "conversations that were kept: list, show, search, export, fork, rename, delete",
    "models": "the models there are to choose from, with windows and prices",
    "doctor": "what works here and what does not, with what helps",
    "inspect": "open the app on one server that no file names: hel inspect -- COMMAND ARG…",
    "eval": "run a lab: a task under different conditions, many times, compared",
    "demo": "lay out the sample project and open it with a scripted model",
    "completion": "a script for bash, zsh or fish that completes commands and names of servers",
    "help": "longer texts on a topic",
}

USAGE = """\
usage: hel [DIR] [options]          the full-screen app
       hel run PROMPT [options]     headless, same core; PROMPT or - for stdin
       hel COMMAND …

A terminal agent with every MCP server it leans on in plain sight.

commands:
{commands}

options:
  -c, --continue          go on with the newest session of this project
  -r, --resume [ID]       go on with one of its sessions; without ID choose one
  --model PROVIDER/NAME   the model that answers (deepseek/deepseek-chat, ollama/qwen3, …)
  --base-url URL          an OpenAI-compatible endpoint; the key comes from HEL_API_KEY
  --fallback-model P/N    answers the rest of a turn when the model cannot be reached
  --effort LEVEL          how hard the model thinks: none, minimal, low, medium, high, xhigh, max
  --access LEVEL          read-only, confirm (default) or auto
  --tools a,b             built-in tools to offer
  --max-steps N           model requests in one turn before hel asks whether to go on
  --no-mcp                start no servers
  --mcp-config FILE       servers of this file too; they are not asked about
  --theme NAME            colours of the screen
  --version               print the version
  -h, --help              this text; `hel COMMAND --help` for a command's

Without a model hel is a workbench: servers, logs, tools and `/call server.tool {{json}}` work with no key.
"""


def usage() -> str:
    """The text of `hel --help`."""
    commands = "\n".join(f"  {name:<12} {what}" for name, what in COMMANDS.items())
    return USAGE.format(commands=commands)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status.

    Output that cannot be written (a full disk, a reader that is gone) ends it with status 1.
    """
    streams.prepare()
    try:
        status = _run(argv)
    except SystemExit:
        if not streams.flushed():
            return FAILED
        raise
    except KeyboardInterrupt:  # before the command could take care of it
        status = INTERRUPTED
    except BrokenPipeError:  # such as `head`: whoever reads has had enough
        status = FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        streams.last_words(f"hel: {where}{error.strerror or error}")
        status = FAILED
    return status if streams.flushed() else FAILED


def _run(argv: Sequence[str] | None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in COMMANDS:
        module, rest = arguments[0], arguments[1:]
    elif arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(usage())
        return 0
    elif arguments[:1] in (["--version"], ["-V"]):
        from hel_tui import __version__

        sys.stdout.write(f"hel {__version__}\n")
        return 0
    elif near := _nearly(arguments):
        sys.stderr.write(f"hel: there is no command or folder {arguments[0]!r}; did you mean {near}?\n")
        return USAGE_ERROR
    else:
        module, rest = "app", arguments
    command = import_module(f"hel_tui.cli.{module}")
    status: int = command.main(rest)
    return status


def _nearly(arguments: Sequence[str]) -> str:
    """The command that a first word is nearly, when it is no folder; empty when it is none."""
    word = arguments[0] if arguments else ""
    if not word.isalpha() or os.path.exists(word):  # noqa: PTH110 - pathlib is not needed for the app
        return ""
    import difflib

    return next(iter(difflib.get_close_matches(word.lower(), COMMANDS, 1, 0.6)), "")
