"""`hel run`: one prompt, no screen, the same core.

Questions are answered by policy: nobody is there, so what would ask is refused and says what would allow
it. Not here: what a turn does.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from hel_tui.cli import streams
from hel_tui.cli.common import (
    Exit,
    Parser,
    add_common,
    add_resume,
    one_line,
    options,
    project_folder,
    resumed,
)
from hel_tui.cli.failure import failure_lines, list_change
from hel_tui.core import protocol as p
from hel_tui.core.runtime import Runtime
from hel_tui.foreign import harmless, printable

SERVER_WAIT = 60.0
"""Seconds the turn waits for servers that still start; nobody is there to wait for them instead."""

ENDINGS: dict[p.TurnEnd, tuple[str, Exit]] = {
    "done": ("done", Exit.DONE),
    "length": ("limit", Exit.LIMIT),
    "limit": ("limit", Exit.LIMIT),
    "filter": ("failed", Exit.FAILED),
    "refusal": ("failed", Exit.FAILED),
    "failed": ("failed", Exit.FAILED),
    "interrupted": ("interrupted", Exit.INTERRUPTED),
}


def _parser() -> Parser:
    parser = Parser(
        prog="hel run",
        description="Answer one prompt without a screen. Text goes to stdout, everything else to stderr; "
        "with --json one object a line to stdout.",
        epilog="exit status: 0 done, 1 failed, 2 usage, 3 stopped by a limit, 4 refused, 130 interrupted",
    )
    parser.add_argument("prompt", help="the prompt, or - to read it from stdin")
    parser.add_argument("-C", "--dir", type=Path, metavar="DIR", help="the project (default: this folder)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    add_common(parser)
    add_resume(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run `hel run`; returns the exit status."""
    parser = _parser()
    args = parser.parse_args(argv)
    prompt = streams.read_all() if args.prompt == "-" else streams.as_text(args.prompt)
    if not prompt.strip():
        parser.error("the prompt is empty")
    project = project_folder(parser, args.dir)
    chosen = options(parser, args, project, answerable=False)
    if args.resume == "":
        parser.error("--resume needs the ID of a session; `hel sessions list` has them")
    session = resumed(parser, args, project, lambda _project: "")
    runtime = Runtime(replace(chosen, server_wait=SERVER_WAIT, resume=session))
    printer = _Json(runtime) if args.json else _Text(runtime)
    return _drive(runtime, printer, prompt)


def _drive(runtime: Runtime, printer: _Printer, prompt: str) -> int:
    presses = 0

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        printer.interrupted = True
        if presses == 1:
            runtime.send(p.Interrupt())
            runtime.send(p.Shutdown())
        else:
            runtime.kill()

    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)
    runtime.start()
    runtime.send(p.Submit(prompt))
    try:
        while not printer.over:
            runtime.wait(0.5)
            for event in runtime.drain():
                printer.take(event)
        runtime.stop()
        return printer.finish()
    except OSError:  # whoever read our output is gone, or there is no room for it
        runtime.stop()
        raise


@dataclass(slots=True)
class _Printer:
    """Turns events into output. Answers every question with "nobody is there"."""

    runtime: Runtime
    out: TextIO = field(default_factory=lambda: sys.stdout)
    over: bool = False
    interrupted: bool = False
    status: str = "failed"
    exit: Exit = Exit.FAILED
    message: str = ""
    steps: int = 0
    calls: int = 0
    refused: int = 0
    untrusted: int = 0
    texts: dict[str, list[str]] = field(default_factory=dict)
    last_text: str = ""
    usage: p.UsageChanged | None = None
    restoring: bool = False
    """A kept session is being told again: none of it is of this run."""

    def take(self, event: p.Event) -> None:
        """Handle one event."""
        if isinstance(event, p.Cleared | p.SessionRestored):
            self.restoring = isinstance(event, p.Cleared) and event.restoring
        if self.restoring and not isinstance(event, p.CoreFailed | p.Stopped):
            return
        match event:
            case p.TextDelta():
                self.texts.setdefault(event.item, []).append(event.text)
                self.delta(event.text)
            case p.TextDone():
                text = "".join(self.texts.pop(event.item, []))
                if text.strip():
                    self.last_text = text
                    self.text(text)
            case p.StepStarted():
                self.steps = event.step
            case p.CallStarted():
                self.calls += 1
                self.call(event)
            case p.CallChanged():
                if event.state == "refused":
                    self.refused += 1
                if event.state in ("ok", "failed", "refused", "cancelled"):
                    self.result(event)
            case p.Asked():
                self.runtime.send(p.Reply(event.question.id, p.NotAnswered("nobody is there to answer")))
            case p.UsageChanged():
                self.usage = event
            case p.TurnEnded():
                self.ended(event)
            case p.CoreFailed():
                self.message = f"hel failed inside: {event.report}"
                self.problem(self.message)
                self.over = True
            case p.Stopped():
                self.over = True
            case _:
                if isinstance(event, p.ServerChanged) and event.phase == "untrusted":
                    self.untrusted += 1
                self.other(event)

    def ended(self, event: p.TurnEnded) -> None:
        """The turn is over, and with it the run."""
        self.status, self.exit = ENDINGS[event.reason]
        self.message = event.message
        if event.reason == "done" and (self.refused or self.untrusted):
            self.status, self.exit = "refused", Exit.REFUSED
        if event.message:
            self.problem(event.message)
        self.over = True

    def delta(self, text: str) -> None: ...

    def text(self, text: str) -> None: ...

    def call(self, event: p.CallStarted) -> None: ...

    def result(self, event: p.CallChanged) -> None: ...

    def problem(self, message: str) -> None: ...

    def other(self, event: p.Event) -> None: ...

    def is_of_server(self, number: int) -> bool:
        """Whether that failure is one of a server: a call tells its own as its result."""
        failure = self.runtime.failed(number)
        return failure is None or failure.stage != "call"

    def finish(self) -> int:
        """Last words; returns the exit status."""
        if self.interrupted:
            self.status, self.exit = "interrupted", Exit.INTERRUPTED
        return self.exit


