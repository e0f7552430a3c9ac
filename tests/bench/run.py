"""Run measurements one after the other and print a table and JSON.

    python tests/bench/run.py [--quick] [--json FILE] [NAME…]

Every figure is a median of several runs; a ratio compares with a baseline run in turns with it, so that
a slow minute of the machine falls on both. `--quick` only shows that the measurements work.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.figures import Figure, table

NAMES = (
    "start",
    "stream",
    "adapters",
    "context",
    "calls",
    "hosting",
    "keys",
    "inside",
    "trace",
    "logs",
    "idle",
    "scale",
    "sessions",
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure hel.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, figures without meaning")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    figures: list[Figure] = []
    for name in options.names or NAMES:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        figures += import_module(f"tests.bench.{name}").measure(options.quick)
    machine = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    found = json.dumps({"machine": machine, "figures": [one.as_json() for one in figures]}, indent=1)
    if options.json:
        options.json.write_text(found + "\n")
    print(table(figures))
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
