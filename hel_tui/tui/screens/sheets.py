"""The texts of the sheets: all keys, help, one server, a report. Pure functions from state to lines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from hel_tui.core import protocol as p
from hel_tui.tui import keymap, slash
from hel_tui.tui.dialogs.pane import FRAME, LABEL, foreign, framed
from hel_tui.tui.safe import ForeignText, clean
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, pad


def keys_lines(parts: Sequence[str] = ()) -> list[Line]:
    """Every action with its keys, by the part it belongs to, from the one table; or those of `parts` only, in
    their order.
    """
    lines: list[Line] = []
    where = ""
    some = [action for part in parts for action in keymap.ACTIONS if action.where == part]
    for action in some or keymap.ACTIONS:
        if action.where != where:
            where = action.where
            lines += [[]] if lines else []
            lines.append([(t(f"where.{where}"), "strong")])
        lines.append(_key_line(_keys_of(action.id), action.title))
    return lines


def dialog_keys_lines(part: str, in_fields: bool) -> list[Line]:
    """The keys of a dialog: its own, and what all dialogs share."""
    lines = [*keys_lines([part]), [], [(t("keys.dialogs"), "strong")]]
    if in_fields:
        lines.append(_key_line("Tab, Shift+Tab", t("keys.fields")))
    lines += [_key_line("Left, Right", t("keys.mark")), _key_line("Enter", t("keys.marked"))]
    return [*lines, *_scroll_lines()]


def text_keys_lines(more: Mapping[str, str]) -> list[Line]:
    """The keys of a sheet of text: `more` of its own with their words, and those that all have."""
    own = [_key_line(keymap.pretty(key), word) for key, word in more.items() if word]
    return [*own, *_scroll_lines(), _key_line("Esc, q", t("sheet.close"))]


def _scroll_lines() -> list[Line]:
    return [
        _key_line("Up, Down, PgUp, PgDn", t("keys.scroll")),
        _key_line("Home, End", t("keys.ends")),
    ]


def _keys_of(action: str) -> str:
    return ", ".join(keymap.pretty(key) for key in keymap.keys(action))


def _key_line(keys: str, what: str) -> Line:
    return [("  ", ""), (pad(keys, 24), "key"), (what, "")]


def help_lines() -> list[Line]:
    """Slash commands and the few words a newcomer needs."""
    lines: list[Line] = [[(text, "")] for text in t("help.intro").split("\n")]
    lines += [[], [(t("help.commands"), "strong")], *commands_lines(), []]
    lines.append([(t("help.keys", key=keymap.label("app.keys")), "muted")])
    return lines


def commands_lines() -> list[Line]:
    """Every slash command with what it does, from the one table; and the sign for the shell."""
    known = [(f"/{spec.name} {spec.usage}".strip(), spec.help) for spec in slash.SPECS]
    return [
        [("  ", ""), (pad(shown, 28), "key"), (what, "")]
        for shown, what in [*known, ("!COMMAND", t("help.shell"))]
    ]


def failure_lines(failure: p.ServerFailure) -> list[Line]:
    lines: list[Line] = [[], [(t("failure.title", stage=t(f"stage.{failure.stage}")), "strong")]]
    said = foreign(ForeignText(failure.sentence))
    lines.append([(said[:1].upper() + said[1:], "bad")])
    facts = [
        ("failure.command", failure.command_line),
        ("failure.resolved", failure.resolved),
        ("failure.cwd", failure.cwd),
        ("failure.env", ", ".join(failure.env_names)),
        ("failure.exit", failure.exit),
    ]
    lines += [_fact(key, value) for key, value in facts if value]
    for key, texts in (("failure.stderr", failure.stderr), ("failure.noise", failure.noise)):
        if texts:
            lines += [[], [(t(key), "strong")]]
            for text in texts:
                lines.append([(FRAME, "frame"), (clean(text, newlines=False), "")])
    return lines


def _fact(key: str, value: str) -> Line:
    return [(pad(t(key), 16), LABEL), (foreign(ForeignText(value)), "")]


def report_lines(report: str) -> list[Line]:
    """A crash report, framed."""
    head: list[Line] = [[(t("report.intro"), "warn")], [(time.strftime("%Y-%m-%d %H:%M:%S"), "muted")], []]
    return head + framed(ForeignText(clean(report)))
