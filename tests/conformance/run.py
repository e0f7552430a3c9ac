"""Run the MCP conformance suite with hel's host as the client and print what came of each scenario.

    python tests/conformance/run.py [--suite 0.2] [--scenario NAME]… [--cache FOLDER] [--list]

Needs npm and, the first time, the npm registry: the suite and a Node that runs it are put into the cache.
Scenarios run one after another, each at every revision of the protocol it applies to. Exit status 1 when
one failed. Not here: what the client does (client.py).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NODE = "22.23.3"
"""The older suite needs 22 (`fs.globSync`)."""
SUITES = {"0.2": "0.2.0-alpha.12", "0.1": "0.1.16"}
REVISIONS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
TIMEOUT = 60

LEFT_OUT = {
    "auth/dpop": "marked as an extension by the suite",
    "auth/dpop-nonce": "marked as an extension by the suite",
    "auth/wif-jwt-bearer": "marked as an extension by the suite",
    "auth/enterprise-managed-authorization": "marked as an extension by the suite",
    "auth/cross-app-access-complete-flow": "marked as an extension by the suite",
    "sep-2640-client-no-prefetch": "marked as an extension by the suite",
    "sep-2640-client-verify-digest": "marked as an extension by the suite",
    "sep-2640-client-verify-size": "marked as an extension by the suite",
    "sep-2640-client-verify-frontmatter": "marked as an extension by the suite",
}
ROOT = Path(__file__).parents[2]
_LISTED = re.compile(r"^ {2}- (\S+)(?: \[([^\]]*)\])?$")


@dataclass(frozen=True, slots=True)
class Run:
    """A scenario at one revision; an empty one leaves it to the suite."""

    scenario: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    passed: int
    failed: tuple[str, ...]
    """Checks that failed, a line each."""
    warnings: tuple[str, ...]
    ended_well: bool
    log: str = ""


class Suite:
    """One version of the suite in the cache."""

    def __init__(self, name: str, cache: Path) -> None:
        self.name = name
        self._folder = cache / f"{SUITES[name]}-node{NODE}"
        self._node = self._folder / "node_modules" / "node" / "bin" / "node"
        self._index = self._folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"

    def install(self) -> None:
        """Put Node and the suite into the cache; nothing when they are there."""
        if self._index.exists() and self._node.exists():
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        packages = {"node": NODE, "@modelcontextprotocol/conformance": SUITES[self.name]}
        (self._folder / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
        command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=self._folder, check=True)

    def runs(self) -> list[Run]:
        """Every client scenario at every revision it applies to."""
        text = self._run(["list"]).stdout
        found: list[Run] = []
        section = ""
        for line in text.splitlines():
            if line and not line.startswith(" "):
                section = line.split()[0]
            listed = _LISTED.match(line)
            if listed is None or section != "Client":
                continue
            revisions = [one for one in (listed[2] or "").split(",") if one in REVISIONS]
            found += [Run(listed[1], one) for one in revisions] or [Run(listed[1])]
        return found

    def run(self, run: Run, folder: Path) -> Outcome:
        """Run one scenario."""
        client = f"{sys.executable} {Path(__file__).with_name('client.py')}"
        arguments = ["client", "--command", client, "--scenario", run.scenario]
        arguments += ["--timeout", str(TIMEOUT * 1000), "-o", str(folder)]
        if run.revision:
            arguments += ["--spec-version", run.revision]
        done = self._run(arguments)
        checks = [
            check for file in sorted(folder.rglob("checks.json")) for check in json.loads(file.read_text())
        ]
        failed, warnings = (
            tuple(_told(check) for check in checks if check.get("status") == status)
            for status in ("FAILURE", "WARNING")
        )
        passed = sum(check.get("status") == "SUCCESS" for check in checks)
        return Outcome(passed, failed, warnings, done.returncode == 0, f"{done.stdout}\n{done.stderr}")

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        environ = {
            **os.environ,
            "PATH": f"{self._node.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }
        return subprocess.run(
            [str(self._node), str(self._index), *arguments],
            env=environ,
            capture_output=True,
            text=True,
            timeout=TIMEOUT * 3,
            check=False,
        )


def _told(check: dict[str, object]) -> str:
    """A failed check as a line."""
    why = check.get("errorMessage") or check.get("description") or ""
    return f"{check.get('id')}: {why}"[:300]


def default_cache() -> Path:
    """Where the suite is kept between runs."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "hel-conformance"


def judge(suite: Suite, runs: list[Run], *, verbose: bool) -> int:
    """Run them, print a line each, and return the exit status."""
    counts = {"ok": 0, "left out": 0, "FAILED": 0}
    for run in runs:
        if reason := LEFT_OUT.get(run.scenario):
            word, detail = "left out", reason
        else:
            with tempfile.TemporaryDirectory(prefix="hel-conformance-") as folder:
                outcome = suite.run(run, Path(folder))
            word, detail = "ok", f"{outcome.passed} checks"
            if outcome.warnings:
                detail += f", warnings:{_lines(outcome.warnings)}"
            if outcome.failed or not outcome.ended_well:
                word, detail = "FAILED", _lines(outcome.failed) or "the client ended with an error"
                if verbose:
                    detail += f"\n{outcome.log}"
        counts[word] += 1
        print(f"{word:8}  {run.revision or '-':10}  {run.scenario}  {detail}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["FAILED"] else 0


def _lines(checks: tuple[str, ...]) -> str:
    return "".join(f"\n    {one}" for one in checks)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the MCP conformance suite against hel's host.")
    parser.add_argument("--suite", choices=sorted(SUITES), default="0.2")
    parser.add_argument("--scenario", action="append", help="only this one; may be given again")
    parser.add_argument("--revision", choices=REVISIONS, help="only at this revision of the protocol")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--list", action="store_true", help="say what would run, and end")
    parser.add_argument("--verbose", action="store_true", help="print what client and suite said of failures")
    args = parser.parse_args()
    if shutil.which("npm") is None:
        print("npm is needed: it fetches the suite", file=sys.stderr)
        return 2
    suite = Suite(args.suite, args.cache)
    suite.install()
    runs = [
        run
        for run in suite.runs()
        if (not args.scenario or run.scenario in args.scenario)
        and (not args.revision or run.revision in ("", args.revision))
    ]
    if args.list:
        print("\n".join(f"{run.revision or '-':10}  {run.scenario}" for run in runs))
        return 0
    return judge(suite, runs, verbose=args.verbose)


if __name__ == "__main__":
    sys.exit(main())
