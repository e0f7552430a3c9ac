"""The rows of a form: which places are on the screen, and what a line says of each.

Lines are made when they are drawn: a form of a thousand fields costs a frame no more than ten. Not here:
the form itself (forms), moving and editing (form_view).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from rich.cells import cell_len

from hel_tui.core.values import dataclass
from hel_tui.forms.checks import Flaw
from hel_tui.forms.node import Node, Path, value_of
from hel_tui.forms.spec import MISSING, Spec
from hel_tui.forms.tree import Form
from hel_tui.forms.values import short_number
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad, width_of

What = Literal["node", "option", "grow", "flaw"]
LABEL_MOST = 26
MANY = 60
"""Places in one object or list from which it begins folded."""
BRIEF = 300
"""Characters of a value that are looked at for its line."""


@dataclass(frozen=True, slots=True)
class Place:
    """One row."""

    node: Node
    what: What
    depth: int
    index: int = 0
    """Of an option: which. Of a flaw: which of those at its place."""

    @property
    def key(self) -> str:
        return f"{id(self.node)} {self.what} {self.index}"


def face(node: Node) -> Node:
    """The node that is filled in where `node` stands: behind unions, what was chosen."""
    while (branch := node.branch) is not None:
        node = branch
    return node


def is_container(node: Node) -> bool:
    return face(node).kind in ("object", "array")


def is_written(node: Node) -> bool:
    """Whether it is filled in by typing."""
    return face(node).kind in ("text", "number", "integer", "any")


class Layout:
    """What is unfolded, and so which rows there are."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.turned: set[int] = set()
        """Containers that the person folded or unfolded, by `id`."""
        self.choosing: Node | None = None
        """The place whose options are listed."""

    def is_open(self, node: Node) -> bool:
        """Whether what is in a container is listed."""
        inner = face(node)
        return (len(inner.children) <= MANY or node is self.form.root) != (id(inner) in self.turned)

    def places(self, flaws: Mapping[Path, list[Flaw]]) -> list[Place]:
        """All rows, top to bottom."""
        root = self.form.root
        places: list[Place] = []
        if face(root).kind == "object" and root.kind == "object":
            told: set[Path] = set()
            places += self._flaws(root, 0, flaws, told)
            for child in root.children:
                places += self._of(child, 0, flaws, told)
            if root.spec.invites:
                places.append(Place(root, "grow", 0))
            return places
        return list(self._of(root, 0, flaws, set()))

    def _of(
        self, node: Node, depth: int, flaws: Mapping[Path, list[Flaw]], told: set[Path]
    ) -> Iterator[Place]:
        yield Place(node, "node", depth)
        yield from self._flaws(node, depth + 1, flaws, told)
        if node is self.choosing:
            options = node.spec.branches if node.kind == "union" else face(node).spec.options
            for index in range(len(options)):
                yield Place(node, "option", depth + 1, index)
        inner = face(node)
        if not inner.present or inner.kind not in ("object", "array") or not self.is_open(node):
            return
        for child in inner.children:
            yield from self._of(child, depth + 1, flaws, told)
        if inner.can_grow and (inner.kind == "array" or inner.spec.invites):
            yield Place(inner, "grow", depth + 1)

    @staticmethod
    def _flaws(node: Node, depth: int, flaws: Mapping[Path, list[Flaw]], told: set[Path]) -> Iterator[Place]:
        path = node.path
        if path not in told:
            told.add(path)
            for index in range(len(flaws.get(path, ()))):
                yield Place(node, "flaw", depth, index)


# ------------------------------------------------------------------------ lines


