"""`write_file` and `search_replace`: changes of text files, exact to the byte, all or nothing.

Both can show their change as a diff first. Not here: permission to make it.
"""

from __future__ import annotations

import difflib
import itertools
from dataclasses import dataclass
from typing import ClassVar

from hel_tui.core.counts import counted
from hel_tui.core.threads import in_thread
from hel_tui.core.tools.builtin import FileTool, refused
from hel_tui.core.tools.checking import check
from hel_tui.core.tools.checkpoints.keeper import Checkpoints
from hel_tui.core.tools.opening import Stamp, read_whole, replace_file, size_of
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace
from hel_tui.core.vocabulary import Access, Json, Outcome, ToolDefinition

MAX_EDITED = 10_000_000
"""Bytes of a file that is edited or compared."""
MAX_DIFF = 200_000
"""Characters of a diff; also of a text that is compared line by line."""
_LISTED = 5
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Unseen:
    """A file that is there but cannot be shown: its size in bytes, and why not."""

    size: int
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a call would do: the text before (None for a new file, `Unseen` for one that cannot be shown)
    and after, and the bytes to write.
    """

    place: ResolvedPath
    before: str | Unseen | None
    after: str
    data: bytes
    expected: Stamp | None


class EditTool(FileTool):
    """A tool that turns a file into another one."""

    access: ClassVar[Access] = "write"

    def __init__(self, workspace: Workspace, checkpoints: Checkpoints | None = None) -> None:
        """`checkpoints` keep what a file was before it is changed."""
        super().__init__(workspace)
        self._checkpoints = checkpoints

    async def preview(self, arguments: Json) -> str:
        """The change as a unified diff; empty when there is none to make."""
        checked = check(self.raw, self.definition.parameters, arguments)
        if isinstance(checked, str):
            return ""
        return await in_thread(lambda: self._preview(checked))

    def _preview(self, arguments: Json) -> str:
        change = self.plan(arguments)
        return "" if isinstance(change, Refusal) else diff_of(change)

    async def obstacle(self, arguments: Json) -> str:
        """Why the change could not be made, or would be none; empty when it can."""
        checked = check(self.raw, self.definition.parameters, arguments)
        if isinstance(checked, str):
            return checked
        return await in_thread(lambda: self._obstacle(checked))

    def _obstacle(self, arguments: Json) -> str:
        change = self.plan(arguments)
        if isinstance(change, Refusal):
            return change.sentence
        return f"{change.place.shown} has this text already." if change.before == change.after else ""

    def work(self, arguments: Json) -> Outcome:
        """Plan the change and make it."""
        change = self.plan(arguments)
        if isinstance(change, Refusal):
            return refused(change)
        if self._checkpoints is not None:
            self._checkpoints.before_edit(change.place, change.data, self.raw)
        if problem := replace_file(change.place, change.data, change.expected):
            return refused(problem)
        return Outcome(self.done(change))

    def plan(self, arguments: Json) -> Change | Refusal:
        """What the call would do, without doing it."""
        raise NotImplementedError

    def done(self, change: Change) -> str:
        """The result's text."""
        raise NotImplementedError


class WriteFile(EditTool):
    """Write a whole file."""

    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "write_file",
        "Write a whole text file (UTF-8), new or in place of the old one. Its folder must exist. "
        "For a change in a file that is there, prefer search_replace.",
        {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    )

    def plan(self, arguments: Json) -> Change | Refusal:
        """The given content, exactly."""
        place = self.workspace.resolve(arguments["path"], for_write=True)
        if isinstance(place, Refusal):
            return place
        data = _encoded(arguments["content"], "content")
        if isinstance(data, Refusal):
            return data
        if not place.path.parent.is_dir():
            return Refusal(f"{place.shown} was not written: its folder does not exist.")
        before = _text_there(self.workspace, place)
        if isinstance(before, Refusal):
            return before
        return Change(place, before, arguments["content"], data, None)

    def done(self, change: Change) -> str:
        """Bytes written."""
        over = " (new file)" if change.before is None else ""
        if isinstance(change.before, Unseen):
            over = f" in place of {change.before.size:,} bytes"
        return f"Wrote {len(change.data):,} bytes to {change.place.shown}{over}."


