"""`hel completion bash|zsh|fish`: a script for the shell, made from the parsers themselves.

Names of servers come from `hel mcp list --names`, which starts nothing. Not here: what the commands do.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hel_tui.cli.common import Exit, Parser
from hel_tui.cli.mcp.arguments import VERBATIM

SHELLS = ("bash", "zsh", "fish")
NAMES = "hel mcp list --names 2>/dev/null"
_HOW = {
    "bash": "echo 'eval \"$(hel completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(hel completion zsh)\"' >> ~/.zshrc",
    "fish": "hel completion fish > ~/.config/fish/completions/hel.fish",
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command: its spellings, the words it takes (none: any), its help."""

    names: tuple[str, ...]
    takes: bool
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command, named by its words."""

    words: tuple[str, ...]
    help: str
    options: tuple[Option, ...] = ()
    positional: tuple[str, ...] = ()
    """What may stand without an option."""
    servers: bool = False
    """A name of a server may stand there."""
    files: bool = False

    @property
    def key(self) -> str:
        return " ".join(self.words)


def main(argv: Sequence[str]) -> int:
    """Print the script for a shell; returns the exit status."""
    how = "\n".join(f"  {shell:<6} {line}" for shell, line in _HOW.items())
    parser = Parser(
        prog="hel completion",
        description="Print a script that completes commands, options and names of servers.",
        epilog=f"to keep it:\n{how}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    shell = parser.parse_args(argv).shell
    make = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    sys.stdout.write("\n".join(make(tuple(commands()))) + "\n")
    return Exit.DONE


def commands() -> Iterator[Command]:
    """Every command there is, as its parser has it."""
    from hel_tui.cli import COMMANDS, app, demo, models, run, sessions
    from hel_tui.cli.eval import parser as eval_parser
    from hel_tui.cli.help import TOPICS
    from hel_tui.cli.mcp.arguments import COMMANDS as MCP
    from hel_tui.cli.mcp.arguments import parser_of

    kept = sessions.helps()
    top = Command((), "", _options(app._parser()), tuple(COMMANDS), files=True)
    yield top
    yield Command(("run",), COMMANDS["run"], _options(run._parser()))
    yield Command(("demo",), COMMANDS["demo"], _options(demo._parser()), files=True)
    yield Command(("eval",), COMMANDS["eval"], _options(eval_parser()), files=True)
    yield Command(("help",), COMMANDS["help"], (), tuple(TOPICS))
    yield Command(("completion",), COMMANDS["completion"], (), SHELLS)
    yield Command(("models",), COMMANDS["models"], _options(models.parser()))
    yield Command(("sessions",), COMMANDS["sessions"], (), tuple(kept))
    for name, parser in sessions.parsers().items():
        yield Command(("sessions", name), kept[name], _options(parser))
    yield Command(("mcp",), COMMANDS["mcp"], (), tuple(MCP))
    for name, what in MCP.items():
        parser = parser_of(name)
        places = [action for action in parser._actions if not action.option_strings]
        choices = tuple(str(one) for place in places for one in place.choices or ())
        metavars = {place.metavar for place in places}
        servers = "SERVER" in metavars
        files = any(str(metavar).endswith("FILE") for metavar in metavars)
        yield Command(("mcp", name), what, _options(parser), choices, servers=servers, files=files)


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    return tuple(
        Option(
            tuple(action.option_strings),
            action.nargs != 0,
            tuple(str(one) for one in action.choices or ()),
            " ".join((action.help or "").split()),
        )
        for action in parser._actions
        if action.option_strings
    )


def _groups(all_commands: tuple[Command, ...]) -> dict[str, list[str]]:
    """The commands that have commands of their own, and which."""
    groups: dict[str, list[str]] = {}
    for one in all_commands:
        if len(one.words) == 2:
            groups.setdefault(one.words[0], []).append(one.words[1])
    return groups


# ----------------------------------------------------------------------- bash


def _bash(all_commands: tuple[Command, ...]) -> Iterator[str]:
    yield "# hel: completion for bash"
    yield "_hel() {"
    yield '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command="" words=""'
    yield "  local word; COMPREPLY=()"
    yield '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    verbatim = " || ".join(f'"$command" == "mcp {name}"' for name in VERBATIM)
    yield f'    [[ "$word" == "--" && ( {verbatim} ) ]] && {{ compopt -o default; return; }}'
    yield '    [[ "$word" == -* ]] && continue'
    firsts = "|".join(one.key for one in all_commands if len(one.words) == 1)
    yield f'    if [[ -z "$command" ]]; then case "$word" in {firsts}) command="$word" ;; esac'
    for group, seconds in _groups(all_commands).items():
        yield f'    elif [[ "$command" == "{group}" ]]; then'
        yield f'      case "$word" in {"|".join(seconds)}) command="{group} $word" ;; esac'
    yield "    fi"
    yield "  done"
    yield '  case "$command:$prev" in'
    for one in all_commands:
        for option in one.options:
            if not option.takes:
                continue
            patterns = "|".join(f'"{one.key}:{name}"' for name in option.names)
            then = _bash_words(option.choices) if option.choices else "compopt -o default"
            yield f"    {patterns}) {then}; return ;;"
    yield "  esac"
    yield '  case "$command" in'
    for one in all_commands:
        options = " ".join(name for option in one.options for name in option.names)
        words = " ".join(one.positional)
        yield f'    "{one.key}")'
        yield f'      if [[ "$cur" == -* ]]; then words="{options}"; else words="{words}"'
        if one.servers:
            yield f'        words="$words $({NAMES})"'
        if one.files:
            yield "        compopt -o default"
        yield "      fi ;;"
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$cur"))'
    yield "}"
    yield "complete -F _hel hel"


def _bash_words(words: Sequence[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))'


# ------------------------------------------------------------------------ zsh


def _zsh(all_commands: tuple[Command, ...]) -> Iterator[str]:
    """zsh runs the script of bash: its `bashcompinit` is made for that, and one script is kept right."""
    yield "# hel: completion for zsh"
    yield "autoload -Uz compinit bashcompinit"
    yield "(( $+functions[compdef] )) || compinit"
    yield "bashcompinit"
    yield "compopt() { : }  # files are completed by zsh itself"
    for line in _bash(all_commands):
        yield "complete -o default -F _hel hel" if line == "complete -F _hel hel" else line


# ----------------------------------------------------------------------- fish


def _fish(all_commands: tuple[Command, ...]) -> Iterator[str]:
    yield "# hel: completion for fish"
    yield "complete -c hel -f"
    firsts = " ".join(one.key for one in all_commands if len(one.words) == 1)
    groups = _groups(all_commands)
    for one in all_commands:
        where = _fish_condition(one, firsts, groups)
        below = [each for each in all_commands if each.words and each.words[:-1] == one.words]
        names = {each.words[-1]: each.help for each in below}
        for word in one.positional:
            yield f"complete -c hel -n {where} -a {word} -d {shlex.quote(names.get(word, ''))}"
        if one.servers:
            yield f"complete -c hel -n {where} -a '({NAMES})'"
        if one.files:
            yield f"complete -c hel -n {where} -F"
        for option in one.options:
            yield f"complete -c hel -n {where} {_fish_option(option)}"


def _fish_condition(one: Command, firsts: str, groups: dict[str, list[str]]) -> str:
    if not one.words:
        return f"'not __fish_seen_subcommand_from {firsts}'"
    if len(one.words) == 1 and one.key in groups:
        seconds = " ".join(groups[one.key])
        return f"'__fish_seen_subcommand_from {one.key}; and not __fish_seen_subcommand_from {seconds}'"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in one.words)
    return f"'{seen}'"


def _fish_option(option: Option) -> str:
    parts = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.choices:
        parts.append(f"-x -a {shlex.quote(' '.join(option.choices))}")
    elif option.takes:
        parts.append("-r")
    return " ".join((*parts, f"-d {shlex.quote(option.help)}"))