def label_width(places: Collection[Place], width: int) -> int:
    """Cells of the column of names."""
    longest = max((cell_len(_label(place.node)) for place in places if place.what == "node"), default=4)
    return min(max(longest, 4), LABEL_MOST, max(width // 3, 6))


def value_column(place: Place, labels: int) -> int:
    """The cell where the value of a row begins."""
    return 2 * place.depth + 3 + labels + 1


def place_line(
    place: Place, labels: int, width: int, layout: Layout, flaws: Mapping[Path, list[Flaw]]
) -> Line:
    """What a row says."""
    indent = "  " * place.depth
    match place.what:
        case "flaw":
            flaw = flaws[place.node.path][place.index]
            sign, style = ("▲ ", "warn") if flaw.soft else ("✗ ", "bad")
            return [(f"{indent} {sign}", style), (flaw_text(flaw), style)]
        case "grow":
            word = "call.add_item" if place.node.kind == "array" else "call.add_property"
            return [(f"{indent} + ", "accent"), (t(word), "muted")]
        case "option":
            return _option_line(place, indent)
    return _node_line(place, indent, labels, width, layout, bool(flaws.get(place.node.path)))


def _option_line(place: Place, indent: str) -> Line:
    node = place.node
    if node.kind == "union":
        branch = node.spec.branches[place.index]
        sign = "(•) " if place.index == node.picked else "( ) "
        return [(f"{indent} {sign}", ""), (_one(branch.label), "")]
    inner = face(node)
    sign = "(•) " if place.index == inner.picked else "( ) "
    label = inner.spec.labels[place.index] if place.index < len(inner.spec.labels) else ""
    parts: list[Part] = [(f"{indent} {sign}", ""), (_brief(inner.spec.options[place.index]), "")]
    return [*parts, (f"  {_one(label)}", "muted")] if label else parts


def _node_line(place: Place, indent: str, labels: int, width: int, layout: Layout, flawed: bool) -> Line:
    node, inner = place.node, face(place.node)
    needed = node.required and value_of(node) is MISSING
    sign, style = (
        ("✗", "bad")
        if flawed
        else ("!", "warn")
        if needed
        else ("•", "ok")
        if _is_in(node)
        else ("·", "muted")
    )
    if is_container(node) and inner.present:
        sign, style = ("▾" if layout.is_open(node) else "▸"), ("bad" if flawed else "accent")
    left: list[Part] = [
        (f"{indent} {sign} ", style),
        (pad(_label(node), labels), "" if _is_in(node) or node.required else "muted"),
        (" ", ""),
        *_value(node),
    ]
    right = f" {type_text(node)} "
    room = width - width_of(left) - cell_len(right)
    if room >= 0:
        return [*left, (" " * room, ""), (right, "muted")]
    return left


def _is_in(node: Node) -> bool:
    return value_of(node) is not MISSING


def _label(node: Node) -> str:
    if node.parent is None:
        return t("call.arguments")
    if node.is_item:
        return f"[{node.key}]"
    return cut(_one(str(node.key)), LABEL_MOST - 2) + (" *" if node.required else "")


def _value(node: Node) -> list[Part]:
    """What stands in a place, in short."""
    inner = face(node)
    branch: list[Part] = []
    if node.kind == "union" and node.branch is not None and _is_in(node):
        branch = [(f"‹{cut(_one(node.spec.branches[node.picked].label), 24)}› ", "accent")]
    if not inner.present or (node.kind != "union" and not node.present):
        return _absent(node)
    match inner.kind:
        case "object":
            count = len([child for child in inner.children if _is_in(child)])
            return [*branch, ("{" + t("call.fields", n=count) + "}", "muted")]
        case "array":
            return [*branch, ("[" + t("call.items", n=len(inner.children)) + "]", "muted")]
        case "null":
            return [*branch, ("null", "")] if not branch else [("null", "")]
        case "choice":
            return [*branch, (_brief(inner.spec.options[inner.picked]) if inner.picked >= 0 else "–", "")]
        case "boolean":
            return [*branch, (("true" if inner.picked else "false") if inner.picked >= 0 else "–", "")]
        case "text" if inner.spec.secret:
            return [*branch, ("•" * min(len(inner.text), 12) or '""', "")]
        case "text":
            return [*branch, (_one(inner.text), "")] if inner.text else [*branch, ('""', "muted")]
        case "any":
            return [*branch, (_one(" ".join(inner.text[:BRIEF].split())), "")]
    return [*branch, (_one(inner.text), "")]


def _absent(node: Node) -> list[Part]:
    if node.required:
        return [(t("call.needed"), "warn")]
    default = node.spec.default
    if default is not MISSING and default is not None:
        return [(t("call.default", value=cut(_brief(default), 40)), "muted")]
    return [("–", "muted")]


def _one(text: str) -> str:
    return clean(text[:BRIEF], newlines=False)


def _brief(value: Any) -> str:
    """A JSON value on one line; a text without its quotes where it is plain."""
    if isinstance(value, str) and value and value == value.strip():
        return _one(value)
    try:
        return _one(json.dumps(value, ensure_ascii=False)[:BRIEF])
    except (TypeError, ValueError, RecursionError):
        return "…"


# ------------------------------------------------------------------------ words


def type_text(node: Node) -> str:
    """What kind of value a place takes, in a few words."""
    spec = face(node).spec
    word = t(f"call.is_{face(node).kind}")
    if spec.kind == "text" and spec.format and not node.raw:
        word = _one(spec.format)[:24]
    if spec.kind == "choice":
        word = t("call.one_of", n=len(spec.options))
    if node.kind == "union" and node.branch is None:
        word = cut(" | ".join(_one(branch.label) for branch in node.spec.branches), 28)
    elif node.kind == "union" and len(node.spec.branches) > 1:
        word = f"{word} {node.picked + 1 if node.picked >= 0 else '–'}/{len(node.spec.branches)}"
    bounds = _bounds(spec)
    notes = [word + (f" {bounds}" if bounds else "")]
    if node.spec.deprecated:
        notes.append(t("call.deprecated"))
    if node.spec.read_only:
        notes.append(t("call.read_only"))
    return " · ".join(notes)


def _bounds(spec: Spec) -> str:
    limits = dict(spec.limits)
    low, high = limits.get("minimum"), limits.get("maximum")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return f"{short_number(low)}–{short_number(high)}"
    if isinstance(low, int | float):
        return f"≥ {short_number(low)}"
    return f"≤ {short_number(high)}" if isinstance(high, int | float) else ""


def flaw_text(flaw: Flaw) -> str:
    """A flaw in the language of the screen."""
    if flaw.kind == "other":
        return _one(flaw.message)
    return t(f"flaw.{flaw.kind}", limit=_one(flaw.limit))


def about_lines(node: Node) -> list[Line]:
    """What the schema says of a place, beyond its row: title, words, limits, examples, default."""
    lines: list[Line] = []
    spec = node.spec if node.spec.description or node.kind != "union" else face(node).spec
    title = _one(spec.title)
    if title and title != str(node.key):
        lines.append([(title, "strong")])
    if spec.description:
        lines.append([(clean(spec.description[:2_000], newlines=False), "muted")])
    facts = [f"{name} {_brief(value)}" for name, value in face(node).spec.limits]
    if facts:
        lines.append([(_one(" · ".join(facts)), "muted")])
    if spec.examples:
        told = ", ".join(cut(_brief(one), 60) for one in spec.examples)
        lines.append([(t("call.examples", values=told), "muted")])
    if spec.default is not MISSING:
        lines.append([(t("call.default", value=cut(_brief(spec.default), 120)), "muted")])
    return lines
