"""The screen of calls by hand: a form at the left, what came back at the right, below each other when narrow.

Several calls may run at once; keys go through all calls of the tool, the model's too. Not here: the form
(form_view), the looks at a result (result), running the call (core).
"""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import TextArea

from hel_tui.core import protocol as p
from hel_tui.forms.checks import Flaw, check, check_value
from hel_tui.forms.node import BadJson, read_json, value_of, written
from hel_tui.forms.spec import MISSING
from hel_tui.forms.tree import Form
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.safe import clean, cut, is_clean
from hel_tui.tui.screens.call.compare import text_diff
from hel_tui.tui.screens.call.form_view import FormView
from hel_tui.tui.screens.call.result import (
    Look,
    ResultView,
    StateBar,
    compared_text,
    lay_out,
    looks_of,
    structured,
)
from hel_tui.tui.screens.call.rows import about_lines, flaw_text
from hel_tui.tui.screens.call.saving import as_check, check_dialog
from hel_tui.tui.screens.live import LiveScreen
from hel_tui.tui.screens.picker import foot_line
from hel_tui.tui.state import CallItem, Changes
from hel_tui.tui.strings import t
from hel_tui.tui.text import cards
from hel_tui.tui.widgets.bars import PaneTitle
from hel_tui.tui.widgets.lines import Bar, Caption, Line, spread

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp
    from hel_tui.tui.screens.call.opening import Calls

WIDE = 100
"""Columns from which form and result stand beside each other."""
_ON_ITS_WAY = frozenset({"queued", "waiting", "running"})
_OVER = frozenset({"ok", "failed"})


class JsonEditor(TextArea):
    """All arguments as JSON."""

    DEFAULT_CSS = """
    JsonEditor { height: 1fr; border: none; padding: 0; display: none; background: $panel; }
    JsonEditor:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(show_line_numbers=True, soft_wrap=True, compact=True)
        self.cursor_blink = False


class Head(Bar):
    """Which tool, and who gets the result."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.tool_name = name
        self.share = False

    def lines(self) -> list[Line]:
        to = t("call.to_model" if self.share else "call.to_me")
        right: Line = [
            (f" {keymap.label('call.destination')} ", "key"),
            (f"{to} ", "accent" if self.share else "muted"),
        ]
        return [spread([(f" {t('call.title')} ", "strong"), (self.tool_name, "accent")], right, self.columns)]


