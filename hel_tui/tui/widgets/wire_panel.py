"""The wire of a server: the list of frames, the bodies below it, filters, and the ways to card and log.

Mount it, `show` a trace, call `poll` once a frame; what it wants comes as messages. Not here: the list
(wire), bodies (wire_body), carrying out what is wanted (the screen).
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import ClassVar, Literal

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import call_command
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.window_line import FactLine, KeyLine
from hel_tui.tui.widgets.window_view import WindowView
from hel_tui.tui.widgets.wire import WireView
from hel_tui.tui.widgets.wire_body import WireBody
from hel_tui.tui.widgets.wire_filters import WireFilters

Form = Literal["jsonl", "har", "cassette"]
FORMS: tuple[Form, ...] = ("jsonl", "har", "cassette")
TALL = 26
"""Rows from which the list stays above an open body."""
MOMENT = 1.0
"""Seconds of log around a frame that no answer belongs to."""
_KEYS = (
    "wire.open",
    "wires.filter",
    "wires.method",
    "wires.direction",
    "wires.errors",
    "wires.call",
    "wires.pair",
    "wires.card",
    "wires.log",
    "wires.command",
    "wires.raw",
    "wires.export",
    "wire.pause",
)
_BODY_KEYS = (
    "json.fold",
    "json.search",
    "wires.pair",
    "json.copy",
    "json.path",
    "json.whole",
    "wires.card",
    "wires.log",
    "wires.raw",
    "wires.back",
)


class WirePanel(WireFilters):
    """The frames of one server."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("wires")
    DEFAULT_CSS = """
    WirePanel { height: 1fr; }
    WirePanel > WireView { height: 1fr; }
    WirePanel > #wire-methods { height: auto; max-height: 12; border-top: solid $border; display: none; }
    WirePanel.-body > WireView { display: none; }
    WirePanel.-body.-tall > WireView { display: block; height: 2fr; }
    WirePanel.-body > WireBody { display: block; height: 3fr; }
    """

    class CopyRequested(Message):
        """Put `text` on the clipboard and say `said`. Both are clean."""

        def __init__(self, text: str, said: str) -> None:
            super().__init__()
            self.text, self.said = text, said

    class ExportRequested(Message):
        """Write the frames of `server` that `query` wants to a file."""

        def __init__(self, server: str, form: Form, path: str, query: p.FrameQuery | None) -> None:
            super().__init__()
            self.server, self.form, self.path, self.query = server, form, path, query

    class OpenCall(Message):
        """Go to the card of a call."""

        def __init__(self, call_id: str) -> None:
            super().__init__()
            self.call_id = call_id

    class OpenLog(Message):
        """Go to the log of `server` between two Unix times."""

        def __init__(self, server: str, began: float, ended: float) -> None:
            super().__init__()
            self.server, self.began, self.ended = server, began, ended

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.body = WireBody()
        self.facts_line, self.keys = FactLine(), KeyLine(_KEYS)

    def compose(self) -> ComposeResult:
        yield self.facts_line
        yield self.view
        yield self.body
        yield self.methods
        yield self.ask
        yield self.keys

    # ----------------------------------------------------------------- looking

    def show(self, server: str, window: p.FrameWindow | None, *, call: str = "") -> None:
        """Show the trace of a server; with `call` only what that call caused."""
        if server != self.view.server or window is not self.view.window:
            self._close_body()
        self.view.watch_wire(server, window)
        if call:
            self.show_call(call)
        self._say()

    def show_call(self, call_id: str) -> None:
        """Only what one call caused, the cursor on its first frame."""
        self._close_body()
        self.view.set_query(p.FrameQuery(call=call_id))
        window = self.view.window
        numbers = window.of_call(call_id) if window is not None else ()
        if numbers:
            self.view.reach(numbers[0])
            self.view.go_to(numbers[0])

    def poll(self) -> None:
        """Once a frame."""
        self.view.poll()
        if self.is_open:
            self.body.poll(self.view.window)
        self._say()

    def focus_view(self) -> None:
        """Put the focus where the keys are."""
        if self.is_open and not self.has_class("-tall"):
            self.body.pane_of(self.body.number).view.focus()
        else:
            self.view.focus()

    @property
    def is_open(self) -> bool:
        """Whether a body is shown."""
        return self.has_class("-body")

    def _say(self) -> None:
        self.facts_line.say(self.facts())
        self.keys.say(_BODY_KEYS if self.body.has_focus_within else _KEYS)

    @on(WindowView.Changed)
    def _changed(self, event: WindowView.Changed) -> None:
        event.stop()
        self._say()

    def on_resize(self) -> None:
        self.set_class(self.size.height >= TALL, "-tall")

    # ------------------------------------------------------------------ bodies

    @on(WireView.Opened)
    def _opened(self) -> None:
        self._show_body()
        self.body.pane_of(self.body.number).view.focus()

    @on(WireView.Moved)
    def _moved(self) -> None:
        """The body goes along with the cursor."""
        if self.is_open:
            self._show_body()

    def _show_body(self) -> None:
        window, frame = self.view.window, self.view.current
        if window is not None and frame is not None:
            self.view.following = False
            self.add_class("-body")
            self.body.show(window, frame)

    def _close_body(self) -> None:
        if self.is_open:
            had_focus = self.body.has_focus_within
            self.remove_class("-body")
            self.body.close()
            if had_focus:
                self.view.focus()

    @on(JsonView.CopyRequested)
    def _copy(self, event: JsonView.CopyRequested) -> None:
        event.stop()
        self.post_message(self.CopyRequested(event.text, event.said))

    def action_pair(self) -> None:
        """To the frame that answers, or is answered."""
        if self.body.has_focus_within and (other := self.body.other()) is not None:
            other.view.focus()
            return
        frame = self.view.current
        if frame is None or frame.pair < 0:
            self.tell(t("wire.no_pair"))
            return
        if self.view.sieve is not None and not self.view.sieve.holds(frame.pair):
            self.view.set_query(p.FrameQuery())  # the filter hides it
        self.view.go_to(frame.pair)

    # ----------------------------------------------------------------- filters

    def action_back(self) -> None:
        """Close the list of methods, then the body, then clear the filters."""
        if self.methods.display:
            self._close_methods()
        elif self.is_open:
            self._close_body()
        elif self.view.query_now != p.FrameQuery():
            self._ask_for(p.FrameQuery())
        else:
            raise SkipAction

    # --------------------------------------------------------------- elsewhere

    def _here(self) -> p.Frame | None:
        """The frame whose body has the focus, else that under the cursor."""
        return self.view.frame(self.body.number) if self.body.has_focus_within else self.view.current

    def action_card(self) -> None:
        frame = self._here()
        if frame is not None and frame.call:
            self.post_message(self.OpenCall(frame.call))
        else:
            self.tell(t("wire.no_call"))

    def action_log(self) -> None:
        """The log while a request ran, or around a frame."""
        frame = self._here()
        if frame is None:
            return
        pair = self.view.frame(frame.pair)
        times = [frame.time] if pair is None else [frame.time, pair.time]
        around = MOMENT if pair is None else 0.0
        self.post_message(self.OpenLog(self.view.server, min(times) - around, max(times) + around))

    def action_command(self) -> None:
        """Copy the call of a tool as a command for a shell."""
        frame, window = self._here(), self.view.window
        if frame is None or window is None:
            return
        request = frame if frame.kind == "request" else self.view.frame(frame.pair)
        command = ""
        if request is not None and request.method == "tools/call":
            command = _command(self.view.server, window.body(request.number))
        if command:
            self.post_message(self.CopyRequested(command, t("copied.command")))
        else:
            self.tell(t("wire.no_command"))

    def action_raw(self) -> None:
        """Copy a frame and its pair as they were on the wire, a line each."""
        frame, window = self._here(), self.view.window
        if frame is None or window is None:
            return
        numbers = sorted({frame.number, frame.pair} - {-1})
        bodies = [body for number in numbers if (body := window.body(number))]
        if bodies:
            said = t("copied.frames", n=len(bodies))
            self.post_message(self.CopyRequested(clean("\n".join(bodies)), said))
        else:
            self.tell(t("wire.body_gone"))

    def action_export(self) -> None:
        self.ask.open(t("wire.ask_export"), self.view, done=self._export)

    def _export(self, path: str) -> None:
        path = path.strip()
        form = PurePath(path).suffix.lower().lstrip(".")
        if not path:
            return
        if form not in FORMS:
            self.app.notify(t("wire.form_unknown"), severity="warning", markup=False)
            return
        query = self.view.query_now
        wanted = query if query != p.FrameQuery() else None
        self.post_message(self.ExportRequested(self.view.server, form, path, wanted))


def _command(server: str, body: str) -> str:
    """The command for a shell that repeats a `tools/call`; empty where it cannot be told."""
    try:
        params = json.loads(body)["params"]
        return call_command(server, str(params["name"]), json.dumps(params.get("arguments") or {}))
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return ""
