"""The left side of a call: its arguments as a form or as JSON, and what the schema says of a place.

Not here: the form's rows and keys (form_view), sending (screen).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import TextArea

from hel_tui.forms.checks import Flaw, check, check_value
from hel_tui.forms.node import BadJson, read_json, value_of, written
from hel_tui.forms.spec import MISSING
from hel_tui.forms.tree import Form
from hel_tui.tui.dialogs.pane import TextPane
from hel_tui.tui.safe import clean, cut, is_clean
from hel_tui.tui.screens.call.form_view import FormView
from hel_tui.tui.screens.call.rows import about_lines, flaw_text
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.pane_title import PaneTitle

Filled = tuple[Any, tuple[Flaw, ...]]
Say = Callable[[str, str], None]
"""(a sentence or empty, its style)."""


class JsonEditor(TextArea):
    """All arguments as JSON."""

    DEFAULT_CSS = """
    JsonEditor { height: 1fr; border: none; padding: 0; display: none; background: $panel; }
    JsonEditor:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(show_line_numbers=True, soft_wrap=True, compact=True)
        self.cursor_blink = False


class Arguments(Vertical):
    """What is filled in. `say` shows a sentence below both sides."""

    DEFAULT_CSS = """
    Arguments { width: 1fr; height: 1fr; }
    Arguments TextPane { height: auto; max-height: 5; padding: 0 1; }
    """

    def __init__(self, schema: Any, given: Any, say: Say) -> None:
        super().__init__(id="call-arguments")
        self.schema, self._say = schema, say
        self.title = PaneTitle(t("call.arguments"), id="call-arguments-title")
        self.form_view = FormView(Form(schema, given))
        self.editor = JsonEditor()
        self.about = TextPane()

    def compose(self) -> ComposeResult:
        yield self.title
        yield self.form_view
        yield self.editor
        yield self.about

    def begin(self) -> None:
        """The keys come here; where something is needed it is typed at once."""
        self.form_view.begin()

    def take_focus(self) -> None:
        """The keys come here."""
        (self.editor if self.is_raw else self.form_view.rows).focus()

    @property
    def is_raw(self) -> bool:
        """Whether the arguments are edited as JSON."""
        return bool(self.editor.display)

    def filled(self) -> Filled:
        """The arguments as they stand and what is wrong with them; MISSING where they are no JSON."""
        if not self.is_raw:
            self.form_view.commit()
            return check(self.form_view.form)
        value = self._from_editor()
        return value, () if value is MISSING else tuple(check_value(self.schema, value))

    def kept(self) -> dict[str, Any] | None:
        """What is to be found here the next time; None when it cannot be read."""
        self.form_view.commit()
        value = read_json(self.editor.text) if self.is_raw else value_of(self.form_view.form.root)
        return value if isinstance(value, dict) else None

    def use(self, value: Any) -> None:
        """Show these arguments in the form."""
        self.form_view.use(Form(self.schema, value))
        self._switch(raw=False)

    def show_flaws(self, flaws: tuple[Flaw, ...], sentence: str) -> None:
        """Say what is wrong: at each place of the form, and the first one for JSON; none takes it back."""
        if self.is_raw:
            if flaws:
                where = ".".join(str(step) for step in flaws[0].path)
                sentence = cut(clean(f"{where}: {flaw_text(flaws[0])}", newlines=False), 200)
        else:
            self.form_view.show_flaws(flaws)
            if flaws:
                self.form_view.go_to(flaws[0].path)
            self.form_view.rows.focus()
        self._say(sentence, "bad")

    # --------------------------------------------------------------------- JSON

    def toggle_raw(self) -> None:
        """To JSON and back; what stood there stays."""
        if self.is_raw:
            value = self._from_editor()
            if value is not MISSING:
                self.use(value)
            return
        self.form_view.commit()
        self.form_view.form.quote_unread()
        value = value_of(self.form_view.form.root)
        value = {} if value is MISSING else value
        text = written(value)
        self.editor.text = text if is_clean(text) else json.dumps(value, indent=2)
        self._say("", "")
        self._switch(raw=True)

    def _switch(self, *, raw: bool) -> None:
        self.editor.display, self.form_view.display = raw, not raw
        self.about.display = not raw
        self.title.say(fact="JSON" if raw else "")
        self.take_focus()

    def _from_editor(self) -> Any:
        """The value of the JSON that was typed; MISSING, and a word about it, where it is none."""
        value = read_json(self.editor.text.strip() or "{}")
        if isinstance(value, BadJson):
            self._say(self._bad(value), "bad")
            self.editor.move_cursor((value.line - 1, value.column - 1))
            return MISSING
        self._say("", "")
        return value

    @staticmethod
    def _bad(found: BadJson) -> str:
        return t("call.bad_json", why=found.why, line=found.line, column=found.column)

    @on(TextArea.Changed, "JsonEditor")
    def _json_typed(self) -> None:
        """While it is typed: where it is no JSON yet."""
        if self.is_raw:
            value = read_json(self.editor.text.strip() or "{}")
            self._say(self._bad(value) if isinstance(value, BadJson) else "", "muted")

    @on(FormView.Moved)
    def _tell_of_place(self) -> None:
        """What the schema says of the place under the cursor."""
        place = self.form_view.current
        self.about.show(about_lines(place.node) if place is not None else [])

    @on(FormView.Changed)
    def _form_changed(self) -> None:
        """What is mended is no longer said to be wrong."""
        self._tell_of_place()
        view = self.form_view
        if view.flaws and not view.is_typing:
            flaws = check(view.form)[1]
            view.show_flaws(flaws)
            self._say(t("call.flaws", n=len(flaws)) if flaws else "", "bad")