@dataclass(slots=True)
class _Text(_Printer):
    """The answer on stdout; calls, notices and problems on stderr, a line each."""

    failed: set[str] = field(default_factory=set)
    """Servers whose failure was told."""

    def delta(self, text: str) -> None:
        self.out.write(harmless(text))
        self.out.flush()

    def text(self, text: str) -> None:
        self.out.write("" if text.endswith("\n") else "\n")

    def call(self, event: p.CallStarted) -> None:
        where = f"{event.server} · " if event.server else ""
        _say(one_line(printable(f"→ {where}{event.tool}  {event.summary}")))

    def result(self, event: p.CallChanged) -> None:
        first = event.preview.splitlines()[0] if event.preview else ""
        _say(f"  {event.state} ({event.seconds:.1f} s)  {first}")

    def problem(self, message: str) -> None:
        _say(message)

    def other(self, event: p.Event) -> None:
        match event:
            case p.ServerFailed(server, number, sentence, again=False):
                if server not in self.failed and self.is_of_server(number):
                    _say(f"server {server}: {sentence}")
            case p.ListChanged():
                _say(f"{event.server}: {list_change(event, self.runtime.list_change(event.number))}")
            case p.Notice():
                _say(f"{event.severity}: {event.source + ': ' if event.source else ''}{event.text}")
            case p.Compacted():
                _say(_shortened(event))
            case p.ServerChanged(phase="failed"):
                self._failed(event)
            case p.ServerChanged(phase="untrusted" | "degraded" | "needs login"):
                _say(f"server {event.name}: {event.phase}: {event.reason}")
            case p.Retrying():
                _say(f"{event.why}; again in {event.delay:.1f} s ({event.attempt} of {event.of})")
            case _:
                pass

    def _failed(self, event: p.ServerChanged) -> None:
        """Why a server failed, with all that helps to mend it; once."""
        if event.name in self.failed:
            return
        self.failed.add(event.name)
        _say(f"server {event.name}: failed: {event.reason}")
        failure = self.runtime.failure(event.name)
        for line in failure_lines(failure) if failure is not None else ():
            _say(line)


def _shortened(event: p.Compacted) -> str:
    """What became of a conversation that was too long, in a line."""
    done = [
        f"a summary stands for {event.summarised} messages" if event.summarised else "",
        f"{event.shortened} long results cut" if event.shortened else "",
        f"{event.dropped} messages left out" if event.dropped else "",
        event.problem,
    ]
    said = "; ".join(part for part in done if part)
    return f"conversation: {event.before:,} → {event.after:,} tokens: {said}"


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")


@dataclass(slots=True)
class _Json(_Printer):
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
                self.emit("error", severity=severity, source="conversation", message=_shortened(event))
            case p.Retrying():
                message = f"{event.why}; again in {event.delay:.1f} s ({event.attempt} of {event.of})"
                self.emit("error", severity="warning", source="model", message=message)
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

    def finish(self) -> int:
        status = _Printer.finish(self)
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
                compactions=self.compactions,
            )
        self.emit(
            "result",
            status=self.status,
            text=self.last_text,
            message=self.message,
            steps=self.steps,
            tool_calls=self.calls,
            refused=self.refused,
            exit=int(status),
        )
        return status
