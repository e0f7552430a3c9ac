"""The resources sheet: what servers list, to look at, attach and watch; and the view of one resource.

Lists are read when the sheet opens, contents only on a key. Not here: attaching and reading (core).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import LABEL
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.screens.once import OnceModal
from hel_tui.tui.screens.picker import Picker, PickerList, foot_line
from hel_tui.tui.screens.sheets import keys_lines
from hel_tui.tui.screens.text import KeysScreen
from hel_tui.tui.sizes import size_text
from hel_tui.tui.strings import t
from hel_tui.tui.text.lines import MUTED, Ink, wrap
from hel_tui.tui.text.resource import content_layout
from hel_tui.tui.widgets.lines import Caption, Line, Part, pad, spread
from hel_tui.tui.widgets.rows import Row
from hel_tui.tui.widgets.rows_view import RowsView

if TYPE_CHECKING:
    from hel_tui.tui.screens.offers import Offers


def resource_row(row: p.ResourceRow, width: int, words: list[str]) -> list[Part]:
    """One line: a glyph, the name, the address, and at the right its kind, size and what is true of it."""
    name, uri = clean(row.name or row.uri, newlines=False), clean(row.uri, newlines=False)
    facts = [clean(row.mime, newlines=False)[:40], size_text(row.size), *words]
    right: list[Part] = [(" " + " · ".join(fact for fact in facts if fact) + " ", "muted")]
    glyph: Part = (" ⋯ ", "accent") if row.template else (" ▤ ", "muted")
    left: list[Part] = [glyph, (pad(name, max(min(width // 3, 28), 6)) + " ", "")]
    if uri != name:
        left.append((uri, "muted"))
    return spread(left, right, width)


class ResourceList(PickerList):
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("resources")

    def action_look(self) -> None:
        self.post_message(self.Wish("look"))

    def action_watch(self) -> None:
        self.post_message(self.Wish("watch"))

    def action_again(self) -> None:
        self.post_message(self.Wish("again"))


class ResourcesScreen(Picker):
    """Enter attaches, `v` looks at it, `w` watches; a template asks for its variables first."""

    parts = ("resources", "picker", "list")
    foot = (
        ("list.open", "short.resources.attach"),
        ("resources.look", "short.resources.look"),
        ("resources.watch", "short.resources.watch"),
        ("picker.filter", "short.picker.filter"),
        ("resources.again", "short.resources.again"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, offers: Offers) -> None:
        super().__init__(t("resources.title"), ResourceList())
        self.offers = offers
        self.by_key: dict[str, p.ResourceRow] = {}

    def rows(self) -> list[Row]:
        self.by_key = {}
        listed: dict[str, list[p.ResourceRow]] = {server: [] for server in self.offers.servers()}
        for row in self.offers.resources():
            listed.setdefault(row.server, []).append(row)
        out: list[Row] = []
        for server, rows in listed.items():
            found = [row for row in rows if not self.filter or self.filter in _searched(row)]
            if not found and (self.filter or server not in self.offers.servers()):
                continue
            note = "" if rows else t("resources.none" if self.offers.has_listed else "resources.reading")
            head: Line = [(f" {clean(server, newlines=False)}", "strong"), (f"  {note}", "muted")]
            out.append(Row(f"server {server}", head, live=False))
            for row in found:
                key = json.dumps([row.server, row.uri, row.template, len(self.by_key)])
                self.by_key[key] = row
                out.append(Row(key, ()))
        return out

    def line(self, key: str, width: int) -> Line:
        row = self.by_key.get(key)
        return resource_row(row, width, self.offers.words(row)) if row is not None else ()

    def empty(self) -> str:
        return t("resources.nothing_found" if self.filter else "resources.no_servers")

    def details(self, key: str) -> list[Line]:
        row = self.by_key.get(key)
        if row is None:
            return []
        lines: list[Line] = [[(clean(row.uri, newlines=False)[:1_000], "accent")]]
        if row.description:
            lines.append([(clean(row.description, newlines=False)[:400], "muted")])
        if row.template:
            hint = t("resources.template_first", key=keymap.label("resources.look"))
            lines.append([(hint, "muted")])
        return lines

    def pick(self, key: str) -> None:
        if row := self.by_key.get(key):
            self.offers.with_uri(row, lambda uri: self.offers.attach(row.server, uri))

    def do(self, what: str) -> None:
        row = self.by_key.get(self.list.current)
        match what:
            case "again":
                self.offers.list_all()
            case "look" if row is not None:
                self.offers.with_uri(row, lambda uri: self.offers.look(row.server, uri, row.name))
            case "watch" if row is not None and not row.template:
                self.offers.watch(row.server, row.uri)
            case "look" | "watch":
                pass
            case _:
                super().do(what)


def _searched(row: p.ResourceRow) -> str:
    return f"{row.server} {row.name} {row.uri} {row.description} {row.mime}".casefold()


_VIEWER_KEYS = ("attach", "watch", "copy", "again", "close")


class ViewerScreen(OnceModal[str]):
    """One resource as it reads. Scrolls; keys attach, watch, copy, read again."""

    AUTO_FOCUS = ""

    def __init__(self, offers: Offers, server: str, uri: str, name: str = "") -> None:
        super().__init__()
        self.offers, self.server, self.uri, self.title_name = offers, server, uri, name
        self.contents: tuple[p.ResourceContent, ...] = ()
        self.view = RowsView()
        self.view.show(lambda width: wrap([(t("resource.reading"), MUTED)], width))
        self.state = Caption()

    def compose(self) -> ComposeResult:
        name = clean(self.title_name or self.uri, newlines=False)
        with Vertical(classes="dialog sheet viewer"):
            yield Caption([(f" {cut(name, 60)}", "strong")])
            yield Caption(self._source())
            yield self.view
            yield self.state
            yield Caption(foot_line((f"viewer.{name}", f"short.viewer.{name}") for name in _VIEWER_KEYS))

    def _source(self) -> Line:
        server, uri = clean(self.server, newlines=False), clean(self.uri, newlines=False)
        return [(f" {t('resources.from')} ", LABEL), (server, "accent"), (f"  {uri}", "muted")]

    def on_mount(self) -> None:
        self.tell()

    def tell(self) -> None:
        """The line below the text: what kind it is, and what is true of the resource."""
        words = self.offers.words_of(self.server, self.uri)
        first = self.contents[0] if self.contents else None
        facts = [clean(first.mime, newlines=False), size_text(first.size)] if first else []
        self.state.say([(" " + " · ".join(fact for fact in [*facts, *words] if fact), "muted")])

    def got(self, read: p.ResourceRead) -> None:
        """The content came, or why it did not."""
        if read.problem:
            problem = clean(read.problem)
            self.contents = ()
            self.view.show(lambda width: wrap([(problem, Ink("error"))], width))
        else:
            self.contents = contents = self.offers.content(self.server, self.uri)
            if contents:
                self.view.show(content_layout(contents))
            else:
                self.view.show(lambda width: wrap([(t("resource.gone"), MUTED)], width))
        self.tell()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key in keymap.keys("app.keys"):
            self.app.push_screen(KeysScreen(keys_lines(["viewer"])))
            return
        match keymap.by_key("viewer").get(event.key):
            case "attach":
                self.offers.attach(self.server, self.uri)
            case "watch":
                self.offers.watch(self.server, self.uri)
            case "copy":
                self.offers.copy("\n\n".join(content.text for content in self.contents if content.text))
            case "again":
                self.offers.read(self.server, self.uri)
            case "close":
                self.dismiss("")
            case _ if event.key == "ctrl+c":
                self.dismiss("")
            case _:
                self.view.scroll_key(event.key)
