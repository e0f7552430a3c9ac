"""The screen of calls by hand: a form at the left, what came back at the right, below each other when narrow.

Several calls may run at once; keys go through all calls of the tool, the model's too. Not here: what is
filled in (arguments), what came back (results), running the call (core).
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from hel_tui.core import protocol as p
from hel_tui.forms.node import read_json
from hel_tui.forms.spec import MISSING
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.arguments import ArgumentsDialog
from hel_tui.tui.safe import clean, cut
from hel_tui.tui.screens.call.arguments import Arguments
from hel_tui.tui.screens.call.head import Head
from hel_tui.tui.screens.call.results import Results
from hel_tui.tui.screens.call.saving import as_check, check_dialog
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.picker import foot_line
from hel_tui.tui.state import CallItem, Changes
from hel_tui.tui.strings import t
from hel_tui.tui.text import cards
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.lines import Caption, width_of

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.call.opening import Calls

WIDE = 100
"""Columns from which form and result stand beside each other."""
TALL = 34
"""Rows from which there is room for all that the schema says of a place."""


class CallScreen(LiveScreen):
    """Opened for one tool; Esc stops the call that is shown, then leaves."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("call")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    CallScreen #call-body { height: 1fr; }
    CallScreen.-wide #call-body { layout: horizontal; }
    CallScreen.-wide Results { border-left: solid $border-blurred; }
    CallScreen.-empty Results { display: none; }
    CallScreen.-wide.-empty Results { display: block; }
    CallScreen Arguments:focus-within, CallScreen Results:focus-within { height: 2fr; }
    CallScreen.-wide Arguments, CallScreen.-wide Results { height: 1fr; }
    CallScreen.-low Arguments TextPane { max-height: 2; }
    """

    def __init__(
        self, hel: HelApp, calls: Calls, tool: p.ToolDetail, schema: Any, given: Any, before: str
    ) -> None:
        """`given`: what is filled in at first, MISSING for nothing. `before`: a call to compare with."""
        super().__init__()
        self.hel, self.calls = hel, calls
        self.server, self.tool = tool.row.server, tool.row.raw
        self.head = Head(cut(clean(f"{self.server}.{self.tool}", newlines=False), 80))
        self.form = Arguments(schema, given, self._hint)
        self.results = Results(hel, self.server, self.tool, tool.description, before)
        self.hint = Caption()
        self.foot = Caption()
        self._stopped: set[str] = set()
        self._accepted: Any = MISSING
        """Arguments that may not fit, of which the person was told."""

    def compose(self) -> ComposeResult:
        yield self.head
        with Container(id="call-body"):
            yield self.form
            yield self.results
        yield self.hint
        yield self.foot

    def on_mount(self) -> None:
        self.hint.display = False
        self._draw()
        self.call_after_refresh(self.form.begin)

    def on_resize(self) -> None:
        self._fit()
        self._say_foot()

    def _fit(self) -> None:
        self.set_class(self.size.width >= WIDE, "-wide")
        self.set_class(self.size.height < TALL, "-low")
        self.set_class(not self.results.shown, "-empty")

    def _draw(self) -> None:
        self.results.show()
        self._fit()
        self._say_foot()

    # ------------------------------------------------------------ what comes in

    def sync(self, changes: Changes) -> None:
        self.results.sync(changes)
        if changes.items or changes.cleared:
            self._fit()
            self._say_foot()

    def frame(self) -> None:
        self.results.frame()

    def second(self) -> None:
        self.results.second()

    def show_waiting(self, on: bool) -> None:
        if on:
            self._hint(t("call.decision", key=keymap.label("call.waiting")), "warn")
        elif self.hint.line and self.hint.line[0][1] == "warn":
            self._hint("")

    @on(JsonView.CopyRequested)
    def _copy_json(self, event: JsonView.CopyRequested) -> None:
        self.hel.copy(event.text, event.said)

    # --------------------------------------------------------------- the call

    def action_send(self) -> None:
        """Send, unless something does not fit; what only may not fit is sent when it is said again."""
        value, flaws = self.form.filled()
        if value is MISSING:
            return
        hard = any(not flaw.soft for flaw in flaws)
        if not isinstance(value, dict):
            self._hint(t("json.not_object"), "bad")
        elif hard or (flaws and value != self._accepted):
            self._accepted = MISSING if hard else value
            key = "call.flaws" if hard else "call.may_not_fit"
            self.form.show_flaws(flaws, t(key, n=len(flaws), key=keymap.label("call.send")))
        else:
            self._send(value)

    def _send(self, value: dict[str, Any]) -> None:
        self._accepted = MISSING
        self.form.show_flaws((), "")
        self.calls.keep(self.server, self.tool, value)
        key = uuid.uuid4().hex[:10]
        self.results.look = "model"
        self.results.show(f"hand-{key}")
        arguments = json.dumps(value, ensure_ascii=False)
        target = f"{self.server}.{self.tool}"
        share, meta = self.head.share, self.head.meta
        self.hel.send(p.CallTool(target, arguments, share=share, seen=True, meta=meta, key=key))
        self.form.take_focus()
        self._draw()

    def action_leave(self) -> None:
        """Stop the call that is shown; when none is on its way, go."""
        shown = self.results.shown
        if self.results.is_under_way and shown not in self._stopped:
            self._stopped.add(shown)
            self.hel.send(p.CancelCall(shown))
            self._hint(t("call.stopping"), "muted")
            return
        if (value := self.form.kept()) is not None:
            self.calls.keep(self.server, self.tool, value)
        self.dismiss()

    def action_destination(self) -> None:
        self.head.share = not self.head.share
        self.head.refresh()

    def action_meta(self) -> None:
        """What goes along with each call from here as `_meta`."""

        def done(answer: p.Answer | None) -> None:
            if isinstance(answer, p.FormAnswer) and answer.action == "accept":
                text = str(dict(answer.content).get("meta", "")).strip()
                if text and not isinstance(read_json(text), dict):
                    self._hint(t("json.not_object"), "bad")
                else:
                    self.head.meta = text
                    self.head.refresh()

        field = p.FormField("meta", "text", "_meta", t("call.meta_is"))
        dialog = ArgumentsDialog(t("call.meta"), "", (field,), {"meta": self.head.meta})
        self.hel.push_screen(dialog, done)

    def action_share(self) -> None:
        """Hand the result that is shown to the model."""
        detail = self.results.ended
        if detail is not None and not detail.shared:
            self.hel.send(p.ShareResult(detail.call_id))

    # ------------------------------------------------------- the form, the result

    def action_raw(self) -> None:
        self.form.toggle_raw()
        self._say_foot()

    def action_other(self) -> None:
        """From the form to the result and back."""
        self.form.form_view.commit()
        if self.results.has_keys:
            self.form.take_focus()
        elif self.results.display:
            self.results.take_focus()

    def action_fill(self) -> None:
        """Take the arguments of the call that is shown into the form."""
        if (value := self.results.arguments()) is not None:
            self.form.use(value)

    def action_look(self) -> None:
        self.results.next_look()

    def action_compare(self) -> None:
        if not self.results.compare():
            self._hint(t("call.nothing_to_compare"), "muted")

    def action_mark(self) -> None:
        if self.results.item is not None:
            self._hint(t("call.marked" if self.results.mark() else "call.unmarked"), "muted")

    def action_step(self, step: int) -> None:
        self.results.step(step)
        self._fit()

    def action_copy(self) -> None:
        self.hel.copy(self.results.copied())

    def action_command(self) -> None:
        """The call as a `hel mcp call` command: as it was made, or as the form would make it."""
        detail = self.results.detail
        if detail is None:
            value, _flaws = self.form.filled()
            arguments = json.dumps({} if value is MISSING else value, ensure_ascii=False)
            detail = p.CallDetail("", self.server, self.tool, arguments, "", "queued")
        if command := cards.as_command(CallItem("", self.server, self.tool, ""), detail):
            self.hel.copy(command)
        else:
            self.app.bell()

    def action_check(self) -> None:
        """Keep this call, with its result, as a check."""
        detail = self.results.ended
        if detail is None:
            self._hint(t("call.no_check"), "muted")
            return
        call_id = detail.call_id

        def done(answer: p.Answer | None) -> None:
            if command := as_check(call_id, answer):
                self.hel.send(command)

        taken = {row.name for row in self.hel.core.checks()}
        self.hel.push_screen(check_dialog(self.tool, taken), done)

    def action_inside(self, tab: str) -> None:
        """What went over the wire, or was written, for the call that is shown."""
        if self.results.item is not None:
            self.hel.open_server(self.server, tab, self.results.shown)

    def action_waiting(self) -> None:
        self.hel.open_waiting()

    def action_keys(self) -> None:
        from hel_tui.tui.screens.sheets import keys_lines
        from hel_tui.tui.screens.text import KeysScreen

        self.hel.push_screen(KeysScreen(keys_lines(["call", "fields", "json"])))

    # ------------------------------------------------------------------- words

    def _hint(self, text: str, style: str = "muted") -> None:
        self.hint.say([(f" {text}", style)] if text else ())
        self.hint.display = bool(text)

    def on_descendant_focus(self) -> None:
        self.form.title.say(active=not self.results.has_keys)
        self.results.title.say(active=self.results.has_keys)
        self._say_foot()

    def _say_foot(self) -> None:
        """The keys that help where the person is."""
        names = ["call.send", "call.raw"]
        if self.results.has_keys:
            some = ("look", "compare", "mark", "share", "check", "copy", "command", "older")
            names = ["call.send", *(f"call.{name}" for name in some)]
        elif not self.form.is_raw:
            names += [f"fields.{name}" for name in ("toggle", "leave_out", "new", "json")]
        leave = ("call.leave", f"short.call.{'stop' if self.results.is_under_way else 'leave'}")
        keys = [(name, f"short.{name}") for name in ["call.other", *names]]
        while len(keys) > 1 and width_of(foot_line([*keys, leave])) > self.size.width:
            del keys[-1]
        self.foot.say(foot_line([*keys[1:], keys[0], leave]))
