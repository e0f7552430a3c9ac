"""References inside one schema: JSON pointers, anchors and local identifiers. Nothing is ever fetched.

Not here: what a reference is replaced by (walk).
"""

from __future__ import annotations

import itertools
import re
from typing import Any
from urllib.parse import unquote

from hel_tui.core.vocabulary import Json

REFERENCE_KEYS = ("$ref", "$dynamicRef", "$recursiveRef")
DATA_KEYS = frozenset({"enum", "const", "default", "examples", "example"})
"""Keywords whose values are data: what looks like a reference in them is none."""


class References:
    """Finds what a reference of `root` means. The index of names is made at the first need."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._resources: dict[str, Json] | None = None
        self._anchors: dict[str, Json] = {}
        self._looked_for: dict[str, Any] = {}

    def find(self, reference: str) -> Any:
        """The schema a reference means, or None when it is not in this document."""
        base, _, fragment = reference.partition("#")
        if base and base not in self._index():
            return None
        start = self._index()[base] if base else self._root
        if not fragment:
            return start
        if fragment.startswith("/"):
            found = _at(start, fragment)
            if found is None and not base:
                found = self._inside(fragment)
            return found
        self._index()
        return self._anchors.get(unquote(fragment))

    def _inside(self, fragment: str) -> Any:
        """What a pointer leads to in one of the documents inside this one; looked for once."""
        if fragment not in self._looked_for:
            some = itertools.islice(self._index().values(), MOST_DOCUMENTS)
            found = (_at(one, fragment) for one in some)
            self._looked_for[fragment] = next((one for one in found if one is not None), None)
        return self._looked_for[fragment]

    def _index(self) -> dict[str, Json]:
        if self._resources is None:
            self._resources = {}
            self._collect(self._root)
        return self._resources

    def _collect(self, value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                self._collect(one)
            return
        if not isinstance(value, dict):
            return
        for key in ("$id", "id"):
            if isinstance(name := value.get(key), str) and name and self._resources is not None:
                if name.startswith("#"):
                    self._anchors.setdefault(name[1:], value)
                else:
                    self._resources.setdefault(name.rstrip("#"), value)
        for key in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := value.get(key), str):
                self._anchors.setdefault(name, value)
        for key, one in value.items():
            if key not in DATA_KEYS:
                self._collect(one)


MOST_DOCUMENTS = 50
"""Documents inside a document that a pointer is tried in."""
_INDEX = re.compile(r"[0-9]{1,9}")


def _at(start: Any, pointer: str) -> Any:
    """What a JSON pointer (RFC 6901, in a URI fragment) leads to, or None."""
    here = start
    for token in pointer[1:].split("/"):
        key = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and key in here:
            here = here[key]
        elif isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and _INDEX.fullmatch(key) and int(key) < len(here):
            here = here[int(key)]
        else:
            return None
    return here


def reference_in(node: Json) -> str:
    """The reference a schema consists of, or "" when it has none."""
    for key in REFERENCE_KEYS:
        if isinstance(name := node.get(key), str):
            return name
    return ""
