"""Keeps a session as it happens: what the screen is told and what the model has, written before they get it.

All events of a session pass here on their way out. Not here: the files (store.sessions), going on with a
kept session (resuming).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hel_tui import __version__
from hel_tui.core import protocol as p
from hel_tui.core.permissions.approvals import fingerprint
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import records
from hel_tui.core.store.sessions.folders import mark
from hel_tui.core.store.sessions.journal import Journal
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.masking import Veil
from hel_tui.core.store.sessions.reading import Kept
from hel_tui.core.vocabulary import Json, Message, Tool, ToolCall

Emit = Callable[[p.Event], None]
MOST_TITLE = 200
RETURNED = (
    "The folder of this session was taken away while it was open. The conversation was written anew in its "
    "place; other files that lay there are gone: whole results, images, and what /undo would give back."
)


class Saving:
    """Implements `agent.history.Keeper` and `agent.ledger.CardKeeper`. `emit` is safe from any thread."""

    def __init__(self, folder: Path, project: Path, redactor: Redactor, out: Emit) -> None:
        """`folder` is that of the first session; nothing is there before something is to be kept."""
        self._project = project
        self._redactor = redactor
        self._out = out
        self._model = ""
        self._sums: p.UsageChanged | None = None
        """What was told of last."""
        self._begin(folder, Lock(folder))

    def _begin(self, folder: Path, lock: Lock) -> None:
        self.folder = folder
        self._journal = Journal(folder, self._redactor, lock, self._trouble, on_return=self._returned)
        self._has_head = False
        self._written_model = ""
        self._veils: dict[str, tuple[Veil, type[p.TextDelta | p.ReasoningDelta]]] = {}
        self._tools: dict[str, str] = {}
        """Definitions (hashes) under which tools were called, by public name."""
        self._counted: tuple[object, ...] = (0, 0, 0, None, 0, 0, 0)
        self._titled = False
        """A person gave a title."""
        self._has_title = False

    # --------------------------------------------------------------- sessions

    @property
    def is_behind(self) -> bool:
        """There is something that could not be written yet."""
        return self._journal.is_behind

    @property
    def is_kept(self) -> bool:
        """Something of this session is in its file."""
        return self._journal.is_there

    def turn_over(self, folder: Path) -> None:
        """A new, empty session begins in `folder`."""
        self._journal.close()
        self._begin(folder, Lock(folder))

    def go_on(self, kept: Kept, lock: Lock) -> None:
        """A kept session is written on; `lock` is held."""
        self._journal.close()
        self._begin(kept.folder, lock)
        self._has_head = self._journal.hold()
        self._written_model = kept.model
        self._tools = {tool.name: tool.fingerprint for tool in kept.tools.values()}
        self._titled, self._has_title = bool(kept.title), bool(kept.name)
        if kept.usage is not None:
            self._counted = _counts(kept.usage)

    def catch_up(self) -> None:
        """Try again to write what could not be written."""
        if self._journal.is_behind:
            self._journal.catch_up()

    def close(self) -> None:
        """The end."""
        self._journal.close()

    def rename(self, title: str) -> None:
        """The person gives the session a title; empty for none."""
        title = " ".join(title.split())[:MOST_TITLE]
        self._write({"k": "title", "title": title})
        self._titled = bool(title)
        self._out(p.SessionTitled(self._redactor(title), given=self._titled))

    def add(self, record: Json) -> int:
        """Write a record as it is; returns where in the file it begins, -1 while it cannot be written."""
        return self._write(record)

    # ----------------------------------------------------------------- events

    def emit(self, event: p.Event) -> None:
        """Write what is to be kept of an event, then let it out."""
        match event:
            case p.TextDelta() | p.ReasoningDelta():
                self._piece(event)
                return
            case p.TextDone():
                self._end(event)
            case p.ModelChanged():
                self._model = event.label
                self._note_model()
            case p.TurnStarted():
                self._turn_started(event)
            case p.UsageChanged():
                self._sums = event
                if self._has_head and _counts(event) != self._counted:
                    self._counted = _counts(event)
                    self._write(records.event_record(event))
            case p.Notice():
                if self._has_head:
                    self._write(records.event_record(event))
            case _ if type(event).__name__ in records.EVENTS:
                self._write(records.event_record(event))
            case _:
                pass
        self._out(event)

    def _turn_started(self, event: p.TurnStarted) -> None:
        self._write(records.event_record(event))
        self._note_model()
        if event.text.strip() and not self._has_title:
            self._has_title = True
            title = " ".join(self._redactor(event.text).split())[:MOST_TITLE]
            self._out(p.SessionTitled(title))

    def _note_model(self) -> None:
        """Write down what answers, once there is a session."""
        if self._has_head and self._model and self._model != self._written_model:
            self._written_model = self._model
            self._write({"k": "model", "label": self._model})

    def _piece(self, event: p.TextDelta | p.ReasoningDelta) -> None:
        """Keep a piece of text and show it, without a secret that pieces part."""
        if event.item not in self._veils:
            self._veils[event.item] = Veil(self._redactor), type(event)
        self._show_piece(event, self._veils[event.item][0].take(event.text))

    def _show_piece(self, event: p.TextDelta | p.ReasoningDelta, text: str) -> None:
        if not text:
            return
        head: Json = {"turn": event.turn}
        if isinstance(event, p.ReasoningDelta):
            head["reasoning"] = True
        self._journal.piece(event.item, head, text)
        self._out(replace(event, text=text))

    def _end(self, event: p.TextDone) -> None:
        veil, kind = self._veils.pop(event.item, (None, p.TextDelta))
        if veil is not None and (rest := veil.end()):
            self._show_piece(kind(event.turn, event.item, rest), rest)
        self._journal.end(event.item)

    # ---------------------------------------------------------------- history

    def appended(self, message: Message) -> None:
        """See `Keeper`."""
        self._write(records.message_record(message, self.folder))

    def amended(self, text: str) -> None:
        """See `Keeper`."""
        self._write({"k": "amend", "text": text})

    def shortened(self, at: int, text: str) -> None:
        """See `Keeper`."""
        self._write({"k": "shorten", "at": at, "text": text})

    def announced(self, message: Message) -> None:
        """See `Keeper`."""
        self._write({**records.message_record(message, self.folder), "k": "untold"})

    def withdrawn(self, count: int) -> None:
        """See `Keeper`."""
        self._write({"k": "withdraw", "count": count})

    def compacted(self, kept: int, summary: str) -> None:
        """See `Keeper`."""
        self._write({"k": "compact", "kept": kept, "summary": summary})

    def cleared(self) -> None:
        """See `Keeper`."""
        self._write({"k": "clear"})

    # ------------------------------------------------------------------ calls

    def call(self, detail: p.CallDetail, call: ToolCall, tool: Tool | None, text: str) -> None:
        """See `CardKeeper`."""
        if tool is not None and tool.server and detail.shared:
            now = fingerprint(tool)
            if self._tools.get(call.name) != now:
                self._tools[call.name] = now
                self._write(
                    {"k": "tool", "name": call.name, "server": tool.server, "raw": tool.raw, "fp": now}
                )
        self._write(records.call_record(detail, call.id, text, self.folder))

    # ----------------------------------------------------------------- inside

    def _write(self, record: Json) -> int:
        if not self._has_head:
            self._has_head = True
            mark(self.folder, self._project)
            self._journal.write(
                {
                    "k": "session",
                    "v": records.VERSION,
                    "id": self.folder.name,
                    "project": str(self._project),
                    "hel": __version__,
                }
            )
            if self._sums is not None and _counts(self._sums) != self._counted:  # of sessions before this one
                self._counted = _counts(self._sums)
                self._journal.write(records.event_record(self._sums))
        return self._journal.write(record)

    def _trouble(self, since: float, reason: str) -> None:
        """Lines cannot be written, or all are again."""
        self._out(p.SavingChanged(since, reason))
        if since:
            clock = time.strftime("%H:%M", time.localtime(since))
            self._out(
                p.Notice("warning", f"This session is not saved since {clock}: {reason}. It is tried again.")
            )
        else:
            mark(self.folder, self._project)
            more = f" {reason[0].upper()}{reason[1:]}." if reason else ""
            self._out(p.Notice("info", f"This session is saved again, with what came meanwhile.{more}"))

    def _returned(self) -> None:
        """Somebody took the folder of the session away while it was open."""
        mark(self.folder, self._project)
        self._out(p.Notice("warning", RETURNED))


def _counts(event: p.UsageChanged) -> tuple[object, ...]:
    taken = (event.input_tokens, event.output_tokens, event.cached_tokens, event.cost)
    return *taken, event.requests, event.unpriced, event.uncounted
