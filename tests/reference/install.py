"""Put the official MCP servers where the tests of this folder look for them: `python tests/reference/install.py`.

Pinned versions; what is there already stays. Without npm, or without an index to take packages from, it says so
and those tests are skipped. Only the standard library. Not here: running the servers (conftest).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

NPM = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
    "@modelcontextprotocol/sdk": "1.32.2",
    "zod": "3.25.76",
}
PYTHON = {
    "python": (
        "mcp-server-fetch==2026.10.24",
        "mcp-server-git==2026.10.19",
        "mcp-server-time==2026.10.19",
    ),
    # It does not start with version 2 of the SDK.
    "python-sqlite": ("mcp-server-sqlite==2025.4.25", "mcp<2"),
}
LIMIT = 600
"""Seconds an installer may take."""


def folder() -> Path:
    """Where the servers are: HEL_REFERENCE, else `.reference` beside the tests."""
    return Path(os.environ.get("HEL_REFERENCE") or Path(__file__).parents[2] / ".reference").resolve()


def is_there(name: str) -> bool:
    """Whether exactly what is pinned under this name was installed."""
    mark = folder() / f"{name}.installed"
    return mark.is_file() and mark.read_text() == _mark(name)


def _mark(name: str) -> str:
    pins = NPM if name == "node" else [*PYTHON[name], *sys.version_info[:2]]
    return hashlib.sha256(json.dumps(pins).encode()).hexdigest()


def _note(name: str) -> None:
    (folder() / f"{name}.installed").write_text(_mark(name))


def install_npm() -> str:
    """Install the npm servers; returns what is in the way, empty when nothing is."""
    if is_there("node"):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not there"
    place = folder() / "node"
    place.mkdir(parents=True, exist_ok=True)
    (place / "package.json").write_text(json.dumps({"private": True, "dependencies": NPM}, indent=2))
    problem = _run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], place)
    if not problem:
        _note("node")
    return problem


def install_python(name: str) -> str:
    """Install one of the environments of Python servers; likewise."""
    if is_there(name):
        return ""
    place = folder() / name
    try:
        venv.create(place, clear=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no environment could be made: {error}"
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    problem = _run([*pip, *PYTHON[name]], place)
    if not problem:
        _note(name)
    return problem


def _run(command: list[str], cwd: Path) -> str:
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or done.stdout.strip())[-500:]


def main() -> int:
    """Install everything; what cannot be had is named, and is no failure."""
    folder().mkdir(parents=True, exist_ok=True)
    for name in ("node", *PYTHON):
        problem = install_npm() if name == "node" else install_python(name)
        print(f"{name}: {'ready' if not problem else f'not to be had here: {problem}'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
