"""What a soak found, as a table and as JSON. Not here: soaking."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from statistics import linear_regression
from typing import Any

KEPT = 20
"""Problems whose words are kept."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What hel's process holds at a moment. `memory` in MiB."""

    at: float
    memory: float
    descriptors: int
    threads: int
    tasks: int


@dataclass(slots=True)
class Soaked:
    """What came of it."""

    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    calm: list[Sample] = field(default_factory=list)
    """Two moments without mishaps, all servers ready: after the warm-up and at the end."""
    orphans: int = 0

    def wrong(self, what: str) -> None:
        """Something that must not be."""
        self.counts["problems"] += 1
        if len(self.problems) < KEPT:
            self.problems.append(what)

    def rows(self) -> list[tuple[str, str]]:
        """The report as names and values."""
        rows = [(name, f"{number:,}") for name, number in sorted(self.counts.items())]
        if len(self.calm) == 2:
            first, last = self.calm
            minutes = (last.at - first.at) / 60
            for name in ("memory", "descriptors", "threads", "tasks"):
                before, after = getattr(first, name), getattr(last, name)
                growth = (after - before) / minutes
                rows.append((f"calm {name}", f"{before:g} -> {after:g} ({growth:+.2f} a minute)"))
        late = self.samples[len(self.samples) * 2 // 3 :]
        if len(late) > 1:  # by then logs and kept results have reached their limits
            slope = linear_regression([one.at / 60 for one in late], [one.memory for one in late]).slope
            rows.append(("memory in the last third", f"{slope:+.2f} MiB a minute"))
        peak = max((one.memory for one in self.samples), default=0.0)
        return [
            ("seconds", f"{self.seconds:.0f}"),
            *rows,
            ("peak memory", f"{peak:.0f} MiB"),
            ("orphans", str(self.orphans)),
            ("problems", str(len(self.problems))),
        ]

    def as_json(self) -> dict[str, Any]:
        """Everything, for a closer look."""
        return {
            "seconds": self.seconds,
            "counts": dict(self.counts),
            "problems": self.problems,
            "samples": [asdict(one) for one in self.samples],
            "calm": [asdict(one) for one in self.calm],
            "orphans": self.orphans,
        }
