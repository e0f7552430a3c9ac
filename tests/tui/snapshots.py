"""Plain-text frames kept beside the tests. HEL_UPDATE_SNAPSHOTS=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def same_as_kept(name: str, text: str) -> None:
    """Compare with the kept frame; the file is written when it is asked for."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("HEL_UPDATE_SNAPSHOTS") == "1":
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text + "\n", "utf-8")
    assert file.exists(), f"no kept frame {file.name}: run once with HEL_UPDATE_SNAPSHOTS=1"
    assert text + "\n" == file.read_text("utf-8"), f"the screen differs from {file.name}"
