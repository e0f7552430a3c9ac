"""The prompts sheet: what servers offer to begin with. Not here: asking for arguments (offers)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import framed
from hel_tui.tui.safe import ForeignText, clean
from hel_tui.tui.screens.picker import Picker, PickerList
from hel_tui.tui.screens.text import TextScreen
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.fields import head_lines
from hel_tui.tui.widgets.lines import Line, Part, pad, spread
from hel_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from hel_tui.tui.screens.offers import Offers


def prompt_row(prompt: p.PromptRow, width: int) -> list[Part]:
    """One line: its name, its title, how many arguments it takes."""
    name = clean(prompt.name, newlines=False)
    about = clean(prompt.title or prompt.description, newlines=False)
    left: list[Part] = [
        (" ❯ ", "accent"),
        (pad(name, max(min(width // 3, 28), 6)) + " ", ""),
        (about, "muted"),
    ]
    count = len(prompt.fields)
    return spread(left, [(f" {t('prompts.fields', n=count)} " if count else " ", "muted")], width)


def prompt_lines(prompt: p.PromptRow) -> list[Line]:
    """A prompt in full: its command, what the server says of it, and each argument."""
    lines: list[Line] = [[(f"/{clean(prompt.command, newlines=False)}", "accent")]]
    for about in (prompt.title, prompt.description):
        lines += [[], *framed(ForeignText(about))] if about else []
    lines.append([])
    if not prompt.fields:
        lines.append([(t("prompts.no_arguments"), "muted")])
    for field in prompt.fields:
        lines += head_lines(field, "")
    return lines


def became_lines(read: p.PromptRead) -> list[Line]:
    """The messages of a prompt, each below the role it would go to the model with."""
    lines: list[Line] = []
    for role, text in read.messages:
        lines += [[]] if lines else []
        lines += [[(t(f"message.{role}"), "strong")], *framed(ForeignText(text))]
    return lines


class PromptList(PickerList):
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("prompts")

    def action_look(self) -> None:
        self.post_message(self.Wish("look"))

    def action_try(self) -> None:
        self.post_message(self.Wish("try"))


class PromptsScreen(Picker):
    """Enter ends it with the marked prompt's key, `v` looks at what the prompt takes."""

    parts = ("prompts", "picker", "list")
    foot = (
        ("list.open", "short.prompts.use"),
        ("prompts.look", "short.prompts.look"),
        ("prompts.try", "short.prompts.try"),
        ("picker.filter", "short.picker.filter"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, offers: Offers) -> None:
        super().__init__(t("prompts.title"), PromptList())
        self.offers = offers
        self.by_key: dict[str, p.PromptRow] = {}

    def rows(self) -> list[Row]:
        self.by_key = {}
        out: list[Row] = []
        server = ""
        for prompt in sorted(self.offers.prompts, key=lambda one: (one.server, one.name)):
            words = f"{prompt.command} {prompt.name} {prompt.title} {prompt.description}".casefold()
            if self.filter not in words:
                continue
            if prompt.server != server or not out:
                server = prompt.server
                out.append(
                    Row(f"server {server}", [(f" {clean(server, newlines=False)}", "strong")], live=False)
                )
            key = json.dumps([prompt.server, prompt.name, len(self.by_key)])
            self.by_key[key] = prompt
            out.append(Row(key, ()))
        return out

    def line(self, key: str, width: int) -> Line:
        prompt = self.by_key.get(key)
        return prompt_row(prompt, width) if prompt is not None else ()

    def empty(self) -> str:
        return t("resources.nothing_found" if self.filter else "prompts.none")

    def details(self, key: str) -> list[Line]:
        prompt = self.by_key.get(key)
        if prompt is None:
            return []
        lines: list[Line] = [[(f"/{clean(prompt.command, newlines=False)}", "accent")]]
        if about := prompt.description or prompt.title:
            lines.append([(clean(about, newlines=False)[:400], "muted")])
        return lines

    def pick(self, key: str) -> None:
        # Used by who opened the sheet: what a screen asks while it goes away is never answered.
        if key in self.by_key:
            self.dismiss(key)

    def do(self, what: str) -> None:
        prompt = self.by_key.get(self.list.current)
        if what == "look" and prompt is not None:
            self.app.push_screen(TextScreen(clean(prompt.name, newlines=False), prompt_lines(prompt)))
        elif what == "try" and prompt is not None:
            self.offers.look_at(prompt)
        elif what not in ("look", "try"):
            super().do(what)