class CallScreen(LiveScreen):
    """Opened for one tool; Esc stops the call that is shown, then leaves."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("call")
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    CallScreen #call-body { height: 1fr; }
    CallScreen #call-left { width: 1fr; height: 1fr; }
    CallScreen #call-right { width: 1fr; height: 1fr; }
    CallScreen.-wide #call-body { layout: horizontal; }
    CallScreen.-wide #call-right { border-left: solid $border-blurred; }
    CallScreen #call-about { height: auto; max-height: 5; padding: 0 1; }
    CallScreen.-empty #call-right { display: none; }
    CallScreen.-wide.-empty #call-right { display: block; }
    """

    def __init__(
        self, hel: HelApp, calls: Calls, tool: p.ToolDetail, schema: Any, given: Any, before: str
    ) -> None:
        super().__init__()
        self.hel, self.calls, self.tool = hel, calls, tool
        self.server, self.raw_name = tool.row.server, tool.row.raw
        self.schema = schema
        self.form_view = FormView(Form(schema, MISSING if given is None else given))
        self.editor = JsonEditor()
        name = clean(f"{self.server}.{self.raw_name}", newlines=False)
        self.head = Head(cut(name, 80))
        self.form_title = PaneTitle(t("call.arguments"), id="call-form-title")
        self.result_title = PaneTitle(t("call.result"), id="call-result-title")
        self.about = TextPane()
        self.about.id = "call-about"
        self.state = StateBar()
        self.result = ResultView()
        self.hint = Caption()
        self.foot = Caption()
        self.share = False
        self.look: Look = "model"
        self.shown = ""
        """Id of the call whose result is shown."""
        self.marked = before
        """Id of the call that others are compared with."""
        self._stopped: set[str] = set()
        self._accepted: Any = MISSING
        """Arguments with soft flaws that the person was told of."""

    def compose(self) -> ComposeResult:
        yield self.head
        with Container(id="call-body"):
            with Vertical(id="call-left"):
                yield self.form_title
                yield self.form_view
                yield self.editor
                yield self.about
            with Vertical(id="call-right"):
                yield self.result_title
                yield self.state
                yield self.result
        yield self.hint
        yield self.foot

    def on_mount(self) -> None:
        self.hint.display = False
        self._fit()
        self._say_foot()
        self._show()
        self.call_after_refresh(self.form_view.begin)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self.set_class(self.size.width >= WIDE, "-wide")
        self.set_class(not self.shown, "-empty")

    # ------------------------------------------------------------ what comes in

    def sync(self, changes: Changes) -> None:
        if changes.cleared:
            self.shown = self.marked = ""
            self._show()
        elif self.shown in changes.items:
            self._show()

    def second(self) -> None:
        item = self.item
        if item is not None and item.state in _ON_ITS_WAY:
            self.state.refresh()

    def show_waiting(self, on: bool) -> None:
        if on:
            self._hint(t("call.decision", key=keymap.label("call.waiting")), "warn")
        elif self.hint.line and self.hint.line[0][1] == "warn":
            self._hint("")

    @property
    def item(self) -> CallItem | None:
        """The call that is shown."""
        found = self.hel.bridge.state.by_key.get(self.shown)
        return found if isinstance(found, CallItem) else None

    def history(self) -> list[CallItem]:
        """All calls of this tool in this session, oldest first."""
        return [
            item
            for item in self.hel.bridge.state.items
            if isinstance(item, CallItem) and (item.server, item.tool) == (self.server, self.raw_name)
        ]

    @property
    def other(self) -> str:
        """The call that the shown one is compared with: the marked one, else the one before it."""
        if self.marked and self.marked != self.shown:
            return self.marked
        ids = [item.key for item in self.history()]
        at = ids.index(self.shown) if self.shown in ids else 0
        return ids[at - 1] if at > 0 else ""

    def _details(self) -> tuple[p.CallDetail | None, p.CallDetail | None]:
        core = self.hel.core
        detail = core.call(self.shown) if self.item is not None else None
        other = core.call(self.other) if self.other else None
        return detail, other if other is not None and other.state in _OVER else None

    def _show(self) -> None:
        """Draw the call that is shown."""
        item = self.item
        detail, other = self._details()
        if self.look not in looks_of(detail, other):
            self.look = "model"
        ids = [one.key for one in self.history()]
        self.state.item, self.state.detail, self.state.look = item, detail, self.look
        self.state.sent = bool(self.shown)
        self.state.place = (
            t("call.place", n=ids.index(self.shown) + 1, of=len(ids)) if self.shown in ids else ""
        )
        self.state.refresh()
        running = item is None or item.state in _ON_ITS_WAY
        if not self.shown:
            about = clean(self.tool.description) or t("call.empty")
            self.result.show(lambda width: cards.plain_rows(about, width))
        else:
            self.result.show(lay_out(self.look, detail, other, running))
        self._fit()
        self._say_foot()

    # ----------------------------------------------------------------- the form

    @on(FormView.Changed)
    def _form_changed(self) -> None:
        place = self.form_view.current
        self.about.show(about_lines(place.node) if place is not None else [])
        if self.form_view.flaws and not self.form_view.is_typing:
            self.form_view.show_flaws(check(self.form_view.form)[1])
        self._say_foot()

    @property
    def is_raw(self) -> bool:
        """Whether the arguments are edited as JSON."""
        return bool(self.editor.display)

    def action_raw(self) -> None:
        """To JSON and back; what stood there stays."""
        if self.is_raw:
            value = self._from_editor()
            if value is not MISSING:
                self._use(value)
            return
        self.form_view.commit()
        self.form_view.form.quote_unread()
        value = value_of(self.form_view.form.root)
        text = written({} if value is MISSING else value)
        if not is_clean(text):
            text = json.dumps(value, indent=2)
        self.editor.text = text
        self._switch(raw=True)

    def _use(self, value: Any) -> None:
        self.form_view.use(Form(self.schema, value))
        self._switch(raw=False)

    def _switch(self, *, raw: bool) -> None:
        self.editor.display, self.form_view.display = raw, not raw
        self.form_title.say(fact="JSON" if raw else "")
        self.about.display = not raw
        (self.editor if raw else self.form_view.rows).focus()
        self._say_foot()

    def _from_editor(self) -> Any:
        """The value of the JSON that was typed; MISSING, and a word about it, where it is none."""
        value = read_json(self.editor.text.strip() or "{}")
        if isinstance(value, BadJson):
            self._hint(t("call.bad_json", why=value.why, line=value.line, column=value.column), "bad")
            self.editor.move_cursor((value.line - 1, value.column - 1))
            return MISSING
        self._hint("")
        return value

    @on(TextArea.Changed, "JsonEditor")
    def _json_typed(self) -> None:
        if self.hint.display:
            self._from_editor_quietly()

    def _from_editor_quietly(self) -> None:
        value = read_json(self.editor.text.strip() or "{}")
        if not isinstance(value, BadJson):
            self._hint("")

    def _filled(self) -> tuple[Any, tuple[Flaw, ...]]:
        """The arguments as they stand and what is wrong with them; MISSING where they are no JSON."""
        if not self.is_raw:
            self.form_view.commit()
            return check(self.form_view.form)
        value = self._from_editor()
        return value, () if value is MISSING else tuple(check_value(self.schema, value))

    # -------------------------------------------------------------------- keys

    def action_send(self) -> None:
        """Send, unless something does not fit; what only may not fit is sent when it is said again."""
        value, flaws = self._filled()
        if value is MISSING:
            return
        hard = [flaw for flaw in flaws if not flaw.soft]
        if not isinstance(value, dict):
            self._hint(t("json.not_object"), "bad")
        elif hard or (flaws and value != self._accepted):
            self._refuse(value, flaws, hard=bool(hard))
        else:
            self._send(value)

    def _refuse(self, value: Any, flaws: tuple[Flaw, ...], *, hard: bool) -> None:
        self._accepted = MISSING if hard else value
        first = flaws[0]
        if self.is_raw:
            where = ".".join(str(step) for step in first.path)
            self._hint(cut(clean(f"{where}: {flaw_text(first)}", newlines=False), 200), "bad")
            return
        self.form_view.show_flaws(flaws)
        self.form_view.go_to(first.path)
        self.form_view.rows.focus()
        key = "call.flaws" if hard else "call.may_not_fit"
        self._hint(t(key, n=len(flaws), key=keymap.label("call.send")), "bad")

    def _send(self, value: dict[str, Any]) -> None:
        self._accepted = MISSING
        self.form_view.show_flaws(())
        self._hint("")
        self.calls.keep(self.server, self.raw_name, value)
        key = uuid.uuid4().hex[:10]
        self.shown, self.look = f"hand-{key}", "model"
        arguments = json.dumps(value, ensure_ascii=False)
        self.hel.send(p.CallTool(f"{self.server}.{self.raw_name}", arguments, self.share, key))
        if not self.is_raw:
            self.form_view.rows.focus()
        self._show()

    def action_leave(self) -> None:
        """Stop the call that is shown; when none is on its way, go."""
        item = self.item
        if item is not None and item.state in _ON_ITS_WAY and self.shown not in self._stopped:
            self._stopped.add(self.shown)
            self.hel.send(p.CancelCall(self.shown))
            self._hint(t("call.stopping"), "muted")
            return
        self.form_view.commit()
        value = value_of(self.form_view.form.root) if not self.is_raw else read_json(self.editor.text)
        if isinstance(value, dict):
            self.calls.keep(self.server, self.raw_name, value)
        self.dismiss()

    def action_other(self) -> None:
        """From the form to the result and back."""
        self.form_view.commit()
        if self.result.has_focus:
            (self.editor if self.is_raw else self.form_view.rows).focus()
        elif self.query_one("#call-right").display:
            self.result.focus()
        self._say_foot()

    def action_destination(self) -> None:
        self.share = self.head.share = not self.share
        self.head.refresh()

    def action_share(self) -> None:
        """Hand the result that is shown to the model."""
        detail, _ = self._details()
        if detail is not None and detail.state in _OVER and not detail.shared:
            self.hel.send(p.ShareResult(self.shown))
            self.set_timer(0.1, self._show)

    def action_look(self) -> None:
        """The next look at the result."""
        looks = looks_of(*self._details())
        self.look = looks[(looks.index(self.look) + 1) % len(looks)] if self.look in looks else "model"
        self._show()

    def action_compare(self) -> None:
        """What differs from the marked call, or from the one before."""
        if "compare" in looks_of(*self._details()):
            self.look = "model" if self.look == "compare" else "compare"
            self._show()
        else:
            self._hint(t("call.nothing_to_compare"), "muted")

    def action_mark(self) -> None:
        """Compare with this one from here on."""
        if self.item is not None:
            self.marked = "" if self.marked == self.shown else self.shown
            self._hint(t("call.marked" if self.marked else "call.unmarked"), "muted")
            self._show()

    def action_step(self, step: int) -> None:
        """To another call of this tool."""
        ids = [item.key for item in self.history()]
        if not ids:
            return
        at = ids.index(self.shown) if self.shown in ids else len(ids)
        self.shown = ids[min(max(at + step, 0), len(ids) - 1)]
        self._show()

    def action_fill(self) -> None:
        """Take the arguments of the call that is shown into the form."""
        detail, _ = self._details()
        if detail is not None and isinstance(value := read_json(detail.arguments), dict):
            self._use(value)

    def action_copy(self) -> None:
        """What is looked at, to the clipboard."""
        detail, other = self._details()
        if detail is None:
            return
        text = {"raw": detail.raw, "structured": structured(detail.raw)}.get(self.look, detail.result)
        if self.look in ("compare", "beside") and other is not None:
            text = text_diff(compared_text(other), compared_text(detail))
        self.hel.copy(text)

    def action_command(self) -> None:
        """The call as a `hel mcp call` command: as it was made, or as the form would make it."""
        detail, _ = self._details()
        if detail is None:
            value, _flaws = self._filled()
            arguments = json.dumps({} if value is MISSING else value, ensure_ascii=False)
            detail = p.CallDetail("", self.server, self.raw_name, arguments, "", "queued")
        if command := cards.as_command(CallItem("", self.server, self.raw_name, ""), detail):
            self.hel.copy(command)
        else:
            self.app.bell()

    def action_check(self) -> None:
        """Keep this call, with its result, as a check."""
        detail, _ = self._details()
        if detail is None or detail.state not in _OVER:
            self._hint(t("call.no_check"), "muted")
            return
        call_id = self.shown

        def done(answer: p.Answer | None) -> None:
            if command := as_check(call_id, answer):
                self.hel.send(command)

        taken = {row.name for row in self.hel.core.checks()}
        self.hel.push_screen(check_dialog(self.raw_name, taken), done)

    def action_wire(self, tab: str) -> None:
        """What went over the wire, or was written, for the call that is shown."""
        if self.item is not None:
            self.hel.open_server(self.server, tab, self.shown)

    def action_waiting(self) -> None:
        self.hel.open_waiting()

    def action_keys(self) -> None:
        from hel_tui.tui.screens.sheets import keys_lines
        from hel_tui.tui.screens.text import TextScreen

        self.hel.push_screen(TextScreen(t("keys.title"), keys_lines(["call", "fields"])))

    # ------------------------------------------------------------------- words

    def _hint(self, text: str, style: str = "muted") -> None:
        self.hint.say([(f" {text}", style)] if text else ())
        self.hint.display = bool(text)

    def on_descendant_focus(self) -> None:
        self.form_title.say(active=not self.result.has_focus)
        self.result_title.say(active=self.result.has_focus)
        self._say_foot()

    def _say_foot(self) -> None:
        item = self.item
        stop = "stop" if item is not None and item.state in _ON_ITS_WAY else "leave"
        names = ["send", "raw"]
        if self.result.has_focus:
            names = ["send", "look", "compare", "mark", "share", "check", "copy", "command", "older"]
        keys = [(f"call.{name}", f"short.call.{name}") for name in [*names, "other"]]
        if not self.result.has_focus and not self.is_raw:
            wanted = ["toggle", "leave_out", "new", "json"]
            keys[2:2] = [(f"fields.{name}", f"short.fields.{name}") for name in wanted]
        self.foot.say(foot_line([*keys, ("call.leave", f"short.call.{stop}")]))
