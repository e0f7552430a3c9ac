"""Classes whose methods are compiled late behave as the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import ClassVar

import pytest

from hel_tui.core import protocol, values


@values.dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 0
    tags: tuple[str, ...] = field(default=(), repr=False)
    note: str = field(default="", compare=False)
    KIND: ClassVar[str] = "point"

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Standard:
    x: int
    y: int = 0
    tags: tuple[str, ...] = field(default=(), repr=False)
    note: str = field(default="", compare=False)


@values.dataclass(slots=True)
class Changing:
    items: list[int] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.count += 1


@values.dataclass(frozen=True, slots=True)
class Nothing:
    pass


def test_arguments_are_taken_as_a_standard_one_takes_them():
    assert (Point(1).x, Point(1).y, Point(1, y=2).sum) == (1, 0, 3)
    for wrong in ((), (1, 2, (), "", 5)):
        with pytest.raises(TypeError):
            Point(*wrong)
    with pytest.raises(TypeError, match="z"):
        Point(1, z=2)


def test_equality_hash_and_text_are_those_of_a_standard_one():
    assert Point(1) == Point(1, 0, (), "another note") != Point(2)
    assert hash(Point(1)) == hash(Standard(1)) == hash(Point(1, note="n"))
    assert Point(1) != Standard(1)
    assert repr(Point(1)) == repr(Standard(1)).replace("Standard", "Point")
    assert Nothing() == Nothing() and len({Nothing(), Nothing()}) == 1 and repr(Nothing()) == "Nothing()"


def test_a_frozen_one_cannot_be_changed():
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.new = 2
    assert point == Point(1)


def test_one_that_is_not_frozen_changes_and_has_no_hash():
    first, second = Changing(), Changing()
    first.items.append(1)
    first.count = 7
    assert (first.items, first.count, second.items, second.count) == ([1], 7, [], 1)
    with pytest.raises(TypeError):
        hash(first)
    with pytest.raises(AttributeError):
        first.other = 1


def test_fields_replace_match_copy_and_pickle_work():
    point = Point(1, 2, ("a",), "n")
    assert [one.name for one in fields(Point)] == ["x", "y", "tags", "note"]
    assert replace(point, y=5) == Point(1, 5, ("a",))
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ("a",), "note": "n"}
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_the_door_is_made_of_them():
    assert protocol.Submit("a") == protocol.Submit("a") != protocol.Submit("b")
    assert protocol.Submit.__setattr__ is Point.__setattr__
