"""`hel mcp test`: the saved checks of a project, run without a screen.

Typing it is the approval of the calls; trust of the servers is needed all the same. Servers run side by
side, the checks of one in order. Not here: what a check is and how it is compared (core.checks), how it is
told (reporting).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from dataclasses import dataclass, field, replace

from hel_tui.cli.common import Exit
from hel_tui.cli.failure import failure_lines
from hel_tui.cli.mcp.alone import UP, Alone, alone, sorry
from hel_tui.cli.mcp.ground import Ground, did_you_mean, note
from hel_tui.cli.mcp.reporting import Report, as_json, junit, told, totals
from hel_tui.cli.orderly import run_in_order
from hel_tui.core.checks.check import FOLDER, Check
from hel_tui.core.checks.reading import read_checks
from hel_tui.core.checks.running import Call, NoResult, Runner
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.large import JsonText
from hel_tui.core.protocol import CheckResult, Event
from hel_tui.core.store.atomic import write_atomic
from hel_tui.core.store.redact import Redactor, secrets_in
from hel_tui.core.vocabulary import Json


@dataclass(slots=True)
class _Run:
    """One run of checks."""

    ground: Ground
    args: argparse.Namespace
    hide: Redactor = field(default_factory=lambda: Redactor(secrets_in(os.environ)))
    status: int = Exit.DONE
    """The worst that was found before anything ran."""


def run(args: argparse.Namespace, ground: Ground) -> int:
    """Run `hel mcp test`; returns the exit status."""
    checks = read_checks(ground.project)
    if not checks:
        return ground.sorry(f"there are no checks in {ground.project / FOLDER}", Exit.USAGE)
    chosen = [
        check
        for check in checks
        if args.server in (None, check.server) and (args.name or "").lower() in check.name.lower()
    ]
    if not chosen:
        return ground.sorry(_none_of(checks, args, ground), Exit.USAGE)
    one = _Run(ground, args)
    results, seconds = [], 0.0

    async def work() -> int:
        nonlocal seconds
        began = time.monotonic()
        results.extend(await _all(one, chosen))
        seconds = time.monotonic() - began
        return Exit.DONE

    if (ended := run_in_order(work())) != Exit.DONE:
        return ended
    return _tell(one, Report(tuple(results), seconds))


def _none_of(checks: tuple[Check, ...], args: argparse.Namespace, ground: Ground) -> str:
    """Why nothing is left to run."""
    if args.server is not None and args.server not in {check.server for check in checks}:
        if args.server not in ground.names:
            return ground.unknown(args.server)
        return f"there is no check of {args.server}"
    near = did_you_mean(args.name or "", [check.name for check in checks], "")
    return f"there is no check whose name holds {args.name}{near}"


async def _all(one: _Run, checks: list[Check]) -> list[CheckResult]:
    """Run them, one task a server; results in the order of `checks`."""
    servers = list(dict.fromkeys(check.server for check in checks))
    groups = await asyncio.gather(
        *(_server(one, name, [check for check in checks if check.server == name]) for name in servers)
    )
    found = {id(check): result for group in groups for check, result in group}
    return [found[id(check)] for check in checks]


async def _server(one: _Run, name: str, checks: list[Check]) -> list[tuple[Check, CheckResult]]:
    runner = Runner(one.ground.project, os.environ, hide=one.hide.add, mask=one.hide, update=one.args.update)
    sound = [check for check in checks if not check.problem]
    unsound = [(check, await runner.run(check, _never)) for check in checks if check.problem]
    if unsound:
        one.status = max(one.status, Exit.USAGE)
    if not sound:
        return unsound
    entry = _entry(one, name)
    if isinstance(entry, str):
        return [*unsound, *((check, _failed(check, entry)) for check in sound)]
    done = [
        (check, result) for check, result in zip(sound, await _with(one, entry, sound, runner), strict=True)
    ]
    return [*unsound, *done]


def _entry(one: _Run, name: str) -> ServerEntry | str:
    """The entry of a server that may be started, or why it may not; the exit status is noted."""
    ground = one.ground
    entry = next((each for each in ground.configuration.entries if each.name == name), None)
    if entry is None:
        one.status = max(one.status, Exit.USAGE)
        problem = ground.trouble_with(name)
        return f"{name} cannot be used: {problem.sentence}" if problem else ground.unknown(name)
    if entry not in ground.review.trusted:
        if not entry.enabled:
            return f"{name} is switched off in its file"
        one.status = max(one.status, Exit.REFUSED)
        return f"{name} is not approved for this project: hel mcp trust"
    return entry


async def _with(one: _Run, entry: ServerEntry, checks: list[Check], runner: Runner) -> list[CheckResult]:
    """Start a server and run its checks in order."""
    entry = replace(entry, reconnect=False)

    def heard(_event: Event) -> None:
        """What a server is odd about is no matter of a check."""

    async with alone(entry, one.ground.project, one.ground.places, heard) as server:
        status = await server.come_to_rest()
        if status.phase not in UP:
            why = f"{entry.name} cannot be reached: {status.phase}: {status.reason}"
            failure = server.host.failure(entry.name)
            sorry(one.hide(why))
            for line in failure_lines(failure) if failure is not None else ():
                note(one.hide(line))
            return [_failed(check, one.hide(why)) for check in checks]
        call = _caller(server)
        runner = replace(runner, mask=lambda text: server.hide(one.hide(text)))
        return [await runner.run(check, call) for check in checks]


def _caller(server: Alone) -> Call:
    """Makes the calls of checks on one server."""

    async def call(check: Check, arguments: Json) -> Json:
        catalogue = server.host.catalogue
        tool = catalogue.find(check.server, check.tool)
        if tool is None:
            names = [row.raw for row in catalogue.rows() if not row.reason]
            near = did_you_mean(check.tool, names, f"; it has {', '.join(names[:20]) or 'none'}")
            raise NoResult(f"{check.server} offers no tool named {check.tool}{near}")
        try:
            result = await tool.call(tool.raw, arguments, lambda _progress, _total, _message: None)
        except CallFault as fault:
            raise NoResult(str(fault)) from fault
        if isinstance(structured := result.get("structuredContent"), JsonText):
            result = {**result, "structuredContent": json.loads(structured)}
        return result

    return call


async def _never(_check: Check, _arguments: Json) -> Json:
    raise NoResult("it was not run")


def _failed(check: Check, why: str) -> CheckResult:
    return CheckResult(check.row, "error", 0.0, why)


def _tell(one: _Run, report: Report) -> int:
    if one.args.json:
        print(as_json(report))
    else:
        print(told(report), end="")
    if one.args.junit is not None:
        problem = write_atomic(one.args.junit.absolute(), junit(report), mode=0o644, follow=False)
        if problem is not None:
            sorry(problem.sentence)
            return Exit.FAILED
    sums = totals(report)
    if one.status != Exit.DONE:
        return one.status
    return Exit.DONE if sums["passed"] == len(report.results) else Exit.FAILED
