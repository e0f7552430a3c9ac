"""Where hel keeps things: configuration a person writes, state hel remembers, caches.

Paths only; nothing is read here. Not here: what is in the files (settings, memory, mcp.config).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hel_tui.core.values import dataclass

PRIVATE_FOLDER = 0o700
PROJECT_MARK = "project"
"""The file of a session's folder that says whose session it is: the path of the project."""
_KEY_DIGITS = 12
_KEY_NAME = 40


@dataclass(frozen=True, slots=True)
class Places:
    """The three roots. Files that only hel writes are under `state`."""

    config: Path
    state: Path
    cache: Path

    @property
    def user_settings(self) -> Path:
        return self.config / "config.toml"

    @property
    def user_servers(self) -> Path:
        """Servers for all projects of this person."""
        return self.config / "mcp.json"

    def local_servers(self, project: Path) -> Path:
        """Servers for one project and this person only."""
        return self.config / "projects" / project_key(project) / "mcp.json"

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    def session_dir(self, session_id: str) -> Path:
        return self.sessions / session_id


def project_settings(project: Path) -> Path:
    """The settings a repository carries; they can only tighten."""
    return project / ".hel" / "config.toml"


def find_places(environ: Mapping[str, str]) -> Places:
    """Return the folders of this platform, or sub-folders of `HEL_HOME` when that is set."""
    home = environ.get("HEL_HOME")
    if home:
        root = Path(home).expanduser().absolute()
        return Places(root / "config", root / "state", root / "cache")
    import platformdirs

    return Places(
        platformdirs.user_config_path("hel"),
        platformdirs.user_state_path("hel"),
        platformdirs.user_cache_path("hel"),
    )


def project_key(project: Path) -> str:
    """Return a folder name for `project`: readable, and the same for every spelling of its path."""
    import hashlib  # brings OpenSSL, and the screen starts without a key

    real = os.path.realpath(project)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(real).name).strip(".-")[:_KEY_NAME] or "root"
    return f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:_KEY_DIGITS]}"


def make_private(folder: Path) -> None:
    """Make `folder` and its missing parents, readable by their owner only. Raises OSError."""
    missing = []
    at = folder
    while not at.exists():
        missing.append(at)
        at = at.parent
    for step in reversed(missing):
        step.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "is not a folder", str(folder))
