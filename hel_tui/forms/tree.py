"""A form as a tree: one node for each place of a value, made from a schema, filled by hand or from JSON.

Nodes of what is left out have no children, so a schema that contains itself unfolds as far as it is used.
What a place cannot show stays in it as raw JSON: from arguments to a form and back nothing is lost. Not
here: what the schema says (spec), one place (node), whether a value fits (checks).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hel_tui.forms.node import BadJson, Node, Path, fits, place_among, read_json, value_of, written
from hel_tui.forms.patterns import matches
from hel_tui.forms.spec import MISSING, Spec, spec_of
from hel_tui.forms.values import Problem, number_text

MOST_AT_ONCE = 1_000
"""Nodes that are made by themselves, for what is required; beyond, a place is raw JSON."""
DEEPEST = 40
"""Levels of a form; what lies deeper is raw JSON."""
DEEPEST_ALONE = 8
"""Levels that unfold by themselves."""
MOST_FIRST = 5
"""Items that a list with a least number begins with."""


class Form:
    """The arguments of one tool."""

    def __init__(self, schema: Any, value: Any = MISSING) -> None:
        """From a schema; it is filled with `value`, else with defaults of what is required."""
        self.schema = schema
        self._budget = MOST_AT_ONCE
        self.root = self._node("", schema, required=True)
        self.root.present = True
        self.load(value)

    def load(self, value: Any) -> None:
        """Fill it with a value, or begin anew."""
        self._budget = MOST_AT_ONCE
        if value is MISSING:
            self._begin(self.root)
        else:
            self._fill(self.root, value)

    # ------------------------------------------------------------------ by hand

    def add(self, node: Node) -> Node:
        """Make what was left out part of the value, with its default or what it requires."""
        if not node.present:
            self._budget = MOST_AT_ONCE
            self._begin(node)
            node.present = True
        return node

    def leave_out(self, node: Node) -> None:
        """Take a place out of the value. An item or a property the schema does not name is gone then."""
        parent = node.parent
        if parent is None:
            return
        if node.extra or node.is_item:
            parent.children.remove(node)
            _renumber(parent)
            if parent.kind == "array":
                self._reread_items(parent)
            return
        node.present, node.text, node.raw, node.picked = False, "", False, -1
        node.children.clear()

    def grow(self, node: Node, name: str = "") -> Node | None:
        """Add an item to a list, or a property by name to an object; None where that cannot be."""
        self._budget = MOST_AT_ONCE
        if not node.can_grow:
            return None
        self.add(node)
        if node.kind == "array":
            child = self._item(node, len(node.children))
        else:
            name = name or _fresh(node)
            if any(child.key == name for child in node.children):
                return None
            child = self._extra(node, name)
        node.children.append(child)
        self._begin(child)
        child.present = child.kind not in ("text", "number", "integer", "boolean", "choice", "any")
        return child

    def move(self, node: Node, step: int) -> bool:
        """Move an item of a list; says whether there was room."""
        parent = node.parent
        if parent is None or not node.is_item:
            return False
        at = parent.children.index(node)
        if not 0 <= at + step < len(parent.children):
            return False
        parent.children.insert(at + step, parent.children.pop(at))
        _renumber(parent)
        self._reread_items(parent)
        return True

    def rename(self, node: Node, name: str) -> bool:
        """Give another name to a property that the schema does not name."""
        parent = node.parent
        if parent is None or not node.extra or any(one.key == name for one in parent.children):
            return False
        value = value_of(node)
        at = parent.children.index(node)
        renamed = parent.children[at] = self._extra(parent, name)
        if value is not MISSING:
            self._fill(renamed, value)
        return True

    def pick(self, node: Node, index: int) -> None:
        """Choose an option or a branch. A new branch takes over what fits of the old one."""
        if node.kind == "choice":
            node.picked, node.present = index % max(len(node.spec.options), 1), True
        elif node.kind == "boolean":
            node.picked, node.present = index % 2, True
        elif node.kind == "union" and node.spec.branches:
            before = value_of(node)
            self._budget = MOST_AT_ONCE
            self._branch(node, index % len(node.spec.branches))
            node.present = True
            child = node.children[0]
            self._begin(child)
            child.present = child.kind in ("object", "array", "null", "union") or child.present
            self._carry(child, before)

    def write(self, node: Node, text: str) -> None:
        """What was typed into a field. Of a number, nothing typed is nothing sent."""
        node.text = text
        node.present = bool(text.strip()) or node.kind == "text"

    def as_raw(self, node: Node, text: str) -> bool:
        """Put JSON into a place; False when it is none. What the place can show it shows."""
        value = read_json(text)
        if isinstance(value, BadJson):
            return False
        self._budget = MOST_AT_ONCE
        self._fill(node, value)
        return True

    def quote_unread(self) -> None:
        """What cannot be read as what it should be becomes a JSON text, so that it is not lost."""
        unread: list[tuple[Node, Problem]] = []
        value_of(self.root, unread)
        for node, problem in unread:
            if problem.kind != "required":
                node.raw, node.text = True, written(node.text)

    def find(self, path: Path) -> Node:
        """The node at a path, or the nearest one above it."""
        node = self.root
        for step in path:
            while (branch := node.branch) is not None:
                node = branch
            found = next((child for child in node.children if child.key == step), None)
            if found is None:
                break
            node = found
        return node

    # ----------------------------------------------------------------- building

    def _node(
        self, key: str | int, schema: Any, *, required: bool = False, parent: Node | None = None
    ) -> Node:
        return Node(key, schema, spec_of(schema, self.schema), required, parent)

    def _item(self, node: Node, at: int) -> Node:
        spec = node.spec
        schema = spec.prefix[at] if at < len(spec.prefix) else spec.items
        return self._node(at, {} if schema is None else schema, required=True, parent=node)

    def _extra(self, node: Node, name: str) -> Node:
        spec = node.spec
        schema = next((one for pattern, one in spec.patterns.items() if matches(pattern, name)), spec.extra)
        child = self._node(name, {} if schema is None else schema, parent=node)
        child.extra = True
        return child

    def _reread_items(self, node: Node) -> None:
        """Items of a tuple that changed their place follow the schema of the new one."""
        if not node.spec.prefix:
            return
        for at, child in enumerate(node.children):
            fresh = self._item(node, at)
            if fresh.schema != child.schema:
                value = value_of(child)
                node.children[at] = fresh
                if value is not MISSING:
                    self._fill(fresh, value)

    def _branch(self, node: Node, index: int) -> None:
        node.picked = index
        child = self._node(node.key, node.spec.branches[index].schema, required=True, parent=node)
        node.children = [child]

    def _properties(self, node: Node) -> None:
        node.children = [
            self._node(name, schema, required=name in node.spec.required, parent=node)
            for name, schema in node.spec.properties.items()
        ]

    def _begin(self, node: Node) -> None:
        """What stands in a place at first: its default, else what it requires and nothing more."""
        node.text, node.raw, node.picked = "", False, -1
        node.children = []
        self._budget -= 1
        null = node.spec.default is None and node.kind == "union"  # it stands for nothing given
        if node.spec.default is not MISSING and node.parent is not None and not null:
            self._fill(node, node.spec.default)
            return
        if self._budget <= 0 or node.depth >= DEEPEST:
            node.raw = True
            return
        match node.kind:
            case "object":
                self._properties(node)
                node.present = True
                for child in node.children if node.depth < DEEPEST_ALONE else ():
                    if child.required or _tells_apart(child):
                        self._begin(child)
            case "array":
                node.present = True
                for at in range(_least(node.spec)):
                    child = self._item(node, at)
                    node.children.append(child)
                    self._begin(child)
            case "union":
                self._branch(node, 0)
                self._begin(node.children[0])
                node.present = node.children[0].present
            case "choice" if len(node.spec.options) == 1:
                node.picked, node.present = 0, True
            case "null":
                node.present = True

    # ------------------------------------------------------------------ filling

    def _carry(self, node: Node, before: Any) -> None:
        """Take over of an earlier value what a place can show; of an object, property by property."""
        if before is MISSING or not fits(node.spec, before):
            return
        if node.kind != "object":
            self._fill(node, before)
            return
        for child in node.children:
            if child.key in before and fits(child.spec, before[child.key]):
                self._fill(child, before[child.key])

    def _fill(self, node: Node, value: Any) -> None:
        """Put a value into a place. Where its shape is another one, it stands there as JSON."""
        node.text, node.picked, node.children, node.raw, node.present = "", -1, [], False, True
        if node.depth >= DEEPEST or not fits(node.spec, value):
            _set_raw(node, value)
            return
        match node.kind:
            case "text":
                node.text = value
            case "number" | "integer":
                node.text = number_text(value) or ""
            case "boolean":
                node.picked = int(value)
            case "choice":
                node.picked = place_among(node.spec.options, value)
            case "object":
                self._fill_object(node, value)
            case "array":
                for at, one in enumerate(value):
                    child = self._item(node, at)
                    node.children.append(child)
                    self._fill(child, one)
            case "union":
                self._branch(node, self._best_branch(node, value))
                self._fill(node.children[0], value)
            case "any":
                _set_raw(node, value)
                node.raw = False

    def _fill_object(self, node: Node, value: Mapping[str, Any]) -> None:
        self._properties(node)
        for child in node.children:
            if child.key in value:
                self._fill(child, value[str(child.key)])
        for name, one in value.items():
            if name not in node.spec.properties:
                child = self._extra(node, name)
                node.children.append(child)
                self._fill(child, one)

    def _best_branch(self, node: Node, value: Any) -> int:
        """The first branch that the value fits whole, else the first it has the shape of."""
        shapes = [
            at
            for at, branch in enumerate(node.spec.branches)
            if fits(spec_of(branch.schema, self.schema), value)
        ]
        if len(shapes) > 1:
            from hel_tui.forms.validator import is_valid  # jsonschema: when first needed

            for at in shapes:
                if is_valid(node.spec.branches[at].schema, value, root=self.schema):
                    return at
        return shapes[0] if shapes else 0


def _least(spec: Spec) -> int:
    least = dict(spec.limits).get("minItems", 0)
    known = isinstance(least, int | float) and not isinstance(least, bool) and math.isfinite(least)
    return max(min(int(least), MOST_FIRST), 0) if known and (spec.items is not None or spec.prefix) else 0


def _renumber(node: Node) -> None:
    if node.kind == "array":
        for at, child in enumerate(node.children):
            child.key = at


def _fresh(node: Node) -> str:
    """A name that no property has yet."""
    taken = {child.key for child in node.children}
    return next(name for n in range(1, len(taken) + 3) if (name := f"key{n}") not in taken)


def _set_raw(node: Node, value: Any) -> None:
    node.raw, node.text = True, written(value)


def _tells_apart(node: Node) -> bool:
    """Whether a property of an alternative can only have one value: servers tell alternatives by it."""
    parent = node.parent
    in_union = parent is not None and parent.parent is not None and parent.parent.kind == "union"
    return in_union and node.kind == "choice" and len(node.spec.options) == 1
