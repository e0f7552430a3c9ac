"""What a measurement returns, its noise, and the table of it.

Not here: measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """Values of several runs, and those of the baseline they were interleaved with."""

    name: str
    unit: str
    values: tuple[float, ...]
    baseline: tuple[float, ...] = ()
    aim: str = ""
    """What it should be, in words."""
    note: str = ""

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def ratio(self) -> float | None:
        """Median of the pairwise ratios; None without a baseline."""
        return median(self._ratios()) if self.baseline else None

    @property
    def noise(self) -> float:
        """Half the distance between the quartiles, as a share of the median: of the ratios where there
        is a baseline, else of the values."""
        values = self._ratios() if self.baseline else self.values
        middle = median(values)
        if len(values) < 2 or not middle:
            return 0.0
        low, _, high = quantiles(values, n=4, method="inclusive")
        return (high - low) / 2 / abs(middle)

    def _ratios(self) -> list[float]:
        return [one / other for one, other in zip(self.values, self.baseline, strict=True)]

    def as_json(self) -> dict[str, Any]:
        """Stable keys; the values rounded to what can be told apart."""
        return {
            "name": self.name,
            "unit": self.unit,
            "median": round(self.median, 4),
            "baseline": round(median(self.baseline), 4) if self.baseline else None,
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "noise": round(self.noise, 3),
            "runs": len(self.values),
            "aim": self.aim,
            "note": self.note,
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


HEADS = ("measure", "hel", "baseline", "ratio", "noise", "runs", "aim", "note")


def table(figures: Iterable[Figure]) -> str:
    """The figures as lines of text."""
    rows = [HEADS, *(_row(one) for one in figures)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _row(figure: Figure) -> tuple[str, ...]:
    baseline = f"{median(figure.baseline):.4g} {figure.unit}" if figure.baseline else ""
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    value = f"{figure.median:.4g} {figure.unit}"
    runs = str(len(figure.values))
    noise = f"±{figure.noise:.0%}" if len(figure.values) > 1 else ""
    return (figure.name, value, baseline, ratio, noise, runs, figure.aim, figure.note)
