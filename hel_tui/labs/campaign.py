"""All runs of a lab that are still to be made, some at once, each kept when it is over.

Not here: one run (running), the command line (cli.eval).
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui.api import HelError
from hel_tui.core.tools.processes import command_guard
from hel_tui.labs.keeping import Results
from hel_tui.labs.lab import Condition, Lab
from hel_tui.labs.running import Asked, Run, carry_out
from hel_tui.labs.tables import BadLab


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with a lab."""

    lab: Lab
    conditions: tuple[Condition, ...]
    repetitions: int
    parallel: int
    asked: Asked
    max_cost: float | None = None
    """US dollars over all runs, those that were made before too."""
    keep: Path | None = None
    """Where the projects and homes of the runs stay; None to leave nothing."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them; conditions take turns, so that a lab that is cut off has some of each."""
        return tuple(Run(one, number) for number in range(1, self.repetitions + 1) for one in self.conditions)

    @property
    def at_once(self) -> int:
        """Runs that are made at once: with a bound on cost one, or each could spend all that is left."""
        return self.parallel if self.max_cost is None else 1

    @property
    def voices(self) -> dict[str, tuple[str, str]]:
        """The model of each condition, as reports call it, and its effort."""
        found = {one.name: self.asked.of(self.lab, one) for one in self.lab.conditions}
        return {name: (voice.label(self.lab), voice.effort) for name, voice in found.items()}


@dataclass(slots=True)
class Outcome:
    """What came of it. `stopped` says why not all runs were made."""

    made: int = 0
    over_cost: bool = False
    stopped: str = ""


async def run_lab(plan: Plan, results: Results, tell: Callable[[dict[str, Any]], None]) -> Outcome:
    """Make the runs that are missing; `tell` hears of each one's row. What cannot be helped by another run
    (no model, none that answers, a full disk) ends it; runs that were over by then are kept. Raises OSError.
    """
    outcome = Outcome()
    waiting = results.missing(plan.runs)
    waiting.reverse()
    root = plan.keep or Path(tempfile.mkdtemp(prefix="hel-lab-"))
    if plan.keep is None:
        command_guard().watch_tree(root)
    try:
        workers = [
            asyncio.ensure_future(_work(plan, results, waiting, root, tell, outcome))
            for _ in range(min(plan.at_once, len(waiting)))
        ]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
    except (HelError, BadLab) as error:
        outcome.stopped = str(error)
    finally:
        if plan.keep is None:
            shutil.rmtree(root, ignore_errors=True)
            command_guard().forget_folder(root)
    return outcome


async def _work(
    plan: Plan,
    results: Results,
    waiting: list[Run],
    root: Path,
    tell: Callable[[dict[str, Any]], None],
    outcome: Outcome,
) -> None:
    """Take one run after the other."""
    while waiting:
        left = None if plan.max_cost is None else plan.max_cost - results.spent
        if left is not None and left <= 0:
            outcome.over_cost = True
            outcome.stopped = f"the limit of {plan.max_cost:g} dollars is reached"
            return
        run = waiting.pop()
        folder = _fresh(root / f"{run.condition.name}-{run.number}")
        row = await carry_out(plan.lab, run, plan.asked, folder, max_cost=left)
        results.add(row)
        outcome.made += 1
        tell(row)
        if row["error"] and not row["model_calls"]:
            outcome.stopped = row["error"]
            waiting.clear()
        if plan.keep is None:
            with suppress(OSError):
                shutil.rmtree(folder)


def _fresh(folder: Path) -> Path:
    """A folder of this name that is not there yet."""
    number, path = 1, folder
    while path.exists():
        number += 1
        path = folder.with_name(f"{folder.name}-{number}")
    path.mkdir(parents=True)
    return path
