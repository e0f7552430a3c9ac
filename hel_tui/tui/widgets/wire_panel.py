"""The wire of a server: the list of frames, the bodies below it, filters, and the ways to card and log.

Mount it, `show` a trace, call `poll` once a frame; what it wants comes as messages. Not here: the list
(wire), bodies (wire_body), carrying out what is wanted (the screen).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePath
from typing import ClassVar, Literal

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.safe import clean, one_line
from hel_tui.tui.strings import t
from hel_tui.tui.text.cards import call_command
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.lines import Part
from hel_tui.tui.widgets.rows import Row, RowList
from hel_tui.tui.widgets.window_line import AskLine, FactLine, KeyLine
from hel_tui.tui.widgets.window_view import WindowView
from hel_tui.tui.widgets.wire import WireView
from hel_tui.tui.widgets.wire_body import WireBody

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


class WirePanel(Vertical):
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
        self.view, self.body = WireView(), WireBody()
        self.methods = RowList(id="wire-methods")
        self.facts_line, self.ask, self.keys = FactLine(), AskLine(), KeyLine(_KEYS)

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

    def facts(self) -> list[Part]:
        """What is shown of how much, and how."""
        view, query = self.view, self.view.query_now
        facts: list[Part] = []
        if view.sieve is not None:
            facts.append((t("log.shown", n=f"{view.count:,}", of=f"{view.kept:,}"), "strong"))
            if view.sieve.behind:
                facts.append((t("log.filtering", percent=int(view.sieve.progress * 100)), "accent"))
        else:
            facts.append((t("wire.frames", n=f"{view.kept:,}"), "strong"))
        if query.call:
            facts.append((t("wire.of_call"), "accent"))
        if query.direction:
            arrow = "→" if query.direction == "out" else "←"
            facts.append((f"{arrow} {t(f'wire.{query.direction}')}", "accent"))
        facts += [(one_line(query.method, 40), "accent")] if query.method else []
        facts += [(t("wire.tool", tool=one_line(query.tool, 40)), "accent")] if query.tool else []
        facts += [(t("wire.id", id=one_line(query.id, 20)), "accent")] if query.id else []
        facts += [(t("wire.errors"), "accent")] if query.errors else []
        if query.text:
            text = one_line(query.text, 30)
            facts.append((f"/{text}/" if query.is_regex else f"“{text}”", "accent"))
        if view.problem:
            facts.append((f"⚠ {one_line(view.problem, 60)}", "bad"))
        facts.append((t("log.following") if view.following else f"▮▮ {t('log.paused')}", "muted"))
        return facts

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
            self._tell(t("wire.no_pair"))
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

    def _ask_for(self, query: p.FrameQuery) -> None:
        """Filter anew, staying at the frame under the cursor as far as it is shown."""
        at, followed = self.view.cursor, self.view.following
        self.view.set_query(query)
        if not followed and at >= 0 and self.view.sieve is None:
            self.view.go_to(at)
        self._say()

    def action_filter(self) -> None:
        query = self.view.query_now
        self.ask.open(
            t("wire.ask_filter_regex" if query.is_regex else "wire.ask_filter"),
            self.view,
            value=query.text,
            typed=lambda text: self._ask_for(replace(self.view.query_now, text=text)),
        )

    def action_regex(self) -> None:
        query = self.view.query_now
        self._ask_for(replace(query, is_regex=not query.is_regex))

    def action_direction(self) -> None:
        turns: dict[str, p.Direction | Literal[""]] = {"": "out", "out": "in", "in": ""}
        query = self.view.query_now
        self._ask_for(replace(query, direction=turns[query.direction]))

    def action_errors(self) -> None:
        query = self.view.query_now
        self._ask_for(replace(query, errors=not query.errors))

    def action_id(self) -> None:
        frame = self.view.current
        self.ask.open(
            t("wire.ask_id"),
            self.view,
            value=self.view.query_now.id or (frame.id if frame is not None else ""),
            done=lambda text: self._ask_for(replace(self.view.query_now, id=text.strip())),
        )

    def action_tool(self) -> None:
        frame = self.view.current
        self.ask.open(
            t("wire.ask_tool"),
            self.view,
            value=self.view.query_now.tool or (frame.tool if frame is not None else ""),
            done=lambda text: self._ask_for(replace(self.view.query_now, tool=text.strip())),
        )

    def action_call(self) -> None:
        """Only what the call of this frame caused; once more, all."""
        frame, query = self.view.current, self.view.query_now
        if query.call:
            self._ask_for(replace(query, call=""))
        elif frame is not None and frame.call:
            self._ask_for(replace(query, call=frame.call))
        else:
            self._tell(t("wire.no_call"))

    def action_method(self) -> None:
        """Pick one of the methods there are."""
        found = self.view.methods()
        rows = [Row("*", [(f" {t('wire.all_methods')}", "muted")])]
        rows += [
            Row(f"={name}", [(f" {one_line(name, 60)}", ""), (f"  {n:,}", "muted")]) for name, n in found
        ]
        self.methods.show(rows)
        self.methods.display = True
        self.methods.focus()

    def _close_methods(self) -> None:
        self.methods.display = False
        self.view.focus()

    @on(RowList.Opened, "#wire-methods")
    def _picked(self, event: RowList.Opened) -> None:
        event.stop()
        self._close_methods()
        self._ask_for(replace(self.view.query_now, method=event.key[1:]))

    @on(RowList.Moved, "#wire-methods")
    def _picking(self, event: RowList.Moved) -> None:
        event.stop()

    # --------------------------------------------------------------- elsewhere

    def _here(self) -> p.Frame | None:
        """The frame whose body has the focus, else that under the cursor."""
        return self.view.frame(self.body.number) if self.body.has_focus_within else self.view.current

    def action_card(self) -> None:
        frame = self._here()
        if frame is not None and frame.call:
            self.post_message(self.OpenCall(frame.call))
        else:
            self._tell(t("wire.no_call"))

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
            self._tell(t("wire.no_command"))

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
            self._tell(t("wire.body_gone"))

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

    def _tell(self, text: str) -> None:
        self.app.notify(text, markup=False)


def _command(server: str, body: str) -> str:
    """The command for a shell that repeats a `tools/call`; empty where it cannot be told."""
    try:
        params = json.loads(body)["params"]
        return call_command(server, str(params["name"]), json.dumps(params.get("arguments") or {}))
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        return ""
