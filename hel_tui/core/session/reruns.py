"""What author mode calls again when a server was renewed: the old result beside the new one.

Only what the person called by hand in this run, and checks that may be run unasked: a call that a model made
is never made again, nor one of a tool that is said to destroy. Not here: when (author), checks (checking).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hel_tui.core import protocol as p
from hel_tui.core.agent.arguments import parse_arguments, shown
from hel_tui.core.agent.gates import Policy
from hel_tui.core.agent.ledger import Ledger
from hel_tui.core.checks.check import Check
from hel_tui.core.checks.comparing import rendered
from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.results import to_outcome
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.session.checking import Checking
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

MOST_CALLS = 3
"""Calls by hand that are made again, the newest ones."""
MOST_CHECKS = 20
LIMIT = 30.0
"""Seconds each may take."""
MAX_TEXT = 100_000
"""Characters of a result that are kept to be looked at."""


class Reruns:
    """Bound to one session; lives in the core's loop."""

    def __init__(
        self,
        *,
        host: Host,
        ledger: Ledger,
        policy: Policy,
        checking: Checking,
        files: Callable[[], ResultFiles],
        hide: Callable[[str], str],
    ) -> None:
        self._host = host
        self._ledger = ledger
        self._policy = policy
        self._checking = checking
        self._files = files
        self._hide = hide
        self._before: dict[str, str] = {}
        """What each check and each call came to when it was made last."""

    async def run(self, server: str) -> tuple[p.Rerun, ...]:
        """Make the calls again that are due after a renewal of `server`, one after the other."""
        found = [await self._check(check) for check in tuple(self._checking.due(server))[:MOST_CHECKS]]
        return (*found, *[one for detail in self._calls(server) if (one := await self._again(detail))])

    def _calls(self, server: str) -> list[p.CallDetail]:
        """The newest calls by hand, each tool with each arguments once; oldest first."""
        newest: dict[tuple[str, str], p.CallDetail] = {}
        for detail in reversed(self._ledger.by_hand(server)):
            newest.setdefault((detail.tool, detail.arguments), detail)
        return list(newest.values())[:MOST_CALLS][::-1]

    async def _check(self, check: Check) -> p.Rerun:
        came: list[Json] = []
        result = await self._checking.run_one(check, came.append)
        after = await in_thread(lambda: rendered(came[0]), "hel-rerun") if came else result.message
        return self._told(f"check {check.name}", check.tool, check.arguments, None, after, result)

    async def _again(self, detail: p.CallDetail) -> p.Rerun | None:
        """Make a call again; None where that is not to be."""
        tool = self._host.catalogue.find(detail.server, detail.tool)
        arguments = parse_arguments(detail.arguments)
        if tool is None:
            gone = f"{detail.server} has no tool named {detail.tool} any more"
            return p.Rerun(detail.tool, detail.arguments, detail.result[:MAX_TEXT], gone, False, True)
        if not isinstance(arguments, dict) or not self._may_be_called(tool, arguments):
            return None
        key = f"call {detail.call_id}"
        text, failed = await self._text(tool, arguments)
        return self._told(key, detail.tool, arguments, detail.result, text, None, failed=failed)

    def _may_be_called(self, tool: McpTool, arguments: Json) -> bool:
        """The person approved this very call once; a save must not delete a second time, nor dodge a rule."""
        is_destructive = tool.spec.annotations.get("destructiveHint") is True
        return not is_destructive and self._policy.decide(tool, arguments).action != "refuse"

    async def _text(self, tool: McpTool, arguments: Json) -> tuple[str, bool]:
        try:
            async with asyncio.timeout(LIMIT):
                result = await tool.call(tool.raw, arguments, lambda _progress, _total, _message: None)
        except TimeoutError:
            return f"no answer within {LIMIT:g} s", True
        except CallFault as fault:
            return self._hide(str(fault)), True
        outcome = await in_thread(
            lambda: to_outcome(tool.server, tool.raw, result, self._files(), output=tool.spec.output),
            "hel-rerun",
        )
        text = outcome.full if outcome.full is not None else outcome.text
        return self._hide(text), outcome.failed

    def _told(
        self,
        key: str,
        tool: str,
        arguments: Json,
        first: str | None,
        after: str,
        check: p.CheckResult | None,
        *,
        failed: bool = False,
    ) -> p.Rerun:
        """The new result beside the one before; the first time a check is called again there is none."""
        after = self._hide(after)[:MAX_TEXT]
        before = self._before.get(key, (first if first is not None else after)[:MAX_TEXT])
        self._before[key] = after
        return p.Rerun(
            tool=tool,
            arguments=shown(arguments),
            before=before,
            after=after,
            same=before == after,
            failed=check.state in ("failed", "error") if check is not None else failed,
            check=check,
        )
