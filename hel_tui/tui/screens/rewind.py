"""The sheet of turns to go back to: conversation, files, or both.

Not here: going back (core), the question before something is overwritten (dialogs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hel_tui.core import protocol as p
from hel_tui.tui import keymap
from hel_tui.tui.dialogs.pane import FRAME, one_line
from hel_tui.tui.safe import ForeignText, clean
from hel_tui.tui.screens.picker import Picker, PickerList
from hel_tui.tui.state import Item, UserItem
from hel_tui.tui.strings import t
from hel_tui.tui.widgets.lines import Line, Part, pad, spread
from hel_tui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from hel_tui.tui.app import HelApp

MOST_FILES = 6
"""Files that are named below the list."""
_SIGNS = {"made": "+", "changed": "~", "removed": "-"}


def turns_of(items: Sequence[Item], rows: Sequence[p.CheckpointRow]) -> dict[int, str]:
    """What the person said by turn, the newest first; also turns that only changed files."""
    said = {
        int(item.key.removeprefix("user-")): item.text
        for item in items
        if isinstance(item, UserItem) and item.key.startswith("user-")  # not what joined a running turn
    }
    for row in rows:
        said.setdefault(row.turn, "")
    return dict(sorted(said.items(), reverse=True))


class RewindList(PickerList):
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("rewind")

    def action_files(self) -> None:
        self.post_message(self.Wish("files"))

    def action_conversation(self) -> None:
        self.post_message(self.Wish("conversation"))


class RewindScreen(Picker):
    """Enter goes back with both, `f` with the files only, `c` with the conversation only."""

    parts = ("rewind", "picker", "list")
    foot = (
        ("list.open", "short.rewind.both"),
        ("rewind.files", "short.rewind.files"),
        ("rewind.conversation", "short.rewind.conversation"),
        ("picker.filter", "short.picker.filter"),
        ("picker.close", "short.picker.close"),
    )

    def __init__(self, hel: HelApp) -> None:
        super().__init__(t("rewind.title"), RewindList())
        self.hel = hel
        self.files = {row.turn: row for row in hel.core.checkpoints()}
        self.turns = turns_of(hel.bridge.state.items, tuple(self.files.values()))

    def rows(self) -> list[Row]:
        return [
            Row(str(turn), ())
            for turn, text in self.turns.items()
            if not self.filter or self.filter in text.casefold() or self.filter == str(turn)
        ]

    def line(self, key: str, width: int) -> Line:
        turn = int(key)
        text = clean(self.turns.get(turn, ""), newlines=False)
        row = self.files.get(turn)
        right: list[Part] = [(f" {t('rewind.files', n=row.count)} ", "accent")] if row is not None else []
        left: list[Part] = [(f" {pad(str(turn), 5)}", "muted"), (text or t("rewind.turn", turn=turn), "")]
        return spread(left, right, width)

    def empty(self) -> str:
        return t("rewind.nothing_found" if self.filter else "rewind.none")

    def details(self, key: str) -> list[Line]:
        """The files that would come back: of this turn and all behind it."""
        changed: dict[str, p.FileChange] = {}
        count = 0
        for turn, row in sorted(self.files.items()):
            if turn >= int(key):
                count += row.count - len(row.files)
                for file in row.files:
                    changed.setdefault(file.path, file.change)
        if not changed:
            return [[(t("rewind.fork"), "muted")], [(t("rewind.no_files"), "muted")]]
        lines: list[Line] = [[(t("rewind.fork"), "muted")], [(t("rewind.changed"), "muted")]]
        for path, change in list(changed.items())[:MOST_FILES]:
            word = t(f"rewind.{change}") if change != "changed" else ""
            name = one_line(ForeignText(path))
            lines.append([(f"{FRAME}{_SIGNS[change]} ", "frame"), (name, ""), (f"  {word}", "muted")])
        if (more := len(changed) - MOST_FILES + count) > 0:
            lines.append([(FRAME, "frame"), (t("rewind.more", n=more), "muted")])
        return lines

    def pick(self, key: str) -> None:
        self._go(int(key), conversation=True, files=True)

    def do(self, what: str) -> None:
        key = self.list.current
        match what:
            case "files" if key:
                self._go(int(key), conversation=False, files=True)
            case "conversation" if key:
                self._go(int(key), conversation=True, files=False)
            case "files" | "conversation":
                pass
            case _:
                super().do(what)

    def _go(self, turn: int, *, conversation: bool, files: bool) -> None:
        if self.hel.bridge.state.busy:
            self.hel.say(t("rewind.busy"), "warning")
            return
        if conversation:
            self.hel.main.going_back.wanted = turn, self.turns.get(turn, "")
        self.hel.send(p.Rewind(turn, conversation=conversation, files=files))
        self.dismiss("")
