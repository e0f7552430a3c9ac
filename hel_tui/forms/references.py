"""References and `allOf` of a schema: what stands at one place, in one object.

Only references inside the schema are followed, and only so many. Not here: what it means (spec).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

MOST_STEPS = 40
"""References and merges that are followed for one place."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Merger:
    """Follows references and merges `allOf`, with a bound on its steps."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MOST_STEPS

    def resolved(self, schema: Any) -> dict[str, Any]:
        """The schema itself, in one object without `$ref` and `allOf`."""
        found: dict[str, Any] = dict(schema) if isinstance(schema, Mapping) else {}
        while self._left > 0:
            self._left -= 1
            ref = next(
                (found.pop(key) for key in ("$ref", "$dynamicRef", "$recursiveRef") if key in found), None
            )
            if isinstance(ref, str):
                target = target_of(ref, self._root)
                found.setdefault("x-ref", ref.rpartition("/")[2].lstrip("#"))
                if isinstance(target, Mapping):
                    found = merged(dict(target), found)
                continue
            parts = found.pop("allOf", None)
            if not isinstance(parts, list | tuple):
                return found
            whole: dict[str, Any] = {}
            for part in parts:
                whole = merged(whole, self.resolved(part))
            found = merged(whole, found)
        found.pop("$ref", None)
        found.pop("allOf", None)
        return found


def target_of(ref: str, root: Any) -> Any:
    """What a local reference leads to; None for any other."""
    if ref in ("#", ""):
        return root
    if not ref.startswith("#"):
        return _by_id(ref, root)
    if not ref.startswith("#/"):
        return _by_anchor(ref[1:], root)
    value = root
    for step in ref[2:].split("/"):
        name = _unquoted(step).replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list | tuple) and name.isdigit() and int(name[:9]) < len(value):
            value = value[int(name[:9])]
        else:
            return None
    return value


def _unquoted(step: str) -> str:
    return unquote(step) if "%" in step else step


def _definitions(root: Any) -> Iterator[Any]:
    for key in ("$defs", "definitions"):
        several = root.get(key) if isinstance(root, Mapping) else None
        if isinstance(several, Mapping):
            yield from several.values()


def _by_anchor(name: str, root: Any) -> Any:
    for one in _definitions(root):
        if isinstance(one, Mapping) and name in (one.get("$anchor"), one.get("$dynamicAnchor")):
            return one
    return None


def _by_id(ref: str, root: Any) -> Any:
    for one in (root, *_definitions(root)):
        if isinstance(one, Mapping) and ref in (one.get("$id"), one.get("id")):
            return one
    return None


def merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both at once: properties and needs together, of the rest what `over` says."""
    out = {**base, **over}
    for key in ("properties", "patternProperties"):
        one, other = base.get(key), over.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            both = {**one, **other}
            for name in one.keys() & other.keys():
                if isinstance(one[name], Mapping) and isinstance(other[name], Mapping):
                    both[name] = merged(dict(one[name]), other[name])
            out[key] = both
    one, other = base.get("required"), over.get("required")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        out["required"] = [*one, *(name for name in other if name not in one)]
    if base.get("additionalProperties") is False or over.get("additionalProperties") is False:
        out["additionalProperties"] = False
    for key in ("oneOf", "anyOf"):
        if key in base and key in over and base[key] != over[key]:
            out[key] = over[key]
    return out
