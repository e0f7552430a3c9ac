"""Slash commands: what there is, how a line is read, what completes it.

Pure functions. Not here: doing what a command says (screens/commands).
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Literal

from hel_tui.core import protocol as p
from hel_tui.core.values import dataclass
from hel_tui.tui.strings import t

Takes = Literal[
    "",
    "text",
    "level",
    "theme",
    "tools",
    "loaded",
    "tool",
    "target",
    "call",
    "model",
    "effort",
    "file",
    "server",
    "log server",
    "log level",
    "roots",
]


@dataclass(frozen=True, slots=True)
class Spec:
    """One command. `takes` says what completes its argument; `usage` is its argument as shown."""

    name: str
    usage: str = ""
    takes: Takes = ""
    needs: bool = False
    """Whether it means nothing without an argument."""

    @property
    def help(self) -> str:
        return t(f"slash.{self.name}")


SPECS: tuple[Spec, ...] = (
    Spec("help"),
    Spec("model", "[PROVIDER/NAME]", "model"),
    Spec("effort", "[LEVEL]", "effort"),
    Spec("access", "[LEVEL]", "level"),
    Spec("mcp", "[SERVER]", "server"),
    Spec("tools"),
    Spec("load", "TOOL…", "tools", needs=True),
    Spec("unload", "TOOL…", "loaded", needs=True),
    Spec("pin", "TOOL…", "tools", needs=True),
    Spec("unpin", "TOOL…", "loaded", needs=True),
    Spec("tool", "SERVER.TOOL", "tool", needs=True),
    Spec("off", "SERVER[.TOOL]", "target", needs=True),
    Spec("on", "SERVER[.TOOL]", "target", needs=True),
    Spec("search", "WORDS", "text", needs=True),
    Spec("searches"),
    Spec("call", "SERVER.TOOL [JSON]", "call", needs=True),
    Spec("attach", "PATH", "file", needs=True),
    Spec("paste"),
    Spec("resources"),
    Spec("prompts"),
    Spec("checks", "[SERVER]", "server"),
    Spec("saves"),
    Spec("doctor", "[SERVER]", "server"),
    Spec("trust"),
    Spec("reload"),
    Spec("login", "SERVER", "server", needs=True),
    Spec("logout", "SERVER", "server", needs=True),
    Spec("roots", "add|remove FOLDER", "roots", needs=True),
    Spec("loglevel", "SERVER LEVEL", "log server", needs=True),
    Spec("context"),
    Spec("compact", "[FOCUS]", "text"),
    Spec("cost"),
    Spec("sessions", "[WORDS]", "text"),
    Spec("resume", "[ID|WORDS]", "text"),
    Spec("fork", "[TURN]", "text"),
    Spec("rename", "TITLE", "text", needs=True),
    Spec("export", "[md|json] [PATH]", "text"),
    Spec("clear"),
    Spec("new"),
    Spec("rewind"),
    Spec("undo"),
    Spec("copy"),
    Spec("theme", "[NAME]", "theme"),
    Spec("keys"),
    Spec("quit"),
)
_MORE: tuple[Takes, ...] = ("tools", "loaded", "call", "model", "log server", "roots")
"""Kinds of arguments after which another one may follow."""
_UNFINISHED: tuple[Takes, ...] = ("log server", "roots")
"""Kinds after which another one must follow."""
_BY_NAME = {spec.name: spec for spec in SPECS}


@dataclass(frozen=True, slots=True)
class Slash:
    name: str
    rest: str


@dataclass(frozen=True, slots=True)
class Shell:
    command: str


@dataclass(frozen=True, slots=True)
class UsePrompt:
    """A prompt of a server, with the arguments given in the line."""

    prompt: p.PromptRow
    given: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A command that cannot be run, and why."""

    sentence: str


def parse(text: str, prompts: Sequence[p.PromptRow] = ()) -> Slash | Shell | UsePrompt | Mistake | None:
    """Read what was typed; None means it is a message for the model (a path such as /etc/hosts is)."""
    line = text.strip()
    if line.startswith("!"):
        command = line[1:].strip()
        return Shell(command) if command else Mistake(t("slash.empty_shell"))
    if not line.startswith("/"):
        return None
    head, _, rest = line[1:].partition(" ")
    if (prompt := find_prompt(head, prompts)) is not None:
        return _use(prompt, rest.strip())
    name, rest = head.split("\n")[0].lower(), rest.strip()
    spec = _BY_NAME.get(name)
    if spec is None:
        if "/" in head or not head:
            return None
        near = difflib.get_close_matches(name, list(_BY_NAME), 1)
        hint = t("slash.nearest", name=near[0]) if near else t("slash.see_help")
        return Mistake(t("slash.unknown", name=head[:40], hint=hint))
    if spec.needs and not rest:
        return Mistake(t("slash.needs", name=name, usage=spec.usage))
    return Slash(name, rest)


def find_prompt(command: str, prompts: Sequence[p.PromptRow]) -> p.PromptRow | None:
    """The prompt a person means by `command`; upper and lower case only count where they tell two apart."""
    exact = next((one for one in prompts if one.command == command), None)
    return exact or next((one for one in prompts if one.command.lower() == command.lower()), None)


