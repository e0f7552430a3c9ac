"""The sheet of models: who was asked, what each has, one to pick. Not here: asking them (core)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean
from hel_tui.tui.screens.picker import Picker, PickerList
from hel_tui.tui.strings import t
from hel_tui.tui.text.figures import dollars, short_tokens
from hel_tui.tui.widgets.lines import Line, Part, spread
from hel_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

WINDOW_WIDTH = 6
PRICE_WIDTH = 15


def model_row(row: p.ModelRow, width: int, *, now: bool, whole: bool = False) -> list[Part]:
    """One line: its name, what it can, its window, its price. `whole`: with the provider before the name."""
    name = clean(row.label if whole else row.name, newlines=False)
    words: list[Part] = []
    for word, on, style in (
        ("models.loaded", row.loaded is True, "accent"),
        ("models.no_tools", row.tools is False, "warn"),
        ("models.sees", row.sees is True, "muted"),
        ("models.thinks", row.thinks is True, "muted"),
    ):
        words += [(f" {t(word)}", style)] if on else []
    price = ""
    if row.input_price is not None and row.output_price is not None:
        price = f"${dollars(row.input_price)}/{dollars(row.output_price)}"
    right: list[Part] = [(f" {short_tokens(row.window):>{WINDOW_WIDTH}}", "muted")]
    if width >= 70:
        right = [*words, *right, (f" {price:>{PRICE_WIDTH}} ", "muted")]
    left: list[Part] = [(" ● " if now else "   ", "accent"), (name, "strong" if now else "")]
    return spread(left, right, width)


def provider_line(row: p.ProviderRow) -> list[Part]:
    """The head of a provider: its name, where its key comes from, how asking it went."""
    where = t("models.local") if row.is_local else clean(row.key or row.base_url, newlines=False)
    parts: list[Part] = [(f" {clean(row.provider, newlines=False)}", "strong"), (f"  {where}", "muted")]
    if row.waiting:
        return [*parts, (f" · {t('models.waiting')}", "muted")]
    if row.problem:
        return [*parts, (f" · {clean(row.problem, newlines=False)}", "warn")]
    return [*parts, (f" · {t('models.count', n=row.models)}", "muted")]


def model_lines(row: p.ModelRow, effort: str, *, now: bool) -> list[Line]:
    """A model in full."""
    facts = [
        t("models.window", n=f"{row.window:,}") if row.window else "",
        t("models.answer", n=f"{row.max_output:,}") if row.max_output else "",
        {True: t("models.takes_images"), False: t("models.no_images"), None: ""}[row.sees],
        t("models.takes_no_tools") if row.tools is False else _calls_in(row),
    ]
    price = t("models.free" if row.is_local else "models.no_price")
    if row.input_price is not None and row.output_price is not None:
        cached = row.input_price if row.cached_price is None else row.cached_price
        price = t(
            "models.price",
            input=dollars(row.input_price),
            cached=dollars(cached),
            output=dollars(row.output_price),
        )
    head: list[Part] = [(clean(row.label, newlines=False), "accent")]
    head += [(f"  {t('models.now')}", "muted")] if now else []
    lines: list[Line] = [head, [(" · ".join(filter(None, facts)), "")], [(price, "muted")]]
    if row.efforts:
        word = effort or t("models.effort_own")
        lines.append([(t("models.effort_of", effort=word, all=", ".join(row.efforts)), "")])
    if row.base_url:
        lines.append([(clean(row.base_url, newlines=False), "muted")])
    return lines


def _calls_in(row: p.ModelRow) -> str:
    return {True: t("models.parallel"), False: t("models.one_call"), None: ""}[row.parallel]


class ModelPickerList(PickerList):
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("models")

    def action_effort(self) -> None:
        self.post_message(self.Wish("effort"))

    def action_again(self) -> None:
        self.post_message(self.Wish("again"))


class ModelsScreen(Picker):
    """Enter switches to the marked model, `e` goes through its efforts."""

    parts = ("models", "picker", "list")
    foot = (
        ("list.open", "short.models.use"),
        ("models.effort", "short.models.effort"),
        ("models.again", "short.models.again"),
        ("picker.filter", "short.picker.filter"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, hel: HelApp) -> None:
        super().__init__(t("models.title"), ModelPickerList())
        self.id = "models"
        self.hel = hel
        self.by_key: dict[str, p.ModelRow] = {}
        self.heads: dict[str, p.ProviderRow] = {}
        self.efforts: dict[str, str] = {}
        """Chosen here, by key of the model."""

    def on_mount(self) -> None:
        super().on_mount()
        self.hel.send(p.ListModels())

    def rows(self) -> list[Row]:
        told = self.hel.core.models()
        self.by_key = {}
        recent = [row for row in told.models if row.recent and self._fits(row)]
        out: list[Row] = []
        if (now := self._unlisted(told)) is not None and self._fits(now):
            out.append(Row("head now", [(f" {t('models.unlisted')}", "strong")], live=False))
            out.append(self._row(now, "now"))
        if recent:
            out.append(Row("head recent", [(f" {t('models.recent')}", "strong")], live=False))
            out += [self._row(row, "recent") for row in recent]
        for provider in told.providers:
            rows = [
                row
                for row in told.models
                if row.provider == provider.provider
                and row.base_url in ("", provider.base_url)
                and self._fits(row)
            ]
            if not rows and self.filter:
                continue
            head = f"head {provider.provider} {provider.base_url}"
            out.append(Row(head, provider_line(provider), live=False))
            out += [self._row(row, provider.base_url) for row in rows]
        if out and not told.providers:
            out.append(Row("head none", [(f" {t('models.none')}", "muted")], live=False))
        return out

    def _unlisted(self, told: p.ModelList) -> p.ModelRow | None:
        """The model that answers now, where nobody lists it."""
        model = self.hel.bridge.state.model
        provider, _, name = model.label.partition("/")
        if not name or any(row.label == model.label for row in told.models):
            return None
        return p.ModelRow(provider, name, window=model.window, sees=model.sees, efforts=model.efforts)

    def _fits(self, row: p.ModelRow) -> bool:
        return all(word in row.label.casefold() for word in self.filter.split())

    def _row(self, row: p.ModelRow, group: str) -> Row:
        key = json.dumps([group, row.label, row.base_url])
        self.by_key[key] = row
        return Row(key, ())

    def line(self, key: str, width: int) -> Line:
        row = self.by_key.get(key)
        if row is None:
            return ()
        return model_row(row, width, now=self._is_now(row), whole=key.startswith(('["recent"', '["now"')))

    def _is_now(self, row: p.ModelRow) -> bool:
        return row.label == self.hel.bridge.state.model.label

    def empty(self) -> str:
        return t("models.nothing_found" if self.filter else "models.none")

    def details(self, key: str) -> list[Line]:
        row = self.by_key.get(key)
        if row is None:
            return []
        return model_lines(row, self._effort(key), now=self._is_now(row))

    def _effort(self, key: str) -> str:
        return self.efforts.get(key, self.hel.bridge.state.model.effort)

    def pick(self, key: str) -> None:
        row = self.by_key.get(key)
        if row is None:
            return
        if not self._is_now(row):
            self.hel.send(p.SetModel(row.label, row.base_url or None))
        if key in self.efforts:
            self.hel.send(p.SetEffort(self.efforts[key]))
        self.dismiss(key)

    def do(self, what: str) -> None:
        row = self.by_key.get(self.list.current)
        if what == "again":
            self.hel.send(p.ListModels(again=True))
        elif what == "effort" and row is not None and not row.efforts:
            self.hel.say(t("effort.no_choice"), "warning")
        elif what == "effort" and row is not None:
            choices = ["", *row.efforts]
            now = self._effort(self.list.current)
            at = choices.index(now) if now in choices else 0
            self.efforts[self.list.current] = choices[(at + 1) % len(choices)]
            self._describe()
        elif what != "effort":
            super().do(what)
