"""Runs one check: fills its variables in, has the call made, compares, and keeps new snapshots.

Whoever runs checks says how a call is made. Not here: starting servers and approval (session, cli).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.checks.check import FOLDER, MAX_DEPTH, SNAPSHOTS, Check, slug
from hel_tui.core.checks.comparing import Difference, compare, rendered
from hel_tui.core.checks.masks import TooSlow, masked
from hel_tui.core.checks.secrets import filled_in
from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.protocol import CheckResult, CheckState
from hel_tui.core.store.atomic import write_atomic
from hel_tui.core.store.reading import Unreadable, read_plain
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

MAX_SNAPSHOT = 16 << 20


@dataclass(slots=True)
class NoResult(Exception):
    """A call came to no result; the sentence says why."""

    sentence: str


Call = Callable[[Check, Json], Awaitable[Json]]
"""Makes the call of a check with these arguments; returns the raw result or raises `NoResult`."""


@dataclass(slots=True)
class Runner:
    """What checks are run with."""

    project: Path
    environ: Mapping[str, str]
    hide: Callable[..., None] = lambda *_values: None
    """Hears the credentials that variables are filled in with."""
    mask: Callable[[str], str] = lambda text: text
    """Takes secrets out of what is told and kept."""
    update: bool = False
    """Keep what comes as the expected text of snapshots."""

    async def run(self, check: Check, call: Call) -> CheckResult:
        """Run one check; whatever goes wrong is its result."""
        if check.problem:
            return self._told(check, "error", 0.0, Difference(check.problem))
        arguments, values, unset = filled_in(check.arguments, self.environ)
        if unset:
            verb = "is" if len(unset) == 1 else "are"
            return self._told(check, "error", 0.0, Difference(f"{' and '.join(unset)} {verb} not set"))
        self.hide(*values)
        began = time.monotonic()
        try:
            async with asyncio.timeout(check.timeout):
                result = await call(check, arguments)
        except TimeoutError:
            why = Difference(f"no answer within {check.timeout:g} s")
            return self._told(check, "error", time.monotonic() - began, why)
        except NoResult as none:
            return self._told(check, "error", time.monotonic() - began, Difference(none.sentence))
        seconds = time.monotonic() - began
        found = await in_thread(lambda: self.judge(check, result), "hel-check")
        return self._told(check, "failed" if found else "passed", seconds, found)

    def judge(self, check: Check, result: Json) -> Difference:
        """Compare a result; with `update`, what a snapshot was is no more. Reads and writes files."""
        if check.expected.kind != "snapshot":
            return compare(check, result)
        path = snapshot_file(self.project, check)
        data = read_plain(path, within=self.project, limit=MAX_SNAPSHOT)
        if isinstance(data, Unreadable):
            return Difference(f"the snapshot was not read: {data.sentence}")
        before = data.decode("utf-8", "replace") if data is not None else None
        found = compare(check, result, before, self.mask)
        if is_nested_deeper(result, MAX_DEPTH):
            return found
        if found and self.update and (result.get("isError") is True) == check.expected.is_error:
            if problem := keep_snapshot(self.project, check, result, self.mask):
                return Difference(problem)
            return Difference()
        return found

    def _told(self, check: Check, state: CheckState, seconds: float, found: Difference) -> CheckResult:
        return CheckResult(check.row, state, seconds, self.mask(found.message), self.mask(found.diff))


def snapshot_file(project: Path, check: Check) -> Path:
    """Where the expected text of a snapshot is."""
    return project / FOLDER / SNAPSHOTS / (check.expected.snapshot or f"{slug(check.name)}.txt")


def keep_snapshot(project: Path, check: Check, result: Json, mask: Callable[[str], str]) -> str:
    """Write what `result` is as the expected text; "" or a sentence why it could not be.

    What looks like a credential is left out: the file is committed.
    """
    try:
        text = mask(masked(rendered(result, check.expected.ignore), check.expected.masks))
    except TooSlow as slow:
        return f"The snapshot was not kept: {slow}."
    path = snapshot_file(project, check)
    if any(
        part.is_symlink()
        for part in (path, *path.parents)
        if part.is_relative_to(project) and part != project
    ):
        return f"{path} was not saved: a part of it is a link."
    failed = write_atomic(path, text.encode(), mode=0o644, follow=False)
    return failed.sentence if failed is not None else ""
