"""Runs `hel` as a shell does: a real process, its output and its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEL = (sys.executable, "-m", "hel_tui")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ran:
    """What a command said."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """stdout as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["type"] == kind]


def hel(*arguments: str, env: Mapping[str, str], cwd: Path, stdin: str = "", limit: float = 120) -> Ran:
    """Run `hel ARGUMENTS` to its end."""
    done = subprocess.run(
        [*HEL, *arguments],
        env={**env, "PYTHONPATH": str(ROOT)},
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def loaded_modules(code: str, names: Sequence[str]) -> list[str]:
    """Which of `names` are imported after running `code` in a fresh interpreter."""
    program = (
        f"import sys\n{code}\nsys.stderr.write(' '.join(n for n in {list(names)!r} if n in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stderr.split()
