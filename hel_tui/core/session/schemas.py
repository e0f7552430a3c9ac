"""What the model that answers now gets of each server tool: counts for the lists, the difference for a view.

Also tells the catalogue when another model answers. Not here: how schemas are adapted (models.schemas).
"""

from __future__ import annotations

import difflib
import json
from dataclasses import replace

from hel_tui.core.agent.offer import Offer
from hel_tui.core.mcp.catalogue import Catalogue, pretty
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.protocol import ToolDetail
from hel_tui.core.session.model import Model

MOST_DIFF = 400_000
"""Characters of two schemas that are compared line by line."""


class Schemas:
    """Adapted schemas as a person sees them. `shown` is safe from any thread."""

    def __init__(self, catalogue: Catalogue, offer: Offer, model: Model) -> None:
        self._catalogue = catalogue
        self._offer = offer
        self._model = model
        catalogue.adapted = self._count
        model.changed = self._changed

    @property
    def tool_limit(self) -> int:
        """Most tools in a request to the model that answers now; 0 for any number."""
        current = self._model.current
        return current.schemas.tool_limit if current is not None else 0

    def _changed(self) -> None:
        self._catalogue.model_changed(self._offer.limited(self._model.current))

    def _count(self, tool: McpTool) -> int:
        current = self._model.current
        return len(self._offer.adapted(tool.definition, current).changes) if current is not None else 0

    def shown(self, detail: ToolDetail, tool: McpTool) -> ToolDetail:
        """The detail with what the model gets, each change, and the difference."""
        current = self._model.current
        if current is None:
            return detail
        adapted = self._offer.adapted(tool.definition, current)
        given = pretty(adapted.definition.parameters)
        return replace(
            detail,
            given=given,
            profile=adapted.profile.name,
            adaptations=tuple(map(str, adapted.changes)),
            diff=difference(detail.sent, given) if adapted.changes else "",
        )


def difference(sent: str, given: str) -> str:
    """A unified diff of two schemas as JSON text; empty when they say the same."""
    try:
        if json.loads(sent) == json.loads(given):
            return ""
    except (ValueError, RecursionError):
        pass
    if len(sent) + len(given) > MOST_DIFF:
        return "(too large to compare)"
    lines = difflib.unified_diff(
        sent.splitlines(), given.splitlines(), "as the server sent it", "as the model gets it", lineterm=""
    )
    return "\n".join(lines)
