"""What author mode calls again when a server was renewed: the old result beside the new one.

Only what the person called by hand in this run, and checks that may be run unasked: a call that a model made
is never made again, nor one of a tool that is said to destroy, nor one during which the server asked for the
person or the model. A call that a check makes too is made once. Not here: when (author), checks (checking).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from hel_tui.core import protocol as p
from hel_tui.core.agent.arguments import parse_arguments, shown
from hel_tui.core.agent.gates import Policy
from hel_tui.core.agent.ledger import GONE, Ledger
from hel_tui.core.checks.check import Check
from hel_tui.core.checks.comparing import rendered
from hel_tui.core.checks.running import NoResult
from hel_tui.core.mcp.causes import UNASKED
from hel_tui.core.mcp.faults import CallFault
from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.session.checking import Checking, whole
from hel_tui.core.threads import in_thread
from hel_tui.core.vocabulary import Json

MOST_CALLS = 3
"""Calls by hand that are made again, the newest ones."""
MOST_CHECKS = 20
LIMIT = 30.0
"""Seconds each may take."""
MAX_TEXT = 100_000
"""Characters of a result that are kept to be looked at."""
MAX_BEFORE = 8_000_000
"""Characters of the results that the next ones are compared with; beyond, the oldest are let go."""

Make = Callable[[], Awaitable[p.Rerun | None]]
"""Makes one call again; None where it turns out that it is not to be."""


@dataclass(frozen=True, slots=True)
class _Came:
    """What a call came to: as much of it as is shown, and the hash of all of it."""

    text: str
    digest: bytes


class Reruns:
    """Bound to one session; lives in the core's loop."""

    def __init__(
        self,
        *,
        host: Host,
        ledger: Ledger,
        policy: Policy,
        checking: Checking,
        hide: Callable[[str], str],
    ) -> None:
        self._host = host
        self._ledger = ledger
        self._policy = policy
        self._checking = checking
        self._hide = hide
        self._before: dict[str, _Came] = {}
        """What each check and each call came to when it was made last, the newest at the end."""

    def clear(self) -> None:
        """A new session begins: nothing is compared with what came in the last one."""
        self._before.clear()

    def due(self, server: str) -> list[Make]:
        """The calls that are to be made again after a renewal of `server`, one after the other."""
        checks = tuple(self._checking.due(server))[:MOST_CHECKS]
        calls = self._calls(server)
        pairs = [(check, next((one for one in calls if _is_call_of(check, one)), None)) for check in checks]
        saved = [detail for _, detail in pairs if detail is not None]
        makes: list[Make] = [
            *(partial(self._check, check, detail) for check, detail in pairs),
            *(partial(self._again, detail) for detail in calls if detail not in saved),
        ]
        return [partial(_unasked, make) for make in makes]

    def _calls(self, server: str) -> list[p.CallDetail]:
        """The newest calls by hand, each tool with each arguments once; oldest first."""
        asked = self._asked(server)
        newest: dict[tuple[str, str], p.CallDetail] = {}
        for detail in reversed(self._ledger.by_hand(server)):
            if (key := (detail.tool, detail.arguments)) not in asked:
                newest.setdefault(key, detail)
        return list(newest.values())[:MOST_CALLS][::-1]

    def _asked(self, server: str) -> set[tuple[str, str]]:
        """Tool and arguments of the calls by hand during which the server asked the person or the model."""
        supervisor = self._host.server(server)
        calls = supervisor.stores.switches.asked if supervisor is not None else ()
        found = [detail for detail in self._ledger.by_hand(server) if detail.call_id in calls]
        return {(detail.tool, detail.arguments) for detail in found}

    def left_out(self, server: str) -> int:
        """How many calls by hand are not made again because the server asks during them."""
        return len(self._asked(server))

    async def _check(self, check: Check, detail: p.CallDetail | None) -> p.Rerun:
        """Run a check again; `detail` is the same call as the person made it by hand."""
        came: list[Json] = []
        first = await in_thread(lambda: _first(detail), "hel-rerun") if detail is not None else None
        try:
            async with asyncio.timeout(LIMIT):
                result = await self._checking.run_one(check, came.append)
        except TimeoutError:
            what = "it was not compared" if came else "no answer"
            result = p.CheckResult(check.row, "error", LIMIT, f"{what} within {LIMIT:g} s")
        self._checking.keep([result])
        after = await in_thread(lambda: rendered(came[0]), "hel-rerun") if came else result.message
        return self._told(f"check {check.name}", check.tool, check.arguments, first, after, result)

    async def _again(self, detail: p.CallDetail) -> p.Rerun | None:
        """Make a call again; None where that is not to be."""
        tool = self._host.catalogue.find(detail.server, detail.tool)
        arguments = parse_arguments(detail.arguments)
        if tool is None:
            gone = f"{detail.server} has no tool named {detail.tool} any more"
            return p.Rerun(detail.tool, detail.arguments, detail.result[:MAX_TEXT], gone, False, True)
        if not isinstance(arguments, dict) or not self._may_be_called(tool, arguments):
            return None
        first = await in_thread(lambda: _first(detail), "hel-rerun")
        text, failed = await self._text(tool, arguments)
        key = f"call {detail.call_id}"
        return self._told(key, detail.tool, arguments, first, text, None, failed=failed)

    def _may_be_called(self, tool: McpTool, arguments: Json) -> bool:
        """The person approved this very call once; a save must not delete a second time, nor dodge a rule."""
        is_destructive = tool.spec.annotations.get("destructiveHint") is True
        return not is_destructive and self._policy.decide(tool, arguments).action != "refuse"

    async def _text(self, tool: McpTool, arguments: Json) -> tuple[str, bool]:
        """What a call comes to as checks compare it, so that what is saved of it has no part in that; and
        whether it failed.
        """
        if misfit := tool.misfit(arguments):
            return misfit, True
        try:
            async with asyncio.timeout(LIMIT):
                result = await tool.call(tool.raw, arguments, lambda _progress, _total, _message: None)
        except TimeoutError:
            return f"no answer within {LIMIT:g} s", True
        except CallFault as fault:
            return f"{fault.sentence} {fault.told}".rstrip(), True
        try:
            text = await in_thread(lambda: rendered(whole(result)), "hel-rerun")
        except NoResult as none:
            return none.sentence, True
        return text, result.get("isError") is True

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
        now = self._came(after)
        before = self._before.pop(key, None) or (self._came(first) if first is not None else now)
        self._before[key] = now
        while sum(len(one.text) for one in self._before.values()) > MAX_BEFORE:
            del self._before[next(iter(self._before))]
        return p.Rerun(
            tool=tool,
            arguments=shown(arguments),
            before=before.text,
            after=now.text,
            same=before.digest == now.digest,
            failed=check.state in ("failed", "error") if check is not None else failed,
            check=check,
        )

    def _came(self, text: str) -> _Came:
        text = self._hide(text).rstrip("\n")
        return _Came(text[:MAX_TEXT], hashlib.sha256(text.encode("utf-8", "replace")).digest())


def _is_call_of(check: Check, detail: p.CallDetail) -> bool:
    """Whether a call by hand is the very call that a check makes: once is enough."""
    return detail.tool == check.tool and parse_arguments(detail.arguments) == check.arguments


async def _unasked(make: Make) -> p.Rerun | None:
    """Make a call while nobody is disturbed."""
    token = UNASKED.set(True)
    try:
        return await make()
    finally:
        UNASKED.reset(token)


def _first(detail: p.CallDetail) -> str | None:
    """What the person's own call came to; None where that is not kept in a form that can be compared."""
    if detail.raw:
        with suppress(RecursionError):
            return rendered(json.loads(detail.raw))
        return None
    return None if detail.saved or detail.result == GONE else detail.result
