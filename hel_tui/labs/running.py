"""One run of a lab: a fresh copy of the project, a home of its own, one prompt, and what came of it.

Not here: which runs are made (campaign), what the checks look at (checking).
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hel_tui import __version__
from hel_tui.api import Agent, Crashed, Result
from hel_tui.core.store.places import Places, find_places, make_private
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.store.settings import load_settings
from hel_tui.labs.checking import Scene, look, server_calls
from hel_tui.labs.lab import SCRIPTED, Condition, Lab
from hel_tui.labs.laying import lay
from hel_tui.labs.scripted import scripted_model
from hel_tui.labs.tables import BadLab

PYTHON = "LAB_PYTHON"
"""Variable that names the interpreter hel runs in, for entries of servers written in Python."""
_ANSWER = 4000
"""Characters of an answer that are kept."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Who answers in a condition."""

    model: str
    """`PROVIDER/NAME`, or `SCRIPTED`."""
    base_url: str = ""
    effort: str = ""

    def label(self, lab: Lab) -> str:
        """What a report calls the model."""
        return f"{SCRIPTED}/{lab.name}" if self.model == SCRIPTED else self.model


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person says of the model for all runs; empty leaves it to the lab."""

    model: str = ""
    base_url: str = ""
    effort: str = ""

    def of(self, lab: Lab, condition: Condition) -> Voice:
        """Who answers in a condition. The lab's address is that of the lab's model only."""
        address = "" if self.model else condition.base_url
        return Voice(
            self.model or condition.model or lab.model,
            self.base_url or address,
            self.effort or condition.effort,
        )


@dataclass(frozen=True, slots=True)
class Run:
    """Which run it is; `number` from 1."""

    condition: Condition
    number: int


@dataclass(frozen=True, slots=True)
class _Came:
    """What the agent came to. `error` is a failure of hel or of the endpoint."""

    result: Result
    error: str = ""


async def carry_out(
    lab: Lab, run: Run, asked: Asked, folder: Path, *, max_cost: float | None = None
) -> dict[str, Any]:
    """Make one run in `folder`, which is made; returns its row for the results.

    Raises what hel.api raises when there is no model, and BadLab; a bug in hel becomes a row.
    """
    condition, started, began = run.condition, time.time(), time.monotonic()
    project = folder / "project"
    lay(condition.project, project)
    environ = {**os.environ, "HEL_HOME": str(folder / "home"), PYTHON: sys.executable}
    approve(project, environ, condition)
    voice = asked.of(lab, condition)
    scripted = voice.model == SCRIPTED
    came = await _ask(condition, voice, project, environ, None if scripted else max_cost)
    seconds, result, usage = time.monotonic() - began, came.result, came.result.usage
    scene = Scene(project, condition.project, result.text, environ)
    checked = [await look(one, scene) for one in (*lab.passes, *lab.notes)]
    passes, notes = checked[: len(lab.passes)], checked[len(lab.passes) :]
    log = next((one.log for one in (*lab.passes, *lab.notes) if one.log), "")
    hide = Redactor(secrets_in(environ))
    return {
        "lab": lab.name,
        "revision": lab.revision,
        "digest": lab.digest,
        "condition": condition.name,
        "run": run.number,
        "model": voice.label(lab),
        "effort": voice.effort,
        "passed": all(one.passed for one in passes),
        "checks": [{"name": one.name, "passed": one.passed, "why": hide(one.why)} for one in passes],
        "notes": {one.name: one.passed for one in notes},
        "ended": _ended(result),
        "status": result.status,
        "message": hide(result.message),
        "error": hide(came.error),
        "model_calls": usage.requests,
        "tool_calls": len(result.calls),
        "called_before_loading": sum(not call.loaded for call in result.calls),
        "calls": [call.name for call in result.calls],
        "call_states": dict(Counter(call.state for call in result.calls)),
        "server_calls": [name for name, _ in server_calls(project, log)] if log else [],
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost": 0.0 if scripted else usage.cost,
        "unpriced": 0 if scripted else usage.unpriced,
        "seconds": round(seconds, 3),
        "started": round(started, 3),
        "hel": __version__,
        "answer": hide(result.text[:_ANSWER]),
    }


async def _ask(
    condition: Condition,
    voice: Voice,
    project: Path,
    environ: Mapping[str, str],
    max_cost: float | None,
) -> _Came:
    """Give the agent the prompt, the scripted model's endpoint behind it where that is the model."""
    model, base_url = voice.model, voice.base_url
    async with AsyncExitStack() as stack:
        if model == SCRIPTED:
            base_url, key = await stack.enter_async_context(scripted_model(condition.script))
            model, environ = f"{SCRIPTED}/{condition.name}", {**environ, "HEL_API_KEY": key}
        agent = Agent(
            project,
            model=model,
            base_url=base_url or None,
            effort=voice.effort or None,
            access=condition.access,
            tools=condition.tools,
            max_steps=condition.max_steps,
            max_output=condition.max_output,
            max_cost=max_cost,
            mcp=condition.mcp,
            environ=environ,
        )
        try:
            async with agent:
                result = await agent.run(condition.prompt, timeout=condition.timeout)
        except Crashed as crash:
            return _Came(Result("failed", "", "hel failed inside", "failed"), str(crash))
    ended = _ended(result)
    over_cost = max_cost is not None and ended == "limit" and (result.usage.cost or 0.0) >= max_cost
    return _Came(result, result.message if ended == "failed" or over_cost else "")


def _ended(result: Result) -> str:
    """How the last turn ended, in the words of the events; `timeout` when the run's time was up."""
    return "timeout" if (result.status, result.reason) == ("limit", "interrupted") else result.reason


def approve(project: Path, environ: Mapping[str, str], condition: Condition) -> None:
    """Write the home of the run: settings, and the approval of the servers the lab names. Raises BadLab."""
    places = find_places(environ)
    if condition.settings:
        import tomli_w

        make_private(places.config)
        places.user_settings.write_text(tomli_w.dumps(dict(condition.settings)), "utf-8")
        if notes := [one for one in load_settings(project, places).notes if one.file == places.user_settings]:
            raise BadLab(f"condition {condition.name}, settings: {notes[0].sentence}")
    if condition.mcp and condition.servers:
        _approve_servers(project, places, environ, condition.servers)


def _approve_servers(
    project: Path, places: Places, environ: Mapping[str, str], names: tuple[str, ...]
) -> None:
    from hel_tui.core.mcp.config import load_servers
    from hel_tui.core.permissions.trust import TrustStore

    configuration = load_servers(project, places, named_files=(), environ=environ)
    store = TrustStore(places.state)
    review = store.review(configuration, project, environ)
    there = {case.entry.name for case in review.cases}
    if unknown := [name for name in names if name not in there]:
        raise BadLab(f"the project has no server {unknown[0]} that could be approved")
    if problem := store.remember(review, set(names)):
        raise OSError(problem)
