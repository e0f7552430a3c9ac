"""How many dollars a run may spend: looked at before each request.

A request that is under way is never cut off for its price, so the last one may go past the bound. What a
request took that something else cut off is estimated. Not here:
what was spent (spending), prices (models).
"""

from __future__ import annotations

from typing import Literal

from hel_tui.core.agent.spending import Totals
from hel_tui.core.models.types import ModelInfo
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Stop:
    """No further request is made. `failed`: it cannot be told what one would cost."""

    reason: Literal["limit", "failed"]
    sentence: str


class Budget:
    """The bound of one run. What a kept session cost before does not count."""

    def __init__(self, dollars: float | None = None) -> None:
        """None for no bound."""
        self._dollars = dollars
        self._before: Totals | None = None

    def begin(self, totals: Totals) -> None:
        """From here on requests count; a second time changes nothing."""
        if self._before is None:
            self._before = Totals(cost=totals.cost, unpriced=totals.unpriced, untold=totals.untold)

    def stop(self, totals: Totals, info: ModelInfo) -> Stop | None:
        """Why the next request may not be made; None when it may."""
        if self._dollars is None:
            return None
        self.begin(totals)
        before = self._before or Totals()
        if info.prices is None:
            return Stop("failed", f"The price of {info.label} is unknown, so no cost can be kept to.")
        if totals.unpriced > before.unpriced or totals.untold > before.untold:
            return Stop("failed", "What a request took was not told, so no cost can be kept to.")
        spent = (totals.cost or 0.0) - (before.cost or 0.0)
        if spent >= self._dollars:
            return Stop("limit", f"Stopped after {spent:.4f} dollars, the limit on cost.")
        return None