def _use(prompt: p.PromptRow, rest: str) -> UsePrompt | Mistake:
    """`name=value …`, a value with spaces in quotes; the only argument of a prompt needs no name."""
    names = [field.name for field in prompt.fields]
    if len(names) == 1 and rest and not rest.startswith(f"{names[0]}="):
        return UsePrompt(prompt, ((names[0], rest),))
    try:
        words = shlex.split(rest)
    except ValueError:
        return Mistake(t("prompts.not_given", command=prompt.command))
    given: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            return Mistake(t("prompts.not_given", command=prompt.command))
        if name not in names:
            known = ", ".join(names) or "–"
            return Mistake(t("prompts.unknown_argument", command=prompt.command, name=name[:40], names=known))
        given[name] = value
    return UsePrompt(prompt, tuple(given.items()))


def parse_call(rest: str) -> tuple[str, str] | Mistake:
    """`server.tool {json}` -> (target, JSON text or empty); the JSON must be one object."""
    target, _, arguments = rest.strip().partition(" ")
    if "{" in target:
        cut = target.index("{")
        target, arguments = target[:cut], rest.strip()[cut:]
    arguments = arguments.strip()
    if not target:
        return Mistake(t("slash.needs", name="call", usage=_BY_NAME["call"].usage))
    if arguments and (why := check_object(arguments)):
        return Mistake(why)
    return target, arguments


def check_object(text: str) -> str:
    """Why `text` is not the JSON of one object, as a sentence; empty when it is."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return t("json.bad", why=error.msg, line=error.lineno, column=error.colno)
    except RecursionError:
        return t("json.deep")
    except ValueError:  # Python's limit on the digits of a whole number
        digits = re.search(r"\d{4301}", text)
        at = digits.start() if digits else 0
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        return t("json.bad", why="Too many digits", line=line, column=column)
    return "" if isinstance(value, dict) else t("json.not_object")


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the popup offers: `insert` replaces the whole line; one that ends in a space wants more."""

    shown: str
    about: str
    insert: str
    resource: tuple[str, str] | None = None
    """(server, uri) of what a mention attaches; then `insert` replaces just the mention."""
    unfinished: bool = False
    """Whether the line means nothing yet after it: another word has to follow."""


def candidates(
    line: str,
    known: Callable[[Takes], Sequence[tuple[str, str]]],
    prompts: Sequence[p.PromptRow] = (),
) -> list[Candidate]:
    """What could come of `line`. `known(takes)` gives (word, about) for an argument's kind."""
    if not line.startswith("/") or "\n" in line:
        return []
    head, space, rest = line[1:].partition(" ")
    if not space:
        found = [spec for spec in SPECS if spec.name.startswith(head.lower())]
        offered = [
            Candidate(f"/{s.name} {s.usage}".strip(), s.help, f"/{s.name}{' ' if s.takes else ''}")
            for s in found
        ]
        return offered + _prompts(head, prompts)
    if (prompt := find_prompt(head, prompts)) is not None:
        return _arguments(prompt, rest)
    spec = _BY_NAME.get(head.lower())
    if spec is None or not spec.takes or "{" in rest:
        return []
    before, _, word = rest.rpartition(" ")
    takes = spec.takes
    if takes == "log server" and before and " " not in before:
        takes = "log level"
    elif before and takes not in ("tools", "loaded"):
        return []
    kept = f"/{spec.name} {before + ' ' if before else ''}"
    low = word.lower()
    matching = [(w, about) for w, about in known(takes) if low in w.lower()]
    matching.sort(key=lambda pair: closeness(pair[0], word))
    if [w for w, _ in matching] == [word] and takes not in _UNFINISHED:
        return []
    more = " " if takes in _MORE else ""
    return [
        Candidate(w, about, f"{kept}{w}{more}", unfinished=takes in _UNFINISHED)
        for w, about in matching[:MOST_OFFERED]
    ]


MOST_OFFERED = 50


def closeness(name: str, word: str) -> tuple[bool, bool, bool, str]:
    """How names that contain `word` are sorted: the word itself, then those that begin with it, by name.

    The word itself comes first, so that Enter never makes another, longer name of it.
    """
    low, lower = word.lower(), name.lower()
    return name != word, lower != low, not lower.startswith(low), name


def _prompts(head: str, prompts: Sequence[p.PromptRow]) -> list[Candidate]:
    found = [one for one in prompts if head.lower() in one.command.lower()]
    found.sort(key=lambda one: closeness(one.command, head))
    return [prompt_candidate(one) for one in found[:MOST_OFFERED]]


def prompt_candidate(prompt: p.PromptRow) -> Candidate:
    """A prompt as the popup shows it: Enter runs it at once, or opens the form for its arguments."""
    names = " ".join(field.name if field.required else f"[{field.name}]" for field in prompt.fields)
    about = prompt.title or prompt.description
    return Candidate(f"/{prompt.command} {names}".strip(), about, f"/{prompt.command}")


def _arguments(prompt: p.PromptRow, rest: str) -> list[Candidate]:
    """Names of arguments that begin with the word being typed."""
    before, space, word = rest.rpartition(" ")
    if not word or "=" in word:
        return []
    kept = f"/{prompt.command} {before}{space}"
    return [
        Candidate(f"{field.name}=", field.description, f"{kept}{field.name}=")
        for field in prompt.fields
        if field.name.lower().startswith(word.lower()) and f"{field.name}=" not in rest
    ]
