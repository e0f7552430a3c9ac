"""The sample project that `hel demo` lays out, and the script its model plays (demo.toml).

Not here: opening it (cli), playing the script (core.models.demo).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

TEMPLATE = Path(__file__).parent / "inventory"
_MARK = ".hel/mcp/inventory.py"
"""A folder that has this file, beginning as the template's does, is a sample and may be laid anew."""


class NotASample(ValueError):
    """The folder holds something that is not the sample project; nothing was written."""


def lay(directory: Path, python: str) -> Path:
    """Lay a fresh sample project into `directory` and return it.

    `python` is the interpreter its server is started with. The folder is made if needed; it must be empty
    or hold an earlier sample, of which the sample's own files are renewed and all others left. Raises
    NotASample and OSError.
    """
    if directory.exists() and not directory.is_dir():
        raise NotASample(f"{directory} is not a folder.")
    if directory.is_dir() and any(directory.iterdir()) and not is_sample(directory):
        raise NotASample(f"{directory} is not empty and not a sample project: name a new folder.")
    for folder in (directory / ".hel", directory / ".hel" / "mcp"):
        if folder.is_symlink():
            raise NotASample(f"{folder} is a symbolic link: name a new folder.")
    for source in sorted(TEMPLATE.rglob("*")):
        if source.is_dir() or "__pycache__" in source.parts:
            continue
        inside = source.relative_to(TEMPLATE)
        parts = [".hel" if part == "dot-hel" else part for part in inside.parts]
        target = directory.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # a symlink put there must not be written through
        if inside.name == "mcp.json":
            target.write_text(_with_python(source.read_text("utf-8"), python), "utf-8")
        else:
            shutil.copyfile(source, target)
    (directory / ".hel" / "mcp" / "events.jsonl").unlink(missing_ok=True)
    return directory


def is_sample(directory: Path) -> bool:
    """Whether the folder holds a sample project laid by hel."""
    try:
        first = (directory / _MARK).read_text("utf-8").partition("\n")[0]
    except (OSError, UnicodeDecodeError):
        return False
    return first == (TEMPLATE / "dot-hel" / "mcp" / "inventory.py").read_text("utf-8").partition("\n")[0]


def _with_python(text: str, python: str) -> str:
    config = json.loads(text)
    config["servers"]["inventory"]["command"] = python
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"
