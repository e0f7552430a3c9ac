"""The form of a call: rows with a cursor, and one cell that is typed in where its row stands.

However large the form, there are two widgets. Not here: what a row says (rows), sending (screen).
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from hel_tui.forms.checks import Flaw
from hel_tui.forms.node import Node, Path, value_of, written
from hel_tui.forms.spec import MISSING
from hel_tui.forms.tree import Form
from hel_tui.tui.safe import clean, is_clean
from hel_tui.tui.screens.call.cells import JUMP, Cell, FormRows
from hel_tui.tui.screens.call.rows import (
    Layout,
    Place,
    face,
    is_container,
    is_written,
    label_width,
    place_line,
    value_column,
)
from hel_tui.tui.widgets.lines import Line
from hel_tui.tui.widgets.rows import Row, RowList


class FormView(Container):
    """A form that is filled in by keys."""

    DEFAULT_CSS = """
    FormView { layers: base over; height: 1fr; }
    """

    class Changed(Message):
        """A value is another one now."""

    class Moved(Message):
        """The cursor is elsewhere."""

    def __init__(self, form: Form) -> None:
        super().__init__(id="call-form")
        self.form = form
        self.layout_of = Layout(form)
        self.flaws: dict[Path, list[Flaw]] = {}
        self.rows = FormRows(self.line, self.place_cell)
        self.cell = Cell("")
        self._places: dict[str, Place] = {}
        self._labels = 4
        self._typing: tuple[Node, str] | None = None
        """The node that is typed in, and what for: `value`, `json` or `name`."""

    def compose(self) -> ComposeResult:
        yield self.rows
        yield self.cell

    def on_mount(self) -> None:
        self.draw()

    def use(self, form: Form) -> None:
        """Show another form, such as one that came out of JSON."""
        self.form = form
        self.layout_of = Layout(form)
        self._end_typing()
        self.draw()

    def show_flaws(self, flaws: Iterable[Flaw]) -> None:
        """Say at each place what is wrong; what has no place of its own is said at the nearest."""
        self.flaws = {}
        for flaw in flaws:
            node = self.form.find(flaw.path)
            for above in self._above(node):
                self._unfold(above)
            self.flaws.setdefault(node.path, []).append(flaw)
        self.draw()

    def go_to(self, path: Path) -> None:
        """Put the cursor at a place."""
        node = self.form.find(path)
        for above in self._above(node):
            self._unfold(above)
        self.draw()
        found = next(
            (p for p in self._places.values() if p.what == "node" and p.node.path == node.path), None
        )
        if found is not None:
            self.rows.select(found.key)

    def draw(self) -> None:
        """Make the rows anew."""
        places = self.layout_of.places(self.flaws)
        self._places = {place.key: place for place in places}
        self._labels = label_width(places, self.rows.size.width or 60)
        self.rows.touched = True
        self.rows.show([Row(place.key, (), place.what != "flaw") for place in places])
        self.rows.refresh()
        self.place_cell()

    def line(self, key: str, width: int) -> Line:
        place = self._places.get(key)
        if place is None:
            return ()
        return place_line(place, self._labels, width, self.layout_of, self.flaws)

    @property
    def current(self) -> Place | None:
        """What the cursor is on."""
        return self._places.get(self.rows.current)

    # ------------------------------------------------------------------- typing

    @property
    def is_typing(self) -> bool:
        return self._typing is not None

    def begin(self) -> None:
        """Type at once where the first value is needed; else wait at the rows."""
        self.rows.focus()
        if (place := self._first_needed()) is not None:
            self.rows.select(place.key)
            if is_written(place.node):
                self.type_in(place.node)

    def _first_needed(self, start: int = 0) -> Place | None:
        """The first place from a row on that is needed and not filled in."""
        return next(
            (
                place
                for place in list(self._places.values())[start:]
                if place.what == "node" and place.node.required and value_of(place.node) is MISSING
            ),
            None,
        )

    def type_in(self, node: Node, what: str = "value") -> None:
        """Open the cell on the row under the cursor."""
        inner = face(node)
        match what:
            case "name":
                text = str(node.key)
            case "json":
                value = value_of(node)
                text = "" if value is MISSING else written(value)
            case _:
                text = inner.text
        if not is_clean(text):
            what, text = "json", _escaped(node)
        self._typing = (node, what)
        self.cell.text = text
        self.cell.display = True
        self.place_cell()
        self.cell.move_cursor(self.cell.document.end)
        self.cell.focus()

    def place_cell(self) -> None:
        """Put the cell over its row."""
        place = self.current
        if self._typing is None or place is None:
            return
        left = value_column(place, self._labels) if self._typing[1] != "name" else 2 * place.depth + 3
        row = self.rows.cursor - self.rows.scroll_offset.y
        self.cell.styles.offset = (left, max(min(row, self.rows.size.height - 1), 0))
        self.cell.styles.width = max(self.rows.size.width - left - 1, 8)

    def commit(self) -> None:
        """Keep what is being typed."""
        if self._typing is None:
            return
        (node, what), text = self._typing, self.cell.text
        self._end_typing()
        inner = face(node)
        if what == "name":
            self.form.rename(node, text.strip())
        elif what == "json":
            if text.strip():
                if not self.form.as_raw(node, text):
                    inner.raw, inner.present = True, True
                    self.form.write(inner, text)
            else:
                self.form.leave_out(node)
        elif text or inner.present or inner.kind != "text":
            self.form.write(inner, text)
            if node is not inner:
                node.present = inner.present
        self.draw()
        self.post_message(self.Changed())

    def _end_typing(self) -> None:
        self._typing = None
        self.cell.display = False
        if self.cell.has_focus:
            self.rows.focus()

    @on(Cell.Done)
    def _typed(self, event: Cell.Done) -> None:
        event.stop()
        if not event.keep:
            self._end_typing()
            self.draw()
            return
        self.commit()
        if event.step:
            self._step(event.step)

    def _step(self, step: int) -> None:
        """To the next row; where its value is needed and typed, it is typed at once."""
        before = self.rows.cursor
        if step == JUMP:
            step, needed = 1, self._first_needed(before + 1)
            self.rows.move(before + 1 if needed is None else list(self._places).index(needed.key))
        else:
            self.rows.move(before + step, step)
        place = self.current
        if place is None or self.rows.cursor == before or place.what != "node":
            return
        if is_written(place.node) and place.node.required and value_of(place.node) is MISSING:
            self.type_in(place.node)

    # --------------------------------------------------------------------- keys

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        place = self.current
        if place is None:
            return
        match place.what:
            case "option":
                self._choose(place)
            case "grow":
                self._grow(place.node)
            case "node":
                self._open(place.node)

    def _open(self, node: Node) -> None:
        if face(node).kind == "union":
            self.form.add(node)
        inner = face(node)
        if is_written(node):
            self.draw()
            self.type_in(node)
        elif is_container(node) and inner.present:
            self.layout_of.turned ^= {id(inner)}
        elif not inner.present and inner.kind in ("object", "array", "null"):
            self.form.add(node)
            if node is not inner:
                inner.present = True
        elif inner.kind == "boolean":
            self.form.pick(inner, inner.picked + 1)
            node.present = True
        elif inner.kind == "choice":
            self._list_options(node)
            return
        self._changed()

    def _list_options(self, node: Node) -> None:
        """List the options or shapes of a place below it, or no longer."""
        layout = self.layout_of
        layout.choosing = None if layout.choosing is node else node
        self._changed()
        if layout.choosing is node:
            picked = node.picked if node.kind == "union" else face(node).picked
            self.rows.select(Place(node, "option", 0, max(picked, 0)).key)

    def _choose(self, place: Place) -> None:
        node = place.node if place.node.kind == "union" else face(place.node)
        self.form.pick(node, place.index)
        place.node.present = True
        self.layout_of.choosing = None
        self._changed()
        self.rows.select(Place(place.node, "node", 0).key)

    def _grow(self, node: Node) -> None:
        child = self.form.grow(node)
        if child is None:
            return
        self._unfold(node)
        self._changed()
        self.rows.select(Place(child, "node", 0).key)
        if child.extra:
            self.type_in(child, "name")
        elif is_written(child):
            self.type_in(child)

    @on(FormRows.Wish)
    def _wish(self, event: FormRows.Wish) -> None:
        event.stop()
        place = self.current
        if place is None or place.what == "flaw":
            return
        node, inner = place.node, face(place.node)
        match event.what:
            case "toggle":
                self._toggle(node, inner)
            case "leave_out" if place.what == "node":
                self.form.leave_out(node)
            case "new":
                grows = inner if inner.can_grow and inner.present else node.parent
                if grows is not None and grows.can_grow:
                    self._grow(grows)
                    return
            case "move" if self.form.move(node, event.step):
                self._changed()
                self.rows.select(Place(node, "node", 0).key)
                return
            case "turn":
                self._turn(node, inner, event.step)
            case "branch" if node.kind == "union":
                self._list_options(node)
                return
            case "json" if place.what == "node":
                self.type_in(node, "json")
                return
            case "name" if node.extra:
                self.type_in(node, "name")
                return
        self._changed()

    def _toggle(self, node: Node, inner: Node) -> None:
        """Space: put in what was left out, turn what has two states."""
        if value_of(node) is MISSING:
            self.form.add(node)
            inner = face(node)
            if inner.kind in ("boolean", "choice") and inner.picked < 0:
                self.form.pick(inner, 0)
            inner.present = node.present = True
        elif inner.kind in ("boolean", "choice"):
            self.form.pick(inner, inner.picked + 1)
        elif is_container(node):
            self.layout_of.turned ^= {id(inner)}

    def _turn(self, node: Node, inner: Node, step: int) -> None:
        """Left and right: the next option, or the next shape."""
        if node.kind == "union":
            self.form.pick(node, node.picked + step)
        elif inner.kind in ("boolean", "choice"):
            self.form.pick(inner, inner.picked + step if inner.picked >= 0 else 0)

    def _changed(self) -> None:
        self.draw()
        self.post_message(self.Changed())

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self.post_message(self.Moved())

    def _unfold(self, node: Node) -> None:
        if is_container(node) and not self.layout_of.is_open(node):
            self.layout_of.turned ^= {id(face(node))}

    @staticmethod
    def _above(node: Node) -> list[Node]:
        above: list[Node] = []
        while node.parent is not None:
            node = node.parent
            above.append(node)
        return above

    def on_resize(self) -> None:
        self.draw()


def _escaped(node: Node) -> str:
    """A value as JSON of plain characters: what a terminal would not take is written as escapes."""
    import json

    value = value_of(node)
    return clean(json.dumps(None if value is MISSING else value, indent=2))
