"""The prompt: a text area that sends on Enter and knows a paste from a person.

Large pastes become a short stand-in; keys that arrive in a burst are a paste too, whose line breaks send
nothing. Not here: what a sent text means (slash, screens/commands).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import TextArea

from hel_tui.tui import keymap, mentions
from hel_tui.tui.history import History
from hel_tui.tui.safe import clean
from hel_tui.tui.slash import Candidate
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.completion import Completion

BURST_GAP = 0.010
"""Seconds between two keys below which no person typed them."""
BURST_SETTLES = 0.06
"""Seconds of quiet after which an Enter that ended a burst of one line is taken as meant."""
LARGE_PASTE = 8_000
"""Characters from which a paste is kept aside."""
LARGE_LINES = 40


def size_text(characters: int) -> str:
    """How large a paste is: 812 B, 12 kB, 1.0 MB."""
    if characters >= 1_000_000:
        return f"{characters / 1_000_000:.1f} MB"
    return f"{characters // 1000} kB" if characters >= 1000 else f"{characters} B"


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


class Prompt(TextArea):
    """Messages: `Sent` with the whole text; `Changed` comes from the text area."""

    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("prompt")
    DEFAULT_CSS = """
    Prompt {
        height: auto;
        min-height: 1;
        max-height: 8;
        border: none;
        padding: 0;
        background: transparent;
        &:focus { border: none; background-tint: transparent; }
    }
    """

    class Sent(Message):
        """The person sent this text; pastes are put back in. Empty: what is held is to go on."""

        def __init__(self, text: str, *, later: bool = False) -> None:
            super().__init__()
            self.text, self.later = text, later

    class Mentioned(Message):
        """A mention of a resource was completed."""

        def __init__(self, server: str, uri: str) -> None:
            super().__init__()
            self.server, self.uri = server, uri

    class FileDropped(Message):
        """Paths of images were pasted, or dropped on the terminal: they are to be attached."""

        def __init__(self, paths: list[str]) -> None:
            super().__init__()
            self.paths = paths

    class Leave(Message):
        """Ctrl+D on an empty prompt."""

    def __init__(self, history: History, completion: Completion) -> None:
        super().__init__(id="prompt", soft_wrap=True, show_line_numbers=False, compact=True)
        self.cursor_blink = False
        self.history_list = history
        self.waiting = self.held = 0
        """How much waits for the running turn, and how much of it is held."""
        self.completion = completion
        self.given = ""
        """The text as it was put there by nobody's typing: nothing of it is being completed."""
        self._pastes: dict[str, str] = {}
        self._last_key = 0.0
        self._burst_enters = 0
        self._pending_send: Timer | None = None

    # ------------------------------------------------------------- keys

    async def _on_key(self, event: events.Key) -> None:
        gap, self._last_key = event.time - self._last_key, event.time
        if gap > BURST_GAP:
            self._burst_enters = 0
        if self._pending_send is not None:
            self._pending_send.stop()
            self._pending_send = None
            self.insert("\n")
        if await self._special(event, gap):
            event.stop()
            event.prevent_default()
            return
        await super()._on_key(event)

    async def _special(self, event: events.Key, gap: float) -> bool:
        """Keys that are not text. Say whether the key is used up."""
        if event.key in keymap.keys("prompt.send"):
            self._enter(event, gap)
            return True
        if self.completion.is_open and self._in_completion(event.key):
            return True
        own = keymap.keys("prompt.leave")  # it deletes while there is text
        if event.key not in own and (run := keymap.by_key("app").get(event.key)):
            await self.run_action(f"screen.{run}")
            return True
        if event.key.startswith("alt+") and (run := keymap.by_key("prompt").get(event.key)):
            await self.run_action(run)  # terminals send the letter with it, which would be written
            return True
        return False

    def _enter(self, event: events.Key, gap: float) -> None:
        if gap <= BURST_GAP and event.key == "enter":
            self._burst_enters += 1
            if self._burst_enters == 1:
                self._pending_send = self.set_timer(BURST_SETTLES, self._settled)
            else:
                self.insert("\n")
            return
        if self.completion.is_open and self.completion.marked.resource is not None:
            self._complete()
            return
        if self.completion.is_open and self._goes_on(self.completion.marked):
            self._complete()
            if self.text.endswith((" ", "=")):
                return
        self.action_send()

    def _goes_on(self, marked: Candidate) -> bool:
        """Whether the line is not what the marked candidate makes of it: a whole word stays as it is."""
        if marked.unfinished and not self.text.endswith(" "):
            return True
        return marked.insert.strip() != self.text.strip()

    def _settled(self) -> None:
        """A burst ended in its only Enter: one line and a meant Enter."""
        self._pending_send = None
        self.action_send()

    def _in_completion(self, key: str) -> bool:
        match key:
            case "tab":
                self._complete()
            case "up":
                self.completion.move(-1)
            case "down":
                self.completion.move(1)
            case "escape":
                self.completion.offer([])
            case _:
                return False
        return True

    def _complete(self) -> None:
        marked = self.completion.marked
        if marked.resource is None:
            self.write(marked.insert)
            return
        row, column = self.cursor_location
        start = (row, column - len(mentions.typing(self.before_cursor) or "") - 1)
        self.replace(marked.insert + " ", start, (row, column), maintain_selection_offset=False)
        self.post_message(self.Mentioned(*marked.resource))

    @property
    def before_cursor(self) -> str:
        """The line with the cursor, up to it."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    # ------------------------------------------------------------- paste

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.take_paste(event.text)

    def take_paste(self, text: str) -> None:
        """Put pasted text in; a large one as a stand-in that is replaced when sent."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if (paths := mentions.pasted_files(text)) and all(map(_is_file, paths)):
            self.post_message(self.FileDropped(paths))
            return
        if len(text) >= LARGE_PASTE or text.count("\n") >= LARGE_LINES:
            name = t("prompt.pasted", size=size_text(len(text.encode("utf-8", "replace"))))
            if name in self._pastes:
                name = name[:-1] + f" #{len(self._pastes) + 1}]"
            self._pastes[name] = text
            text = name
        else:
            text = clean(text)
        self.insert(text)

    @property
    def whole(self) -> str:
        """The text with the stand-ins of pastes replaced."""
        return self._with_pastes(self.text)

    @property
    def own(self) -> str:
        """What the person is writing, whole: an older message that is only looked at is none of it."""
        return self._with_pastes(self.history_list.own(self.text))

    def _with_pastes(self, text: str) -> str:
        if not self._pastes:
            return text
        names = "|".join(re.escape(name) for name in sorted(self._pastes, key=len, reverse=True))
        return re.sub(names, lambda match: self._pastes[match[0]], text)

    # ----------------------------------------------------------- actions

    def write(self, text: str) -> None:
        """Replace the whole text and put the cursor at its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Put text before what is written."""
        self.given = f"{text}\n{self.text}" if self.text else text
        self.write(self.given)

    def action_send(self, later: bool = False) -> None:
        shown, whole = self.text.strip(), self.whole.strip()
        if not whole:
            if self.held and not later:
                self.post_message(self.Sent(""))
            return
        self.history_list.add(shown if not self._pastes else whole)
        self._pastes.clear()
        self._burst_enters = 0
        self.completion.offer([])
        self.post_message(self.Sent(whole, later=later))  # before the prompt says that it is empty
        self.text = ""

    def action_newline(self) -> None:
        self.insert("\n")

    async def action_older(self) -> None:
        if not self.cursor_at_first_line:
            self.action_cursor_up()
        elif self.waiting and not self.text:
            await self.action_unqueue()
        elif (text := self.history_list.older(self.text)) is not None:
            self.write(text)

    def action_newer(self) -> None:
        if not self.cursor_at_last_line:
            self.action_cursor_down()
        elif (text := self.history_list.newer()) is not None:
            self.write(text)

    def action_leave(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.Leave())

    async def action_unqueue(self) -> None:
        await self.run_action("screen.unqueue")

    async def action_paste_all(self) -> None:
        await self.run_action("screen.paste_clipboard")

    async def action_detach(self) -> None:
        await self.run_action("screen.detach")

    def action_clear(self) -> None:
        """Empty it; the key for older messages brings it back."""
        if self.text.strip():
            self.history_list.add(self.whole.strip())
        self._pastes.clear()
        self.completion.offer([])
        self.write("")

    async def action_editor(self) -> None:
        await self.run_action("screen.editor")
