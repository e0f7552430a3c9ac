"""Gathers the events of one run into its result.

Not here: where events come from (agent), what a screen makes of them (tui).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from hel_tui.api.results import Call, Result, Status, Usage
from hel_tui.core import protocol as p
from hel_tui.core.agent.calls import NOT_LOADED

STATUS: dict[p.TurnEnd, Status] = {
    "done": "done",
    "length": "limit",
    "limit": "limit",
    "filter": "failed",
    "refusal": "failed",
    "failed": "failed",
    "interrupted": "interrupted",
}
NOTHING = p.UsageChanged(0, 0, 0, 0, 0, 0)


@dataclass(slots=True)
class Tally:
    """What one run came to so far. Takes the events of its turn."""

    detail: Callable[[str], p.CallDetail | None]
    """Everything about a call, by its id."""
    before: p.UsageChanged = NOTHING
    """What the session took before the run."""
    untrusted: int = 0
    """Servers that were not allowed to start."""
    usage: p.UsageChanged | None = None
    steps: int = 0
    text: str = ""
    ended: p.TurnEnded | None = None
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _calls: dict[str, Call | None] = field(default_factory=dict)
    _seconds: float = 0.0

    def take(self, event: p.Event) -> None:
        """Note one event."""
        match event:
            case p.TextDelta():
                self._texts.setdefault(event.item, []).append(event.text)
            case p.TextDone():
                text = "".join(self._texts.pop(event.item, ()))
                self.text = text if text.strip() else self.text
            case p.StepStarted():
                self.steps += 1
            case p.CallStarted(by_hand=False):
                self._calls[event.call_id] = None
            case p.CallChanged(call_id, "ok" | "failed" | "refused" | "cancelled" as state) if (
                call_id in self._calls
            ):
                self._calls[call_id] = self._call(call_id, state, event)
            case p.UsageChanged():
                self.usage = event
            case p.TurnEnded():
                self.ended = event
                self._seconds += event.seconds

    def _call(
        self, call_id: str, state: Literal["ok", "failed", "refused", "cancelled"], event: p.CallChanged
    ) -> Call:
        detail = self.detail(call_id)
        if detail is None:  # it made room for newer ones
            return Call(call_id, "", "", None, state, event.preview, event.seconds)
        arguments: Any = detail.arguments
        with contextlib.suppress(ValueError, RecursionError):
            arguments = json.loads(detail.arguments)
        loaded = not (state == "failed" and NOT_LOADED in detail.result)
        return Call(
            call_id, detail.server, detail.tool, arguments, state, detail.result, event.seconds, loaded
        )

    def result(self, *, status: Status | None = None, message: str | None = None, data: Any = None) -> Result:
        """The run as it is now; `status` and `message` say how it ended where that is known better."""
        calls = tuple(call for call in self._calls.values() if call is not None)
        ended = self.ended
        if status is None:
            status = STATUS[ended.reason] if ended is not None else "interrupted"
            if status == "done" and (self.untrusted or any(call.state == "refused" for call in calls)):
                status = "refused"
        if message is None:
            message = ended.message if ended is not None else "The run did not end."
        if status == "refused" and not message:
            refused = [call.name for call in calls if call.state == "refused"]
            message = f"Not allowed: {', '.join(dict.fromkeys(refused)) or 'a server of the project'}."
        return Result(
            status=status,
            text=self.text,
            message=message,
            reason=ended.reason if ended is not None else "interrupted",
            steps=self.steps,
            calls=calls,
            usage=self._spent(),
            seconds=round(self._seconds, 4),
            data=data,
        )

    def _spent(self) -> Usage:
        now, before = self.usage or self.before, self.before
        cost = None if now.cost is None else now.cost - (before.cost or 0.0)
        return Usage(
            requests=now.requests - before.requests,
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            cached_tokens=now.cached_tokens - before.cached_tokens,
            written_tokens=now.written_tokens - before.written_tokens,
            reasoning_tokens=now.reasoning_tokens - before.reasoning_tokens,
            cost=cost,
            unpriced=now.unpriced - before.unpriced,
            uncounted=now.uncounted - before.uncounted,
        )
