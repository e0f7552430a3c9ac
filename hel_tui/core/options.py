"""What a person asked for on the command line, for one run of the core.

Data only. Not here: settings files (store), which of the two wins (session).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hel_tui.core.protocol import AccessLevel
from hel_tui.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """None means: not said, so settings or defaults decide."""

    project: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    base_url: str | None = None
    fallback_model: str | None = None
    """`PROVIDER/NAME` that answers the rest of a turn when the model cannot be reached."""
    effort: str | None = None
    """How hard the model is to think."""
    access: AccessLevel | None = None
    tools: tuple[str, ...] | None = None
    max_steps: int | None = None
    max_output: int | None = None
    """Tokens one answer may have; None leaves it to the provider."""
    max_cost: float | None = None
    """US dollars that may be spent in this run: past them no further request is made. None for no bound."""
    shape: Mapping[str, Any] | None = None
    """A JSON schema that the provider is to hold answers to, where it can. Nothing else is made of it."""
    mcp: bool = True
    mcp_config: tuple[Path, ...] = ()
    typed: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Servers given on the command line: (name, entry). Nothing in them is a variable."""
    only: str = ""
    """The one server that counts; empty for all that are configured."""
    resume: str = ""
    """The kept session to go on with: an id, the beginning of one, `last` for the newest of the project."""
    answerable: bool = True
    """False when nobody can answer a question: what would ask is refused."""
    trust_first: bool = False
    """Whether a turn waits for the answer to the question of trust: somebody answers it at once."""
    server_wait: float = 5.0
    """Seconds a turn waits for servers that are still starting."""
