"""All runs of a lab together: what they may cost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hel_tui.labs import campaign
from hel_tui.labs.campaign import Plan, run_lab
from hel_tui.labs.keeping import Results
from hel_tui.labs.lab import Lab
from hel_tui.labs.reading import read_lab
from hel_tui.labs.running import Asked, Run
from tests.labs.small import lay_lab


async def test_runs_that_were_to_be_made_at_once_do_not_each_spend_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run costs stands in for a priced model: prices belong to addresses that no test may ask."""
    bounds: list[float | None] = []

    async def costly(
        _lab: Lab, run: Run, _asked: Asked, _folder: Path, *, max_cost: float | None
    ) -> dict[str, Any]:
        bounds.append(max_cost)
        await asyncio.sleep(0)
        row = {"condition": run.condition.name, "run": run.number, "error": "", "model_calls": 1}
        return {**row, "cost": 0.75}

    monkeypatch.setattr(campaign, "carry_out", costly)
    lab = read_lab(lay_lab(tmp_path))
    results = Results(tmp_path / "results")
    plan = Plan(lab, lab.conditions, 8, 4, Asked("some/model"), max_cost=1.0)
    outcome = await run_lab(plan, results, lambda _row: None)
    assert bounds == [1.0, 0.25]
    assert (outcome.made, outcome.over_cost, results.spent) == (2, True, 1.5)
