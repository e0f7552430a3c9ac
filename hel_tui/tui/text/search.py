"""Finding text in the transcript: where it stands, row by row.

Only items whose source can hold the text are laid out. Not here: moving there and highlighting (the widget).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from hel_tui.core.values import dataclass
from hel_tui.tui.state import (
    AnswerItem,
    CallItem,
    CompactionItem,
    Item,
    NoticeItem,
    ServerItem,
    UserItem,
)
from hel_tui.tui.text.compaction import parts as shortened_by
from hel_tui.tui.text.lines import Line
from hel_tui.tui.text.transcript import Transcript

MOST = 10_000
"""Matches beyond which searching stops."""
_MARKUP = re.compile(r"[\s*_`~\\|>#-]+")


@dataclass(frozen=True, slots=True)
class Match:
    """One place: the item's index, and the pieces (row in the item, from, to) in characters."""

    index: int
    pieces: tuple[tuple[int, int, int], ...]


def _source(item: Item) -> str:
    match item:
        case CallItem():
            return f"{item.server} {item.tool} {item.summary} {item.preview} {item.message}"
        case UserItem():
            return " ".join([item.text, *(text for _role, text in item.messages)])
        case ServerItem():
            return f"{item.server} {item.text}"
        case CompactionItem():
            return " ".join([*shortened_by(item), item.problem])
        case AnswerItem() | NoticeItem():
            return item.text


def in_rows(pattern: re.Pattern[str], rows: Sequence[Line]) -> list[tuple[tuple[int, int, int], ...]]:
    """Matches of `pattern` in the text of `rows` as it reads, also across wrapped rows."""
    starts: list[int] = []
    parts: list[str] = []
    size = 0
    for row in rows:
        starts.append(size)
        piece = row.copied + row.join
        parts.append(piece)
        size += len(piece)
    found: list[tuple[tuple[int, int, int], ...]] = []
    for match in pattern.finditer("".join(parts)):
        pieces: list[tuple[int, int, int]] = []
        number = bisect_right(starts, match.start()) - 1
        while number < len(rows) and starts[number] < match.end():
            row = rows[number]
            begin = max(match.start() - starts[number], 0) + row.gutter
            end = min(match.end() - starts[number] + row.gutter, len(row.text))
            if begin < end:
                pieces.append((number, begin, end))
            number += 1
        if pieces:
            found.append(tuple(pieces))
    return found


def find(transcript: Transcript, text: str) -> list[Match]:
    """All places of `text`, in any case, from the top; at most MOST."""
    if not text.strip():
        return []
    pattern = re.compile(re.escape(text), re.IGNORECASE)
    needle = re.compile(re.escape(_MARKUP.sub("", text)), re.IGNORECASE)
    found: list[Match] = []
    for index, entry in enumerate(transcript.entries):
        if not entry.expanded and not needle.search(_MARKUP.sub("", _source(entry.item))):
            continue
        found += [Match(index, pieces) for pieces in in_rows(pattern, transcript.lines(index))]
        if len(found) >= MOST:
            return found[:MOST]
    return found


class Search:
    """A search that is on: its matches and the one it stands at."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._text = ""
        self._rows: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.matches: list[Match] = []
        self.at = -1
        """The number of the match it stands at, -1 for none."""
        self.stale = False
        """Rows may have changed since: nothing is highlighted until the search is renewed."""

    def look(self, text: str) -> int:
        """Search for `text`; return the number of matches."""
        self._text = text
        self.at = -1
        self.renew()
        return len(self.matches)

    def renew(self) -> None:
        """Search again in what is there now, standing where it stood."""
        self.matches = find(self._transcript, self._text)
        self.at = min(self.at, len(self.matches) - 1)
        self.stale = False
        self._rows = {}
        for number, match in enumerate(self.matches):
            for row, start, end in match.pieces:
                self._rows.setdefault((match.index, row), []).append((start, end, number))

    def last_before(self, index: int) -> int:
        """The number of the last match in an item not after `index`; the first of all if there is none."""
        before = [number for number, match in enumerate(self.matches) if match.index <= index]
        return before[-1] if before else 0

    def go(self, number: int) -> Match:
        """Stand at a match and return it."""
        self.at = number
        return self.matches[number]

    def in_row(self, index: int, row: int) -> list[tuple[int, int, bool]]:
        """(from, to, whether it is the one stood at) of the matches in a row."""
        if self.stale or not self._rows:
            return []
        found = self._rows.get((index, row), ())
        return [(start, end, number == self.at) for start, end, number in found]
