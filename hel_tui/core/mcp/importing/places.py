"""Where other agents keep their servers, on this machine and in this project.

Paths only. Not here: reading them (gather).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hel_tui.core.store.expansion import expand_home

Source = Literal[
    "claude",
    "claude-desktop",
    "codex",
    "opencode",
    "gemini",
    "crush",
    "goose",
    "cursor",
    "vscode",
    "zed",
]


@dataclass(frozen=True, slots=True)
class Spot:
    """A file that may be there. `within` is the project when the file is part of it."""

    path: Path
    within: Path | None = None


def usual_files(source: Source, project: Path, environ: Mapping[str, str]) -> tuple[Spot, ...]:
    """The files of an agent, those of the project first."""
    return (
        *(Spot(project / name, project) for name in _PROJECT[source]),
        *(Spot(path) for path in _own(source, environ)),
    )


_PROJECT: dict[Source, tuple[str, ...]] = {
    "claude": (".mcp.json",),
    "claude-desktop": (),
    "codex": (".codex/config.toml",),
    "opencode": (
        *("opencode.json", "opencode.jsonc"),
        *(".opencode/opencode.json", ".opencode/opencode.jsonc"),
    ),
    "gemini": (".gemini/settings.json",),
    "crush": ("crush.json", ".crush.json"),
    "goose": (),
    "cursor": (".cursor/mcp.json",),
    "vscode": (".vscode/mcp.json",),
    "zed": (".zed/settings.json",),
}


def _own(source: Source, environ: Mapping[str, str]) -> Iterator[Path]:
    home = Path(expand_home("~", environ))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    support = home / "Library" / "Application Support" if sys.platform == "darwin" else config
    match source:
        case "claude":
            yield Path(environ.get("CLAUDE_CONFIG_DIR") or home) / ".claude.json"
        case "claude-desktop":
            yield support / "Claude" / "claude_desktop_config.json"
        case "codex":
            yield Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml"
        case "opencode":
            yield from (config / "opencode" / name for name in ("opencode.json", "opencode.jsonc"))
        case "gemini":
            yield home / ".gemini" / "settings.json"
        case "crush":
            yield config / "crush" / "crush.json"
        case "goose":
            yield config / "goose" / "config.yaml"
        case "cursor":
            yield home / ".cursor" / "mcp.json"
        case "vscode":
            yield support / "Code" / "User" / "mcp.json"
        case "zed":
            yield config / "zed" / "settings.json"
