"""Scale: 1, 10, 50 and 200 servers with 50 tools each: start, first request, search, memory, and the prompt.

Each size in processes of its own. Growth compares the cost of one server with that at ten servers, so that a
figure above 1 would mean "faster than linear"; bytes compare with a client that sends every definition.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure
from tests.bench.parts import HERE, Place, place
from tests.bench.program import HEL, ROOT
from tests.bench.scale_core import entries
from tests.bench.start import start

TOOLS = 50
SIZES = (1, 10, 50, 200)
MEASURES = {"ready": ("s", 1.0), "turn": ("ms", 1000.0), "search": ("ms", 1000.0), "memory": ("MiB", 1.0)}
"""Unit, and what seconds or MiB are multiplied with."""


def _core(servers: int, *, eager: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hel-scale.") as home:
        command = [sys.executable, str(HERE / "scale_core.py"), str(servers), str(TOOLS), home]
        done = subprocess.run(
            [*command, *(["--eager"] if eager else [])], cwd=ROOT, capture_output=True, text=True, check=True
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _prompt(where: Place, servers: int, keys: int) -> tuple[float, float, float]:
    """Seconds to the first paint and to a prompt that answers, and the worst echo while all servers start."""
    file = where.home / f"many{servers}.json"
    file.write_text(json.dumps(entries(servers, TOOLS)))
    options = ["--mcp-config", str(file)] if servers else []
    one = start([*HEL, str(where.project), *options], where, "hel", keys=keys)
    return one.paint, one.ready, max(one.keys)


def measure(quick: bool) -> list[Figure]:
    """Figures of every size."""
    sizes = (1, 3) if quick else SIZES
    runs = 1 if quick else 3
    cores = {size: [_core(size) for _ in range(runs)] for size in sizes}
    eager = {size: _core(size, eager=True) for size in sizes}
    figures: list[Figure] = []
    for size, found in cores.items():
        assert all(one["schemas"] == 0 for one in found), "a request carries a schema that was not loaded"
        name = f"scale: {size} servers, "
        for what, (unit, factor) in MEASURES.items():
            figures.append(Figure(name + what, unit, tuple(one[what] * factor for one in found)))
        bytes_ = tuple(float(one["request"]) for one in found)
        theirs = (float(eager[size]["request"]),) * runs
        note = "baseline: every definition in the request"
        figures.append(Figure(name + "first request", "bytes", bytes_, theirs, note=note))
    with place() as where:
        none = [_prompt(where, 0, 5 if quick else 38) for _ in range(runs + 1)][1:]
        for size in sizes:
            found = [_prompt(where, size, 5 if quick else 38) for _ in range(runs)]
            for at, what in enumerate(("first paint", "prompt ready", "worst echo of a key")):
                values = tuple(one[at] * 1000 for one in found)
                baseline = tuple(one[at] * 1000 for one in none)
                label = f"scale: {size} servers, {what}"
                figures.append(Figure(label, "ms", values, baseline, note="baseline: no servers"))
    return figures + _growth(cores, sizes)


def _growth(cores: dict[int, list[dict[str, Any]]], sizes: tuple[int, ...]) -> list[Figure]:
    """What the last size costs beyond the first, for a server, against what the size before costs."""
    first, middle, last = sizes[0], sizes[-2], sizes[-1]
    figures = []
    for what in ("processor", "memory", "events"):
        at = {size: min(one[what] for one in cores[size]) for size in {first, middle, last}}
        slope = (at[last] - at[middle]) / (last - middle)
        before = (at[middle] - at[first]) / max(middle - first, 1)
        note = f"{middle} to {last} against {first} to {middle} servers"
        figures.append(
            Figure(
                f"scale: growth of {what} a server", "", (slope,), (before or 1e-9,), aim="ratio 1", note=note
            )
        )
    return figures


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    for figure in measure(quick="--quick" in sys.argv):
        print(figure)
