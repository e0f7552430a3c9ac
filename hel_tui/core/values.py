"""`dataclass` for classes that are defined before the first paint: methods are compiled when first used.

The standard decorator compiles half a dozen methods for each class where it is defined, 0.4 ms a class, and
the door and the screen have some eighty. To a type checker, to `fields`, `replace` and `match` these are
ordinary dataclasses; `InitVar` and inheritance between them are left out. Not here: what they hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

_KINDS = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")
"""What a field is made of."""


def _dataclass(*, slots: bool, frozen: bool = False) -> Callable[[Any], Any]:
    """As `dataclasses.dataclass` with these arguments."""
    if not slots:
        raise TypeError("only classes with slots")

    def decorate(cls: Any) -> Any:
        cls.__doc__ = cls.__doc__ or cls.__name__  # else dataclasses makes one from the signature
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
        _add_methods(made, frozen)
        return made

    return decorate


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _add_methods(cls: Any, frozen: bool) -> None:
    own = vars(cls)
    methods: dict[str, Any] = {"__init__": _first_init(cls), "__repr__": _repr}
    if "__eq__" not in own:
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own or (name == "__hash__" and own[name] is None):
            setattr(cls, name, method)


def _first_init(cls: Any) -> Callable[..., None]:
    """An `__init__` that puts the compiled one in its own place."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = init = _compiled_init(cls)
        init(self, *args, **kwargs)

    return __init__


def _compiled_init(cls: Any) -> Callable[..., None]:
    """The `__init__` that the standard decorator makes for these fields."""
    copies = [
        (one.name, one.type, dataclasses.field(**{kind: getattr(one, kind) for kind in _KINDS}))
        for one in dataclasses.fields(cls)
    ]
    hook = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    like = dataclasses.make_dataclass(
        cls.__name__, copies, namespace=hook, frozen=True, repr=False, eq=False, match_args=False
    )
    init: Callable[..., None] = vars(like)["__init__"]
    return init


def _values(one: Any, kind: str) -> tuple[Any, ...]:
    return tuple(getattr(one, each.name) for each in dataclasses.fields(one) if getattr(each, kind))


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self, "compare") == _values(other, "compare")


def _hash(self: Any) -> int:
    return hash(_values(self, "compare"))


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *_value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{self.__class__.__name__}.{name} cannot be set or deleted")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
