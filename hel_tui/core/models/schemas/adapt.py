"""One tool's definition for one family of providers, with every change noted and the way back.

`adapt` is pure and the same for the same input, byte for byte; `Adaptations` keeps what was made.
Not here: the rules (walk), arguments (restore), the whole request (wire).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from hel_tui.core.models.schemas.hints import described
from hel_tui.core.models.schemas.names import replaced_names
from hel_tui.core.models.schemas.profile import SchemaProfile
from hel_tui.core.models.schemas.references import References
from hel_tui.core.models.schemas.walk import rewritten
from hel_tui.core.models.schemas.work import Change, Path, Spot, Work
from hel_tui.core.vocabulary import Json, ToolDefinition

LARGEST = 256 << 10
"""Characters of a definition, as JSON, that are looked at; no model has room for more."""
MOST_KEPT = 4_000
"""Adaptations that are kept; with more, the oldest go."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A definition as the model gets it. `parameters` is empty where the field is left out."""

    source: ToolDefinition
    profile: SchemaProfile
    definition: ToolDefinition
    changes: tuple[Change, ...] = ()
    problem: str = ""
    """Why it cannot be offered; empty when it can."""
    names: Mapping[str, str] | None = None
    """By a property's own name, the one the model uses."""
    texts: frozenset[Path] = frozenset()
    """Places (`properties`, name, …) where the model writes JSON text for a value."""


def adapt(tool: ToolDefinition, profile: SchemaProfile) -> Adapted:
    """The definition within the rules of `profile`. The name is not touched: it is clean by itself."""
    root: Json = tool.parameters if isinstance(tool.parameters, dict) else {}
    names = replaced_names(root, profile)
    work = Work(profile, References(root), names, rewritten)
    parameters = rewritten(root, Spot(work))
    description = described(tool.description, work.hints, profile.description)
    if description != tool.description:
        cut = len(description) < len(tool.description)
        why = "is cut for the model" if cut else "tells what the schema no longer says"
        work.changes.append(Change(("description",), "description", f"the tool's description {why}"))
    if profile.omits_empty and not parameters.get("properties"):
        parameters = {}
        work.changes.append(
            Change((), "empty", f"{profile.name} wants no parameters at all where there are none")
        )
    if profile.max_properties and work.properties > profile.max_properties:
        work.problem = f"it has more than {profile.max_properties:,} properties, which {profile.name} refuses"
    definition = replace(tool, description=description, parameters=parameters)
    if parameters == root and description == tool.description:
        definition = tool
    unique = tuple(dict.fromkeys(work.changes))
    return Adapted(tool, profile, definition, unique, work.problem, names, frozenset(work.texts))


def _large(tool: ToolDefinition) -> bool:
    text = json.dumps(tool.parameters, ensure_ascii=False, default=str)
    return len(text) + len(tool.description) > LARGEST


class Adaptations:
    """What was adapted already, so that a request costs nothing new. May be asked from any thread."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Adapted] = {}
        self._lock = threading.Lock()

    def get(self, tool: ToolDefinition, profile: SchemaProfile) -> Adapted:
        """`adapt`, made once for each definition and family.

        A definition that nobody can read costs that tool, never a request or the screen.
        """
        key = (tool.name, profile.name)
        known = self._kept.get(key)
        if known is not None and known.profile == profile and (known.source is tool or known.source == tool):
            return known
        made = self._made(tool, profile)
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = made
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return made

    @staticmethod
    def _made(tool: ToolDefinition, profile: SchemaProfile) -> Adapted:
        try:
            if _large(tool):
                problem = f"its definition is larger than {LARGEST >> 10} KiB"
                return Adapted(tool, profile, replace(tool, description="", parameters={}), (), problem)
            return adapt(tool, profile)
        except (Exception, RecursionError) as error:  # foreign input: whatever it does, it is that tool's
            problem = f"its schema cannot be read: {type(error).__name__}"
            return Adapted(tool, profile, replace(tool, parameters={}), (), problem)
