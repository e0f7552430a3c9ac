"""`hel help [TOPIC]`: longer texts than `--help` holds.

The texts are files of the package, but for the keys, which are told from their tables. Not here: usage lines
(each command's parser).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.resources import files

from hel_tui.cli.common import Exit

WIDTH = 118
"""Cells of a line of the texts."""
TOPICS = {
    "servers": "where servers are configured, and every key of an entry",
    "tools": "loading, search, pins and costs, schemas, tools that change",
    "inside": "the server screen: log, wire, processes, calls by hand, the doctor",
    "checks": "saved calls and what they must come to, for authors of servers",
    "resources": "what servers list to be read, and prompts they prepare",
    "keys": "every key and slash command of the app, as they are now",
    "trust": "what is asked before a project's servers run",
    "permissions": "access levels and rules",
    "models": "choosing a model and where its key comes from",
    "sessions": "conversations that are kept: go on, fork, search, export, and what a crash leaves",
    "queue": "speaking while hel works, interrupting",
    "undo": "going back: files and conversation, what is kept, and tasks",
    "context": "what fills the window, long conversations, summaries, tokens and cost",
    "run": "hel run: prompts from pipes, answers of a shape, bounds",
    "api": "hel from Python: runs, questions, results, errors",
    "eval": "labs: a task under different conditions, many times, compared",
    "config": "settings, keys, themes, variables, and where hel keeps things",
    "json": "what --json prints, and exit statuses",
    "terminals": "when keys, colours or copying do not work",
}


def main(argv: Sequence[str]) -> int:
    """Print a topic, or the list of topics; returns the exit status."""
    if not argv or argv[0] in ("-h", "--help"):
        lines = [f"  {name:<12} {what}" for name, what in TOPICS.items()]
        sys.stdout.write("usage: hel help TOPIC\n\ntopics:\n" + "\n".join(lines) + "\n")
        return Exit.DONE
    topic = argv[0]
    if topic not in TOPICS:
        sys.stderr.write(f"hel help: there is no topic {topic!r}; there are {', '.join(TOPICS)}\n")
        return Exit.USAGE
    sys.stdout.write(text(topic))
    return Exit.DONE


def text(topic: str) -> str:
    """The text of a topic."""
    if topic == "keys":
        return _keys()
    told = files("hel_tui.cli").joinpath("topics", f"{topic}.md").read_text(encoding="utf-8")
    return told.replace("{actions}", _actions()) if topic == "config" else told


def _actions() -> str:
    """Names of all actions by the place they belong to, from their tables, wrapped."""
    from textwrap import wrap

    from hel_tui.tui.actions import ACTIONS

    places: dict[str, list[str]] = {}
    for action in ACTIONS:
        places.setdefault(action.where, []).append(action.id.partition(".")[2])
    lines: list[str] = []
    for where, names in places.items():
        lines += wrap(
            ", ".join(names), WIDTH, initial_indent=f"  {where + '.':<14}", subsequent_indent=" " * 16
        )
    return "\n".join(lines)


def _keys() -> str:
    """All keys, those of the person's keymap.toml too, and all slash commands, in the screen's language."""
    from hel_tui.core.store.places import find_places
    from hel_tui.tui import keymap, strings
    from hel_tui.tui.screens.sheets import commands_lines, keys_lines

    strings.use(strings.preferred())
    overrides, problems = keymap.load(find_places(os.environ).config / "keymap.toml")
    keymap.use(overrides)
    lines = ["# " + strings.t("keys.title"), ""]
    for shown in (keys_lines(), [(), [(strings.t("help.commands"), "strong")], *commands_lines()]):
        lines += ["".join(text for text, _style in line).rstrip() for line in shown]
    return "\n".join([*lines, "", *problems, strings.t("keys.change"), ""])
