"""Which server tools are in the requests, and in which order they came to be there.

The order only grows at its end: by load, and for what is loaded by itself (always_load, eager, pinned) by
name at the first request that has it. Not here: which tools exist (catalogue), what a request looks like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Loading:
    """The loading record of one conversation. Names are public names; one stays while its tool is away."""

    def __init__(self) -> None:
        self._order: dict[str, None] = {}
        self._refused: set[str] = set()
        """Unloaded by the person although they load by themselves."""
        self.limit = 0
        """Most server tools a request may have; 0 for no limit."""

    def clear(self) -> None:
        """A new conversation: nothing is loaded but what loads by itself."""
        self._order.clear()
        self._refused.clear()

    def names(self, offered: Mapping[str, object], by_itself: Iterable[str]) -> tuple[str, ...]:
        """The loaded tools among `offered` in order; `by_itself` are those nobody has to load.

        What does not fit under the limit is left out: first what loads by itself and has no place yet.
        """
        placed = [name for name in self._order if name in offered]
        more = sorted(name for name in by_itself if name not in self._order and name not in self._refused)
        names = [*placed, *more]
        return tuple(names[: self.limit] if self.limit else names)

    def fix(self, names: Iterable[str]) -> None:
        """These are in a request now: they keep their places."""
        self._order.update(dict.fromkeys(names))

    def add(self, name: str) -> None:
        """Somebody loads it; its place is behind all others."""
        self._refused.discard(name)
        self._order[name] = None

    def wanted(self, name: str) -> None:
        """It may load by itself again."""
        self._refused.discard(name)

    def drop(self, name: str) -> None:
        """The person unloads it; loaded again it stands at the end."""
        self._order.pop(name, None)
        self._refused.add(name)
