"""Whether a rule's pattern fits a bash command line.

An allow pattern fits only a single plain command; a deny or ask pattern fits when any part of the line does.
Text cannot tell all a shell would do, so deny patterns are a fence against mistakes, not against malice:
that is the sandbox. Not here: the rules (rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hel_tui.core.permissions.globs import escape, has_wildcard, matches

PREFIX = ":*"
_LAUNCHER_WORDS = 12
"""Words after a launcher such as `sudo` at which the command proper is looked for."""
_SPLIT = re.compile(r"[;&|\n\r(){}<>`]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=\S*")
_LEADING = frozenset(
    {"sudo", "doas", "env", "nohup", "nice", "ionice", "timeout", "stdbuf", "setsid", "command", "builtin"}
    | {"exec", "eval", "time", "xargs", "sh", "bash", "dash", "zsh", "if", "then", "else", "elif", "do"}
    | {"while", "until", "!"}
)
_FORBIDDEN = frozenset(";&|<>()`$\n\r{}")


def exactly(command: str) -> str:
    """Return the pattern that fits `command` and nothing else."""
    return escape(command.strip())


def command_allowed(pattern: str, command: str) -> bool:
    """Return whether an allow pattern fits.

    `git log:*` fits `git log` alone or with arguments, `npm run *` what its wildcards say, a pattern without
    wildcard the very same line. With wildcards nothing compound fits: no `;`, `&`, `|`, redirection,
    substitution, variable, group or line end outside of quotes.
    """
    command = command.strip()
    if not pattern.endswith(PREFIX) and not has_wildcard(pattern):
        return matches(pattern, command)
    return is_plain(command) and _fits(pattern, command)


def command_caught(pattern: str, command: str) -> bool:
    """Return whether a deny or ask pattern fits the line or any command in it.

    Looked at: every piece between operators, also inside of quotes and substitutions, also behind
    assignments and launchers such as `sudo` or `bash -c`, also with its quoting and its folder taken off.
    """
    return any(_fits(pattern, piece) for piece in _pieces(command))


def is_plain(command: str) -> bool:
    """Return whether `command` is one command with plain words: nothing in it starts a second one."""
    quote = ""
    at = 0
    while at < len(command):
        character = command[at]
        if quote == "'":
            quote = "" if character == "'" else quote
        elif character == "\\":
            at += 1
            if command[at : at + 1] in ("", "\n", "\r"):
                return False
        elif quote == '"':
            if character in "`$":
                return False
            quote = "" if character == '"' else quote
        elif character in _FORBIDDEN:
            return False
        elif character in "'\"":
            quote = character
        at += 1
    return not quote


def _fits(pattern: str, command: str) -> bool:
    if pattern.endswith(PREFIX):
        prefix = pattern.removesuffix(PREFIX)
        return matches(prefix, command) or any(matches(prefix + gap + "*", command) for gap in (" ", "\t"))
    return matches(pattern, command)


def _pieces(command: str) -> Iterator[str]:
    yield command.strip()
    for piece in _SPLIT.split(command):
        for form in (piece, re.sub(r"[\"'\\$]", "", piece)):
            yield from _readings(form.split())


def _readings(words: list[str]) -> Iterator[str]:
    """Yield what may be the command in `words`: as it stands, and behind assignments and launchers."""
    while words and _ASSIGNMENT.fullmatch(words[0]):
        yield " ".join(words)
        words = words[1:]
    launched = bool(words) and _program(words[0]) in _LEADING
    for at in range(min(len(words), _LAUNCHER_WORDS if launched else 1)):
        yield " ".join(words[at:])
        yield " ".join((_program(words[at]), *words[at + 1 :]))


def _program(word: str) -> str:
    return word.rpartition("/")[2]
