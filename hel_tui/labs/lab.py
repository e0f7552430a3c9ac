"""A lab as read from its file: what is run, under which conditions, and what passes.

Data only. Not here: the file (reading), what a check looks at (checking), runs (running).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hel_tui.core.protocol import AccessLevel

SCRIPTED = "scripted"
"""The model that plays the conditions' scripts."""
Expect = Literal["", "all", "none"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that a check wants to see: arguments that it has, others do not matter."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Check:
    """Something that is looked at after a run. All that it says must be so."""

    name: str
    file: str = ""
    """A path in the project, for `exact`, `contains`, `matches` and `absent`."""
    exact: str | None = None
    contains: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    """Regular expressions that are found in the file."""
    absent: bool = False
    changed: tuple[str, ...] = ()
    """Paths that are not as they were laid."""
    only_changed: tuple[str, ...] | None = None
    """Globs: no other file outside `.hel` is new, gone or different."""
    answer_contains: tuple[str, ...] = ()
    answer_matches: tuple[str, ...] = ()
    log: str = ""
    """A file of the project in which a server writes each message it receives, a line of JSON each."""
    calls: tuple[Wanted, ...] = ()
    """Calls in that log, in this order; others may stand between."""
    exactly: bool = False
    """No others may."""
    not_called: tuple[str, ...] = ()
    """Tools that are not called in that log."""
    command: tuple[str, ...] = ()
    """A program that ends with status 0 in the project."""


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    tool: str
    arguments: Mapping[str, Any]
    shows: str = ""
    """A regular expression its result has; named groups become values."""


@dataclass(frozen=True, slots=True)
class ScriptedStep:
    """One answer of the scripted model; `<name>` stands for a value."""

    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """One way to run the task."""

    name: str
    prompt: str
    project: Path
    """The folder that is copied fresh for each run."""
    about: str = ""
    expect: Expect = ""
    """What `hel eval` holds the lab to: that all its runs pass, or none."""
    model: str = ""
    """Empty: the lab's."""
    base_url: str = ""
    """Where that model is; empty for its provider's address."""
    effort: str = ""
    """How hard the model is to think; empty leaves it to the provider."""
    mcp: bool = True
    servers: tuple[str, ...] = ()
    """Those that are approved beforehand."""
    access: AccessLevel = "confirm"
    tools: tuple[str, ...] | None = None
    max_steps: int = 50
    max_output: int | None = None
    timeout: float = 600.0
    """Seconds."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The person's config.toml of the run."""
    script: tuple[ScriptedStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Lab:
    """The same task under different conditions."""

    file: Path
    name: str
    revision: int
    model: str
    conditions: tuple[Condition, ...]
    passes: tuple[Check, ...]
    """A run passes when all of these hold."""
    notes: tuple[Check, ...] = ()
    """Counted in the report; they decide nothing."""
    about: str = ""
    repetitions: int = 3
    parallel: int = 1
    digest: str = ""
    """SHA-256 over the file and everything in its projects."""
