"""A form that a server asks to be filled in: accept, decline and cancel are three different answers.

Not here: the fields (widgets/fields), what a value must be like (forms).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, TextArea

from hel_tui.core import protocol as p
from hel_tui.forms import Content, Typed, check_form
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.base import FRAME_ROWS, Choice, Dialog
from hel_tui.tui.dialogs.pane import framed, one_line
from hel_tui.tui.safe import ForeignText, cut
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.fields import Editor, Fields, OneLine, Options, Writing
from hel_tui.tui.widgets.lines import Caption, Line


def field_key(action: str) -> str:
    """The key of an action that works while something is typed, pretty; empty when it has none."""
    typeable = (key for key in keymap.keys(action) if not writes(key))
    return keymap.pretty(next(typeable, ""))


def writes(key: str) -> bool:
    """Whether a key (in Textual's name) puts a character into a field."""
    return len(key) == 1 or (len(keymap.pretty(key)) == 1 and "+" not in key) or key == "space"


def _last_key(action: str) -> str:
    """The last key of an action, pretty: the one that is no letter, by default Esc."""
    return keymap.pretty(keymap.keys(action)[-1])


class FieldsDialog(Dialog):
    """Base of what is filled in by a person. Subclasses say what is done with the content."""

    has_fields = True
    why_locked = "form.scroll_first"
    send = ""
    """Id of the action that sends."""
    cancel = ""
    """Id of the action that leaves without an answer."""

    def __init__(
        self,
        fields: tuple[p.FormField, ...],
        intro: list[Line],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self.fields = Fields(fields, intro)
        self.hint = Caption()
        self._tried = False
        self.trouble = ""
        """What kept the form from being sent, or left; said until the next key."""
        self._empty: Mapping[str, Typed] = {}
        """What stood in the fields at first."""
        self._warned = False
        """Whether leaving was asked for once, although that throws something away."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Caption(self.title_line())
            yield self.fields
            yield from self.extra()
            yield self.hint
            yield self.bar

    def extra(self) -> tuple[Widget, ...]:
        return ()

    def text(self) -> list[Line]:
        return []

    def show_text(self) -> None:
        """The fields draw themselves."""

    def begin(self) -> None:
        self._empty = dict(self.fields.typed())
        if first := self.fields.beside(None, 1):
            self.set_focus(first)
        self._say_keys()

    def on_fields_end_seen(self) -> None:
        self.bar.locked = ""
        self.fit()
        self._say_keys()

    def fit(self) -> None:
        """Give the fields what the title, the choices and the frame leave of the screen."""
        self.bar.fit()
        others = [child for child in self.query_one(".dialog").children if child is not self.fields]
        used = sum(child.outer_size.height for child in others if child.display and child is not self.bar)
        height = self.size.height if self.large else self.size.height * 9 // 10
        rows = len(self.bar.lines()) if self.bar.display else 0
        self.fields.styles.max_height = max(height - used - rows - FRAME_ROWS, 2)
        self.call_after_refresh(self.fields.look)

    # ------------------------------------------------------------------- input

    def on_key(self, event: events.Key) -> None:
        """At the choices: Tab goes to the first or the last field, arrows scroll. The rest is the base's."""
        if self.focused is not None or event.key in keymap.keys("app.keys"):
            return
        if event.key in ("tab", "shift+tab"):
            self._focus(self.fields.beside(None, 1 if event.key == "tab" else -1))
        elif self.bar.locked and event.key in keymap.keys(self.send) and not writes(event.key):
            self.fields.scroll_key("pagedown")
        elif event.key in keymap.by_key(self.part) or not self.fields.scroll_key(event.key):
            return
        event.stop()
        event.prevent_default()

    def editing(self, event: events.Key) -> bool:
        editor = self.focused
        if not isinstance(editor, OneLine | Writing | Options):
            return False
        self._say_keys("")
        if self._in_field(event, editor):
            event.stop()
            event.prevent_default()
        return True

    def _in_field(self, event: events.Key, editor: Editor) -> bool:
        """Keys that do something else than typing; says whether this was one."""
        key = event.key
        if key in keymap.keys(self.send) and not writes(key):
            if self.bar.locked:
                self.fields.scroll_key("pagedown")
                return True
            self.set_focus(None)  # what is typed after it is judged as at the choices
            self.choose("send", event.time)
        elif key == "ctrl+c":
            self.answer(self.refused())
        elif key == "escape":
            self._leave(event.time)
        elif isinstance(editor, Writing | Options) and self._kept(editor, key):
            return True
        elif key in ("tab", "enter", "down"):
            self._next(editor, 1, key, event.time)
        elif key in ("shift+tab", "up"):
            self._next(editor, -1, key, event.time)
        elif key in ("pageup", "pagedown"):
            self.fields.scroll_key(key)
        else:
            return isinstance(editor, Options)
        return True

    @staticmethod
    def _kept(editor: Writing | Options, key: str) -> bool:
        """Whether the field itself needs this key."""
        if isinstance(editor, Options):
            return editor.wants(key)
        if key == "ctrl+j":
            return editor.wants(key)
        if key in ("up", "down") and editor.wants(key):
            editor.action_cursor_up() if key == "up" else editor.action_cursor_down()
            return True
        return False

    def _next(self, editor: Editor, step: int, key: str, pressed: float) -> None:
        """To the field before or after; from the last one on to the choices."""
        to = self.fields.beside(editor, step)
        if to is not None:
            self._focus(to)
        elif key in ("tab", "enter", "shift+tab"):
            self._leave(pressed)

    def _focus(self, editor: Editor | None) -> None:
        self.set_focus(editor)
        if editor is not None:
            self.call_after_refresh(self.fields.reveal, editor)

    def _leave(self, pressed: float) -> None:
        """To the choices; a letter that was meant for the field decides nothing."""
        self.set_focus(None)
        self.left(pressed)

    def left(self, pressed: float) -> None:
        """A field was left for the choices at `pressed`."""
        del pressed

    def on_descendant_focus(self) -> None:
        self._warned = False
        self._say_keys()

    def on_descendant_blur(self) -> None:
        self._say_keys()

    def _say_keys(self, trouble: str | None = None) -> None:
        """The line above the choices: what is wrong, else which keys help in a field."""
        self.trouble = self.trouble if trouble is None else trouble
        text, style = self.trouble, "bad" if self.trouble else "muted"
        if not text and self.focused is not None:
            key = "form.in_options" if isinstance(self.focused, Options) else "form.in_field"
            send = t("form.key_scrolls" if self.bar.locked else "form.key_sends", key=field_key(self.send))
            text = t(key, next="Tab", send=send)
        self.hint.say([(f" {text}", style)])

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Options.Picked)
    def _mended(self) -> None:
        """After a first try, what is wrong is said as it changes."""
        if self._tried:
            self.fields.show_problems(check_form(self.fields.fields, self.fields.typed())[1])

    # ------------------------------------------------------------------ answer

    @property
    def _holds_input(self) -> bool:
        return self.fields.typed() != self._empty

    def _commit(self, run: str) -> None:
        """What was filled in is thrown away only when that is asked for twice."""
        if run == "cancel" and self._holds_input and not self._warned:
            self._warned = True
            self._say_keys(t("form.throws_away", key=_last_key(self.cancel)))
            return
        super()._commit(run)

    def escape_word(self) -> str:
        if self.focused is None and self._holds_input and not self._warned:
            return t("status.twice", key=_last_key(self.cancel))
        return super().escape_word()

    def content(self) -> Content | None:
        """What is filled in; None when something cannot be sent, which is then said."""
        content, problems = check_form(self.fields.fields, self.fields.typed())
        self.fields.show_problems(problems)
        self._tried = True
        if not problems:
            return content
        self._focus(self.fields.editors[problems[0].field])
        self._say_keys(t("form.problems", n=len(problems)))
        return None


class FormDialog(FieldsDialog):
    """`y` or Ctrl+S accepts, `n` declines, Esc cancels; in a field Esc goes to the choices first."""

    part = "form"
    send = "form.send"
    cancel = "form.cancel"
    choices = (
        Choice("form.send", allows=True),
        Choice("form.decline", refuses=True),
        Choice("form.cancel", refuses=True),
    )

    def __init__(self, question: p.FormQuestion, clock: Callable[[], float] = time.monotonic) -> None:
        self.question = question
        super().__init__(question.fields, self._intro(), clock)
        self.bar.mark = 2

    def title_line(self) -> Line:
        name = one_line(ForeignText(self.question.server))
        return [(f" ▲ {t('form.title', server=cut(name, 40))}", "strong")]

    def _intro(self) -> list[Line]:
        q = self.question
        lines: list[Line] = []
        if q.tool:
            tool = one_line(ForeignText(q.tool))
            lines.append([(t("form.for_tool", tool=tool), "muted")])
        if q.message:
            lines += [[(t("form.from_server"), "muted")], *framed(ForeignText(q.message))]
        lines.append([(t("form.not_secret") if q.fields else t("form.nothing"), "warn")])
        return lines

    def left(self, pressed: float) -> None:
        self.gate.typing(pressed)

    def decide(self, run: str) -> p.Answer | None:
        match run:
            case "send":
                content = self.content()
                return None if content is None else p.FormAnswer("accept", content)
            case "decline":
                return p.FormAnswer("decline")
        return self.refused()

    def refused(self) -> p.Answer:
        return p.FormAnswer("cancel")
