"""What `hel run --json` prints: one JSON object a line, the result last. `hel help json` tells the keys.

Not here: what a run came to, lines for a person (telling).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hel_tui.cli.failure import list_change
from hel_tui.cli.telling import Printer, again, shortened
from hel_tui.core import protocol as p


@dataclass(slots=True)
class Json(Printer):
    """One JSON object a line; the last one is the result."""

    started: p.SessionStarted | None = None
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    early: list[str] = field(default_factory=list)
    compactions: int = 0
    """How often the conversation was shortened, or could not be."""

    def emit(self, kind: str, **fields: Any) -> None:
        """Write one line; what comes before the session's line waits for it."""
        line = json.dumps({"type": kind, **fields}, ensure_ascii=True) + "\n"
        if self.started is not None:
            self.early.append(line)
            return
        self.out.write(line)
        self.out.flush()

    def text(self, text: str) -> None:
        self.emit("text", text=text)

    def call(self, event: p.CallStarted) -> None:
        detail = self.runtime.call(event.call_id)
        arguments: Any = None
        if detail is not None:
            try:
                arguments = json.loads(detail.arguments)
            except (ValueError, RecursionError):
                arguments = detail.arguments
        self.emit(
            "tool_call", id=event.call_id, server=event.server or None, tool=event.tool, arguments=arguments
        )

    def result(self, event: p.CallChanged) -> None:
        detail = self.runtime.call(event.call_id)
        text = detail.result if detail is not None else event.preview
        if event.state == "refused":
            tool = detail.tool if detail is not None else ""
            self.emit("approval", id=event.call_id, tool=tool, decision="refused", reason=text)
        self.emit(
            "tool_result",
            id=event.call_id,
            state=event.state,
            ok=event.state == "ok",
            seconds=round(event.seconds, 4),
            text=text,
            files=list(detail.saved) if detail is not None else [],
            warnings=list(detail.warnings) if detail is not None else [],
        )

    def problem(self, message: str) -> None:
        self.emit("error", severity="error", source="", message=message)

    def again(self, message: str) -> None:
        self.emit("error", severity="info", source="", message=message)

    def other(self, event: p.Event) -> None:
        match event:
            case p.SessionStarted():
                self.started = event
            case p.ModelChanged() if self.started is not None:
                self.session(self.started, event)
            case p.ServerChanged():
                self.server(event)
            case p.ServerFailed(server, number, sentence, again=False) if self.is_of_server(number):
                failure = self.runtime.failed(number)
                severity = "warning" if failure is not None and failure.retried else "error"
                self.emit("error", severity=severity, source=server, message=sentence)
            case p.ListChanged() if event.loaded:
                message = list_change(event, self.runtime.list_change(event.number))
                self.emit("error", severity="warning", source=event.server, message=message)
            case p.Notice() if event.severity != "info":
                self.emit("error", severity=event.severity, source=event.source, message=event.text)
            case p.Compacted():
                self.compactions += 1
                severity = "warning" if event.problem or event.dropped else "info"
                self.emit("error", severity=severity, source="conversation", message=shortened(event))
            case p.Retrying():
                self.emit("error", severity="warning", source="model", message=again(event))
            case _:
                pass

    def server(self, event: p.ServerChanged) -> None:
        """One line for each state a server comes into; counters alone make none."""
        facts = {
            "state": event.phase,
            "reason": event.reason,
            "tools": event.tools,
            "protocol": event.protocol,
        }
        if self.servers.get(event.name) != facts:
            self.servers[event.name] = facts
            self.emit("server", name=event.name, **facts)

    def session(self, started: p.SessionStarted, model: p.ModelChanged) -> None:
        """The first line: who answers, where."""
        self.started = None
        self.emit(
            "session",
            id=started.session_id,
            project=started.project,
            access=started.access,
            version=started.version,
            model=model.label or None,
            demo=model.is_demo,
        )
        self.out.writelines(self.early)
        self.early.clear()

    def last_words(self) -> None:
        self.started = None
        self.out.writelines(self.early)
        usage = self.usage
        if usage is not None:
            self.emit(
                "usage",
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                context_tokens=usage.context_tokens,
                cost=usage.cost,
                requests=usage.requests,
                written_tokens=usage.written_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                window=usage.window,
                unpriced=usage.unpriced,
                uncounted=usage.uncounted,
                compactions=self.compactions,
            )
        self.emit(
            "result",
            status=self.status,
            text=self.last_text,
            data=self.data,
            message=self.message,
            steps=self.steps,
            tool_calls=self.calls,
            refused=self.refused,
            exit=int(self.exit),
        )
