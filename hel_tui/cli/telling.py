"""What a run of `hel run` came to, and what it prints for a person.

Questions are answered by policy: nobody is there. Not here: the run (run), lines for programs (lines).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from hel_tui.cli.common import Exit, one_line
from hel_tui.cli.failure import failure_lines, list_change
from hel_tui.core import protocol as p
from hel_tui.core.counts import counted
from hel_tui.core.runtime import Runtime
from hel_tui.foreign import harmless, printable

if TYPE_CHECKING:
    from hel_tui.api.shape import Shape

ENDINGS: dict[p.TurnEnd, tuple[str, Exit]] = {
    "done": ("done", Exit.DONE),
    "length": ("limit", Exit.LIMIT),
    "limit": ("limit", Exit.LIMIT),
    "filter": ("failed", Exit.FAILED),
    "refusal": ("failed", Exit.FAILED),
    "failed": ("failed", Exit.FAILED),
    "interrupted": ("interrupted", Exit.INTERRUPTED),
}


@dataclass(slots=True)
class Printer:
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
    shape: Shape | None = None
    """What the answer has to fit."""
    data: Any = None
    """The answer as a value that fits."""
    tries: int = 1
    timeout: float | None = None
    """The seconds the run has."""
    timed_out: bool = False
    """Whether they are over."""
    noticed: str = ""
    """The last error that was told beside a turn: one that ends with it does not tell it again."""
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
                self.steps += 1
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
                if isinstance(event, p.Notice) and event.severity == "error":
                    self.noticed = event.text
                self.other(event)

    def ended(self, event: p.TurnEnded) -> None:
        """The turn is over, and with it the run, unless its answer does not fit and is asked for again."""
        self.status, self.exit = ENDINGS[event.reason]
        self.message = event.message
        if event.reason == "interrupted" and self.timed_out:
            self._late()
        elif event.reason == "done" and self.shape is not None and self._asks_again(self.shape):
            return
        if self.exit == Exit.DONE and (self.refused or self.untrusted):
            self.status, self.exit = "refused", Exit.REFUSED
        if self.message and self.message != self.noticed:
            self.problem(self.message)
        self.over = True

    def _late(self) -> None:
        self.status, self.exit = "limit", Exit.LIMIT
        self.message = f"Stopped after {self.timeout:g} seconds, the time limit."

    def unasked(self, *, timed_out: bool) -> int:
        """Last words of a run that ended, by its clock or a signal, before its prompt was read."""
        self.interrupted = not timed_out
        if timed_out:
            self._late()
            self.problem(self.message)
        return self.finish()

    def _asks_again(self, shape: Shape) -> bool:
        """Look whether the answer fits; True when the model was asked for another one."""
        from hel_tui.api.shape import NAME, TRIES, Fits

        found = shape.look(self.last_text)
        if isinstance(found, Fits):
            self.data = found.data
            return False
        if self.tries < TRIES and not (self.timed_out or self.interrupted):
            self.tries += 1
            self.last_text = ""
            self.again(f"The answer does not fit the schema; asked again ({self.tries} of {TRIES}).")
            self.runtime.send(p.Submit("", behind=shape.again(found), names=(NAME,)))
            return True
        self.status, self.exit = "failed", Exit.FAILED
        self.message = shape.gave_up(found, self.tries)
        return False

    def delta(self, text: str) -> None: ...

    def text(self, text: str) -> None: ...

    def call(self, event: p.CallStarted) -> None: ...

    def result(self, event: p.CallChanged) -> None: ...

    def problem(self, message: str) -> None: ...

    def again(self, message: str) -> None: ...

    def other(self, event: p.Event) -> None: ...

    def is_of_server(self, number: int) -> bool:
        """Whether that failure is one of a server: a call tells its own as its result."""
        failure = self.runtime.failed(number)
        return failure is None or failure.stage != "call"

    def finish(self) -> int:
        """Last words; returns the exit status."""
        if self.interrupted:
            self.status, self.exit = "interrupted", Exit.INTERRUPTED
        self.last_words()
        self.out.flush()
        return self.exit

    def last_words(self) -> None: ...


@dataclass(slots=True)
class Text(Printer):
    """The answer on stdout; calls, notices and problems on stderr, a line each."""

    failed: set[str] = field(default_factory=set)
    """Servers whose failure was told."""
    names: dict[str, str] = field(default_factory=dict)
    """What runs, by the id of its call."""
    newest: str = ""
    """The call whose line is the last one; a result below it needs no name."""

    held: str = ""
    """A text that may be the value itself, and would stand twice on the terminal."""

    def delta(self, text: str) -> None:
        if self._holds:
            return
        out = self.out if self.shape is None else sys.stderr  # the value stands alone on stdout
        out.write(harmless(text))
        out.flush()

    def text(self, text: str) -> None:
        if self._holds:
            self._let_go()
            self.held = text
            return
        out = self.out if self.shape is None else sys.stderr
        out.write("" if text.endswith("\n") else "\n")

    @property
    def _holds(self) -> bool:
        """Whether the value and what else is said go to the same terminal."""
        return self.shape is not None and self.out.isatty() and sys.stderr.isatty()

    def _let_go(self) -> None:
        """What was held is not the value, or not one that fits."""
        held, self.held = self.held, ""
        if held:
            sys.stderr.write(harmless(held) + ("" if held.endswith("\n") else "\n"))

    def call(self, event: p.CallStarted) -> None:
        self._let_go()
        where = f"{event.server} · " if event.server else ""
        name = f"{where}{event.tool}  {event.summary}".rstrip()
        self.names[event.call_id], self.newest = name, event.call_id
        _say(one_line(printable(f"→ {name}")))

    def result(self, event: p.CallChanged) -> None:
        first = event.preview.splitlines()[0] if event.preview else ""
        name = self.names.pop(event.call_id, "")
        whose = f"{one_line(printable(name))}: " if name and event.call_id != self.newest else ""
        self.newest = ""
        _say(f"  {whose}{event.state} ({event.seconds:.1f} s)  {first}")

    def problem(self, message: str) -> None:
        self._let_go()
        _say(message)

    def again(self, message: str) -> None:
        self._let_go()
        _say(message)

    def last_words(self) -> None:
        if self.shape is not None and self.status in ("done", "refused"):
            self.out.write(json.dumps(self.data, ensure_ascii=False) + "\n")
        else:
            self._let_go()

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
                _say(shortened(event))
            case p.ServerChanged(phase="failed"):
                self._failed(event)
            case p.ServerChanged(phase="untrusted" | "degraded" | "needs login"):
                _say(f"server {event.name}: {event.phase}: {event.reason}")
            case p.Retrying():
                _say(again(event))
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


def shortened(event: p.Compacted) -> str:
    """What became of a conversation that was too long, in a line."""
    done = [
        f"a summary stands for {counted(event.summarised, 'message')}" if event.summarised else "",
        f"{counted(event.shortened, 'long result')} cut" if event.shortened else "",
        f"{counted(event.dropped, 'message')} left out" if event.dropped else "",
        event.problem,
    ]
    said = "; ".join(part for part in done if part)
    return f"conversation: {event.before:,} → {event.after:,} tokens: {said}"


def again(event: p.Retrying) -> str:
    """Why a request is made once more, and when."""
    return f"{event.why} Again in {event.delay:.1f} s ({event.attempt} of {event.of})."


def _say(line: str) -> None:
    sys.stderr.write(printable(line) + "\n")
