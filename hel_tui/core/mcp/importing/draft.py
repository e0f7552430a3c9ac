"""One server on its way from another agent's keys into hel's, and what is to be said about it.

Not here: which keys an agent has (agents, editors).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.mcp.validation import MAX_SERVER_NAME

Json = dict[str, Any]
Fill = Callable[["Draft", str, str], str]
"""(draft, where, text): the text with its variables as hel writes them; may add notes to the draft."""

_APPROVING = frozenset(
    {"autoapprove", "alwaysallow", "auto_approve", "always_allow", "autoallow", "trust"}
    | {"default_tools_approval_mode", "require_approval"}
)
_DOLLAR = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))")


LONGEST = 1e9
"""Seconds from which a time is taken for a mistake."""


@dataclass(slots=True)
class Draft:
    """`raw` is the entry as the agent has it, `entry` what hel would write."""

    name: str
    raw: Json
    entry: Json = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    """Names of values to be kept (`${keyring:NAME}`) before it can start."""
    _seen: set[str] = field(default_factory=set)

    def take(self, key: str) -> Any:
        """A value of the agent's, which is dealt with; None when there is none."""
        self._seen.add(key)
        return self.raw.get(key)

    def leave(self, *keys: str) -> None:
        """These say nothing that hel needs."""
        self._seen.update(keys)

    def put(self, key: str, value: Any) -> None:
        """Set a key of hel's; None and empty values are left out."""
        if value not in (None, "", [], {}):
            self.entry[key] = value

    def copy(self, key: str, to: str = "", fill: Fill | None = None) -> None:
        """Take a key over as it is, its texts filled."""
        self.put(to or key, filled(self, key, self.take(key), fill))

    def switch(self, *, off: str = "", on: str = "") -> None:
        """Take over that it is switched off, from a key that says so."""
        if (off and self.take(off) is True) or (on and self.take(on) is False):
            self.entry["disabled"] = True

    def seconds(self, key: str, to: str, scale: float = 1.0) -> None:
        """Take over a time; `scale` is the agent's unit in seconds. Only a positive number counts."""
        value = self.take(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < LONGEST / scale:
            number = round(value * scale, 3)
            self.put(to, int(number) if number == int(number) else number)
        elif value is not None:
            self.notes.append(f"`{key}` is no time: left out")

    def tools(self, include: Any, exclude: Any) -> None:
        """Set which tools are wanted, from two lists of names. In hel what is included counts, in other
        agents what is excluded: what both name is left out here.
        """
        if isinstance(include, list) and isinstance(exclude, list) and include:
            include = [name for name in include if name not in exclude]
            if not include:
                self.notes.append("every tool it enables is disabled as well: none is offered")
                include, exclude = [], ["*"]
        chosen = {key: names for key, names in (("include", include), ("exclude", exclude)) if names}
        self.put("tools", chosen)

    def keep(self, where: str, why: str) -> str:
        """A reference to a value that the person has to keep, since it cannot be carried over."""
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{self.name}.{where.rpartition('.')[2]}").strip("-")
        if name not in self.secrets:
            self.secrets.append(name)
            self.notes.append(f"`{where}` {why}: keep its value with hel mcp secret set {name}")
        return f"${{keyring:{name}}}"

    def finish(self) -> None:
        """Say what was not carried over."""
        rest = [key for key in self.raw if key not in self._seen]
        approving = [f"`{key}`" for key in rest if key.lower() in _APPROVING]
        if approving:
            self.notes.append(f"{', '.join(approving)} is no approval for hel: left out")
        unknown = [f"`{key[:40]}`" for key in rest if key.lower() not in _APPROVING]
        if unknown:
            more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
            self.notes.append(f"not carried over: {', '.join(unknown[:8])}{more}")


def filled(draft: Draft, where: str, value: Any, fill: Fill | None) -> Any:
    """`value` with every text in it filled; keys of objects stay."""
    if fill is None:
        return value
    if isinstance(value, str):
        return fill(draft, where, value)
    if isinstance(value, list):
        return [filled(draft, where, item, fill) for item in value]
    if isinstance(value, dict):
        return {key: filled(draft, f"{where}.{key}", item, fill) for key, item in value.items()}
    return value


def dollars(text: str) -> str:
    """`$NAME` as `${NAME}`."""
    return _DOLLAR.sub(lambda found: f"${{{found['braced'] or found['bare']}}}", text)


def fitting_name(name: str) -> str:
    """The nearest name that a server of hel can have; empty when nothing is left of it."""
    cleaned = re.sub(r"[^A-Za-z0-9_-]+", "-", name)
    return re.sub(r"_{2,}", "_", cleaned).strip("-_")[:MAX_SERVER_NAME].strip("-_")
