"""The saved checks of a project in a session: listed, run, and made from calls.

Their files belong to a repository: each check is agreed to once, and only as long as its file stays the same.
Not here: comparing and files (checks), starting servers (mcp).
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from hel_tui.core import protocol as p
from hel_tui.core.agent.arguments import parse_arguments
from hel_tui.core.agent.gates import Policy, Verdict
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.checks.check import MAX_DEPTH, TOO_DEEP, Check
from hel_tui.core.checks.masks import mask_problem
from hel_tui.core.checks.reading import read_checks
from hel_tui.core.checks.running import NoResult, Runner
from hel_tui.core.checks.saving import NotSaved, expected_of, save
from hel_tui.core.checks.secrets import filled_in
from hel_tui.core.counts import counted
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.large import JsonText
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.store.redact import Redactor
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

NOBODY = "Checks were not run: nobody is there to agree to it. `hel mcp test` runs them."
CALLS = "checks"
"""What stands as the tool in the question whether checks may be run."""
Key = tuple[str, str]
"""The hash of a check's file and its name: what is agreed to."""


class Checking:
    """Bound to one session. `rows` and `results` are safe from any thread."""

    def __init__(
        self,
        *,
        project: Path,
        environ: Mapping[str, str],
        host: Host,
        ledger: Ledger,
        policy: Policy,
        desk: Desk,
        redactor: Redactor,
        emit: Callable[[p.Event], None],
        answerable: bool,
    ) -> None:
        self._project = project
        self._environ = environ
        self._host = host
        self._ledger = ledger
        self._policy = policy
        self._desk = desk
        self._redactor = redactor
        self._emit = emit
        self._answerable = answerable
        self._runner = Runner(project, environ, hide=redactor.add, mask=redactor)
        self._checks: tuple[Check, ...] = ()
        self._agreed: set[Key] = set()
        """What the person agreed to in this run of hel, or saved in it."""
        self._chosen: set[Key] = set()
        """What the person had run in this run of hel."""
        self._running = asyncio.Lock()
        self.rows: tuple[p.CheckRow, ...] = ()
        self.results: tuple[p.CheckResult, ...] = ()

    # ------------------------------------------------------------------ the files

    async def read(self) -> None:
        """Read the files anew; tell when they say something else."""
        checks = await in_thread(lambda: read_checks(self._project), "hel-checks")
        is_new = checks != self._checks
        self._checks = checks
        self.rows = tuple(sorted((check.row for check in checks), key=lambda row: row.name))
        if is_new:
            self._emit(p.ChecksChanged(len(checks)))

    async def save(self, command: p.SaveCheck) -> None:
        """Keep a call with its result as what is expected."""
        try:
            check, result = self._made_of(command)
            path = await in_thread(lambda: save(self._project, check, result, self._redactor), "hel-check")
        except NotSaved as problem:
            self._emit(p.Notice("warning", str(problem)))
            return
        await self.read()
        self._agreed |= {_key(one) for one in self._checks if one.name == check.name}
        where = path.relative_to(self._project)
        self._emit(p.Notice("info", f"Saved as {where}; `hel mcp test` runs it.", check.server))

    def _made_of(self, command: p.SaveCheck) -> tuple[Check, Json]:
        """The check a call becomes, and the result it is expected to have. Raises NotSaved."""
        detail = self._ledger.detail(command.call_id)
        if detail is None or not detail.server:
            raise NotSaved("Not saved: only calls of a server's tools can be checks.")
        if not detail.raw:
            why = "it is too large to be kept" if detail.state in ("ok", "failed") else "it came to no result"
            raise NotSaved(f"Not saved: the result of this call is not there; {why}.")
        result, arguments = json.loads(detail.raw), parse_arguments(detail.arguments)
        if not isinstance(arguments, dict):
            raise NotSaved(f"Not saved: {arguments}")
        if is_nested_deeper(result, MAX_DEPTH):
            raise NotSaved(f"Not saved: the result is {TOO_DEEP}.")
        if problem := next(filter(None, map(mask_problem, command.masks)), ""):
            raise NotSaved(f"Not saved: {problem}.")
        expected, name = expected_of(result, command.kind, command.masks), command.name.strip()
        return Check(name, detail.server, detail.tool, Path(), arguments, expected), result

    # -------------------------------------------------------------------- running

    async def run(self, server: str, name: str = "") -> None:
        """Run the checks of a server ("" for all), or the one with this name, once the person agreed to it;
        tell how they went.
        """
        async with self._running:
            await self.read()
            checks = [
                check for check in self._checks if server in ("", check.server) and name in ("", check.name)
            ]
            if not checks:
                of = f" of {server}" if server else ""
                self._emit(p.Notice("info", f"There are no checks{of} in .hel/checks."))
                return
            if not await self._may_run([check for check in checks if not check.problem], server):
                return
            self._chosen |= set(map(_key, checks))
            began = time.monotonic()
            results = await self._all(checks)
            self.keep(results)
            passed = sum(result.state == "passed" for result in results)
            failed = sum(result.state in ("failed", "error") for result in results)
            self._emit(p.ChecksRan(passed, failed, time.monotonic() - began))

    def keep(self, results: Sequence[p.CheckResult]) -> None:
        """These are the newest results of their checks; those of checks that are gone are let go."""
        kept = {row.name for row in self.rows} - {result.check.name for result in results}
        self.results = (*(one for one in self.results if one.check.name in kept), *results)

    async def _may_run(self, checks: Sequence[Check], server: str) -> bool:
        """Whether the person agreed to these checks as they are now; asked where that is not known."""
        asked = [check for check in checks if _key(check) not in self._agreed and self._asks(check)]
        if not asked:
            return True
        if not self._answerable:
            self._emit(p.Notice("warning", NOBODY))
            return False
        calls = [
            {"check": check.name, "call": f"{check.server}.{check.tool}", "arguments": check.arguments}
            for check in asked
        ]
        answer = await self._desk.ask(
            p.ApprovalQuestion(
                id=question_id(),
                call_id="",
                server=server,
                tool=CALLS,
                arguments=json.dumps(calls, indent=2, ensure_ascii=False),
                warnings=(f"{counted(len(calls), 'call')} from files of this project, one after the other.",),
            )
        )
        if not isinstance(answer, p.ApprovalAnswer) or answer.decision in ("deny", "stop"):
            self._emit(p.Notice("info", "Checks were not run."))
            return False
        self._agreed |= set(map(_key, asked))
        return True

    def _asks(self, check: Check) -> bool:
        """Whether a person would be asked about its call, or may have to be: its tool can still come."""
        tool = self._host.catalogue.find(check.server, check.tool)
        if tool is None:
            return self._host.server(check.server) is not None
        return self._verdict(check, tool).action == "ask"

    def _verdict(self, check: Check, tool: McpTool) -> Verdict:
        """What rules and the access level say of the call that would be made."""
        arguments, _, _ = filled_in(check.arguments, self._environ)
        return self._policy.decide(tool, arguments)

    async def _all(self, checks: Sequence[Check]) -> list[p.CheckResult]:
        """Servers side by side, the checks of one in order; results in the order of `checks`."""

        async def of(server: str) -> list[tuple[Check, p.CheckResult]]:
            return [(check, await self.run_one(check)) for check in checks if check.server == server]

        groups = await asyncio.gather(*map(of, dict.fromkeys(check.server for check in checks)))
        found = {id(check): result for group in groups for check, result in group}
        return [found[id(check)] for check in checks]

    async def run_one(
        self, check: Check, heard: Callable[[Json], None] = lambda _result: None
    ) -> p.CheckResult:
        """Run one check. A call that rules or the access level refuse is skipped, and one that a person would
        be asked about and did not agree to. `heard` gets what came.
        """
        tool = self._host.catalogue.find(check.server, check.tool)
        if tool is not None and not check.problem:
            verdict = self._verdict(check, tool)
            if verdict.action == "refuse" or (verdict.action == "ask" and _key(check) not in self._agreed):
                return p.CheckResult(check.row, "skipped", 0.0, verdict.sentence)

        async def call(_check: Check, arguments: Json) -> Json:
            result = await self._call(check, tool, arguments)
            heard(result)
            return result

        return await self._runner.run(check, call)

    async def _call(self, check: Check, tool: McpTool | None, arguments: Json) -> Json:
        """Call the tool that was decided about, which is None where there is none."""
        supervisor = self._host.server(check.server)
        if supervisor is None:
            raise NoResult(f"there is no trusted server named {check.server}")
        if tool is None:
            phase = supervisor.status.phase
            is_up = phase in ("ready", "degraded")
            raise NoResult(
                f"{check.server} offers no tool named {check.tool}" if is_up else f"{check.server} is {phase}"
            )
        try:
            result = await tool.call(tool.raw, arguments, lambda _progress, _total, _message: None)
        except CallFault as fault:
            raise NoResult(str(fault)) from fault
        return whole(result)

    def due(self, server: str) -> Iterable[Check]:
        """The checks of a server that the person saved or ran in this run of hel, as long as they are the
        same: those that author mode runs again.
        """
        keys = self._agreed | self._chosen
        return [
            check
            for check in self._checks
            if check.server == server and not check.problem and _key(check) in keys
        ]


def whole(result: Json) -> Json:
    """The result with its structured content as a value, also where it is large and was left as text.

    Raises NoResult where that is nested too deeply.
    """
    if not isinstance(structured := result.get("structuredContent"), JsonText):
        return result
    try:
        return {**result, "structuredContent": json.loads(structured)}
    except RecursionError:
        raise NoResult(f"the result is {TOO_DEEP}") from None


def _key(check: Check) -> Key:
    return check.digest, check.name