class SearchReplace(EditTool):
    """Replace the one occurrence of a text in a file."""

    definition: ClassVar[ToolDefinition] = ToolDefinition(
        "search_replace",
        "Replace a passage of a text file. `search` must occur exactly once, to the character: "
        "read the file first and give enough lines around the change.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "search": {"type": "string"},
                "replace": {"type": "string"},
            },
            "required": ["path", "search", "replace"],
        },
    )

    def plan(self, arguments: Json) -> Change | Refusal:
        """The file with the one passage replaced; line ends of a CRLF file stay CRLF."""
        search, replacement = arguments["search"], arguments["replace"]
        if not search:
            return Refusal("`search` is empty. Nothing was changed.")
        place = self.workspace.resolve(arguments["path"], for_write=True)
        if isinstance(place, Refusal):
            return place
        content = read_whole(self.workspace, place, MAX_EDITED)
        if isinstance(content, Refusal):
            return content
        try:
            text = content.data.decode("utf-8")
        except UnicodeDecodeError:
            return Refusal(f"{place.shown} is not valid UTF-8. Nothing was changed.")
        if _is_crlf(text):
            search, replacement = _with_crlf(search), _with_crlf(replacement)
        if search == replacement:
            return Refusal("`search` and `replace` are the same. Nothing was changed.")
        found = positions(text, search)
        if len(found) != 1:
            return Refusal(_not_once(text, search, found, place))
        after = text[: found[0]] + replacement + text[found[0] + len(search) :]
        data = _encoded(after, "replace")
        return data if isinstance(data, Refusal) else Change(place, text, after, data, content.stamp)

    def done(self, change: Change) -> str:
        """Where the change was made."""
        before = change.before if isinstance(change.before, str) else ""
        common = 0
        for old, new in zip(before.split("\n"), change.after.split("\n"), strict=False):
            if old != new:
                break
            common += 1
        return f"Replaced one passage in {change.place.shown}, line {common + 1:,}."


def positions(text: str, search: str) -> list[int]:
    """Where `search` begins in `text`, overlapping occurrences included."""
    found = []
    at = text.find(search)
    while at >= 0:
        found.append(at)
        at = text.find(search, at + 1)
    return found


def diff_of(change: Change) -> str:
    """The change as a unified diff of bounded size; for texts too large, what is known of it."""
    if isinstance(change.before, Unseen):
        gone = f"[{change.before.size:,} bytes that cannot be shown: {change.before.why}]\n"
        return _coarse_diff(change, gone)
    before = change.before or ""
    if before == change.after:
        return ""
    if len(before) + len(change.after) > MAX_DIFF:
        return _coarse_diff(change, before)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        change.after.splitlines(keepends=True),
        "/dev/null" if change.before is None else f"a/{change.place.shown}",
        f"b/{change.place.shown}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in lines)


def _coarse_diff(change: Change, before: str) -> str:
    """One hunk from the first to the last differing line, cut to size."""
    old, new = before.splitlines(), change.after.splitlines()
    head = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = min(len(old), len(new)) - head
    pairs = zip(reversed(old), reversed(new), strict=False)
    tail = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], itertools.islice(pairs, rest)))
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    title = f"--- a/{change.place.shown}\n+++ b/{change.place.shown}\n"
    if change.before is None:
        title = f"--- /dev/null\n+++ b/{change.place.shown}\n"
    start = head + 1
    body = f"@@ -{start},{len(gone)} +{start},{len(come)} @@\n"
    body += "".join(f"-{line}\n" for line in gone) + "".join(f"+{line}\n" for line in come)
    if len(body) > MAX_DIFF:
        body = body[:MAX_DIFF] + f"\n… cut: {counted(len(gone), 'line')} out, {len(come):,} in\n"
    return title + body


def _text_there(workspace: Workspace, place: ResolvedPath) -> str | Unseen | Refusal | None:
    """What a write would replace; None only where there is nothing yet."""
    size = size_of(place)
    if size is None or isinstance(size, Refusal):
        return size
    content = read_whole(workspace, place, MAX_EDITED)
    if isinstance(content, Refusal):
        return Unseen(size, "too large" if size > MAX_EDITED else "it cannot be read")
    try:
        return content.data.decode("utf-8")
    except UnicodeDecodeError:
        return Unseen(size, "not UTF-8 text")


def _encoded(text: str, name: str) -> bytes | Refusal:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Refusal(f"`{name}` holds a lone surrogate at {error.start:,}; it cannot be written as UTF-8.")


def _is_crlf(text: str) -> bool:
    """Whether every line of `text` that ends, ends in CRLF."""
    breaks = text.count("\r\n")
    return breaks > 0 and breaks == text.count("\n")


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _not_once(text: str, search: str, found: list[int], place: ResolvedPath) -> str:
    if found:
        lines = ", ".join(f"{text.count(chr(10), 0, at) + 1:,}" for at in found[:_LISTED])
        more = ", …" if len(found) > _LISTED else ""
        return (
            f"`search` occurs {len(found):,} times in {place.shown} (lines {lines}{more}); "
            "it must occur once. Give more of the text around it. Nothing was changed."
        )
    sentence = f"`search` does not occur in {place.shown} (0 times); it must occur once."
    if line := _near(text, search):
        sentence += f" Line {line:,} begins a passage that differs in spaces only."
    return sentence + " Read the file again. Nothing was changed."


def _near(text: str, search: str) -> int:
    """The line where `search` would occur if spaces did not count; 0 for none."""
    wanted = [" ".join(line.split()) for line in search.strip().splitlines()]
    lines = [" ".join(line.split()) for line in text.splitlines()]
    if not any(wanted):
        return 0
    for at in range(len(lines) - len(wanted) + 1):
        if lines[at : at + len(wanted)] == wanted:
            return at + 1
    return 0
