"""The prompts sheet: what servers offer to begin with. Not here: asking for arguments (offers)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hel_tui.core import protocol as p
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.picker import Picker, PickerList
from hel_tui.tui.strings import t
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


class PromptsScreen(Picker):
    """Enter uses the marked prompt."""

    foot = (
        ("list.open", "short.prompts.use"),
        ("picker.filter", "short.picker.filter"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, offers: Offers) -> None:
        super().__init__(t("prompts.title"), PickerList())
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
        if prompt := self.by_key.get(key):
            self.dismiss("")
            self.offers.use(prompt)
