"""A style sheet knows widgets by the names of their classes: two of one name would wear each other's styles."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict

from textual.message_pump import MessagePump
from textual.widget import Widget

import hel_tui.tui


def subclasses(kind: type) -> set[type]:
    """All classes below `kind`."""
    found = set(kind.__subclasses__())
    return found.union(*(subclasses(one) for one in found)) if found else found


def test_no_two_widgets_have_the_same_name() -> None:
    for module in pkgutil.walk_packages(hel_tui.tui.__path__, "hel_tui.tui."):
        importlib.import_module(module.name)
    names: dict[str, set[str]] = defaultdict(set)
    for one in subclasses(Widget):
        assert issubclass(one, MessagePump)
        names[one.__name__].add(one.__module__)
    ours = {name: places for name, places in names.items() if any(p.startswith("hel_tui") for p in places)}
    assert len(ours) > 50
    assert {name: places for name, places in ours.items() if len(places) > 1} == {}
