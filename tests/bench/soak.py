"""A long conversation with servers that fail at random, over stdio and HTTP, through the whole core.

    python tests/bench/soak.py [--minutes 30] [--servers 10] [--seed 1] [--every 3]

A scripted model keeps calling tools; servers crash, hang, flood, change their lists, answer slowly, drop
connections; somebody interrupts, restarts servers and switches them off and on. All along: each call ends
once, with its own words or with a reason, and what is shown of a server is so. Then everything is calm again
and hel must hold no more than it did at first. Prints a table; the status is 1 when anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.soaked import Soaked
from tests.bench.soaking import Soak


def soak(minutes: float, servers: int, seed: int, every: float, rest: float = 15.0) -> Soaked:
    """Soak in a temporary folder. `every`: seconds between two mishaps of a server on average; `rest`: how
    long what hel holds may take to become steady."""
    with (
        tempfile.TemporaryDirectory(prefix="hel-soak.") as folder,
        Soak(Path(folder).resolve(), servers, seed, every, rest) as one,
    ):
        return one.run(minutes * 60)


def main() -> int:
    parser = argparse.ArgumentParser(description="Let hel live with shaky servers for a while.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--servers", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two mishaps of a server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write samples and counts here too")
    options = parser.parse_args()
    began = time.monotonic()
    found = soak(options.minutes, options.servers, options.seed, options.every)
    for name, value in found.rows():
        print(f"{name:<36}{value:>24}")
    print(f"{'seconds in all':<36}{time.monotonic() - began:>24.0f}")
    for problem in found.problems:
        print(f"\n{problem}")
    if options.json:
        options.json.write_text(json.dumps(found.as_json(), indent=1) + "\n")
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main())
