"""What is kept of one server over all its lives in a run: its log, its trace, its figures.

Not here: the life itself (supervisor).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.mcp.failures import Failures
from hel_tui.core.mcp.figures import Figures
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.listchanges import ListChanges
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.mcp.switches import Switches

LET_GO = "so much was said on its wire that the oldest bodies are let go"


@dataclass(frozen=True, slots=True)
class Stores:
    """Of one name: whoever has it now writes here."""

    log: LogStore
    frames: FrameStore
    figures: Figures
    failures: Failures
    """Of all servers."""
    changes: ListChanges
    """Of all servers' lists."""
    switches: Switches


def stores_for(
    name: str,
    folder: Callable[[], Path | None],
    mask: Callable[[str], str],
    together: LogStore,
    failures: Failures,
    changes: ListChanges,
) -> Stores:
    """New ones. `folder` is where bodies of frames go, `together` the log of all servers."""
    log = LogStore(mask=mask, server=name, also=together)
    frames = FrameStore(name, folder, mask)
    frames.bodies.on_lost = lambda: log.remark(LET_GO)
    frames.bodies.on_failed = lambda why: log.remark(f"bodies of frames cannot be written to a file: {why}")
    return Stores(log, frames, Figures(), failures, changes, Switches())
