"""Tool calls put together from the fragments of a stream, in whatever way a server numbers them.

The rule: a known id means that call, unless a new index comes with a name (then ids are made unique at
the end); a new id means a new call, even under a used index; without an id
the index decides where it makes sense, else the fragment belongs to the current call. Id and name are
set once. Not here: what a call may do, and whether its arguments fit a schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.vocabulary import Json, ToolCall


@dataclass(slots=True)
class Draft:
    """A call that is still arriving."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: Json = field(default_factory=dict)
    indexed: bool = False

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class CallPieces:
    """Takes the `tool_calls` fragments of deltas in order."""

    def __init__(self) -> None:
        self._drafts: list[Draft] = []
        self._by_id: dict[str, Draft] = {}
        self._by_index: dict[int, Draft] = {}
        self._current: Draft | None = None
        self.size = 0
        """Characters of all names and arguments so far, repeated ones too."""

    def __len__(self) -> int:
        return len(self._drafts)

    def take(self, fragment: Json) -> str | None:
        """Add a fragment; the name of a call that just got its name, else None."""
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        id, index, name = fragment.get("id"), fragment.get("index"), function.get("name")
        id = id if isinstance(id, str) else str(id) if isinstance(id, int) else ""
        name = name if isinstance(name, str) else ""
        arguments = function.get("arguments")
        draft = self._draft(id, index if isinstance(index, int) else None, name, arguments)
        self._current = draft
        if isinstance(index, int):
            self._by_index[index] = draft
            draft.indexed = True
        if id and not draft.id:
            draft.id = id
            self._by_id[id] = draft
        if isinstance(extra := fragment.get("extra_content"), dict):
            draft.extra = extra | draft.extra  # what came first stays: later fragments may repeat it
        self.size += _add(draft, arguments) + len(name)
        if name and not draft.name:
            draft.name = name
            return name
        return None

    def _draft(self, id: str, index: int | None, name: str, arguments: Any) -> Draft:
        if id:
            known = self._by_id.get(id)
            if known is None:
                return self._new()
            numbered = self._by_index.get(index) if index is not None else None
            if numbered is not None:
                return numbered if numbered.id == id else known
            return self._new() if index is not None and name and known.indexed else known
        mapped = self._by_index.get(index) if index is not None else None
        if mapped is not None:
            if name:
                return self._new() if _starts_anew(mapped, name, arguments) else mapped
            if mapped is not self._current and _is_object(mapped.arguments):
                return self._current or mapped  # a server that numbers all later fragments 0
            return mapped
        current = self._current
        if current is None:
            return self._new()
        if not name:
            return current
        if index is not None:
            unfinished = bool(current.pieces) and not _is_object(current.arguments)
            return current if unfinished and name == current.name else self._new()
        return self._new() if _starts_anew(current, name, arguments) else current

    def _new(self) -> Draft:
        draft = Draft()
        self._drafts.append(draft)
        return draft

    def shorten(self, calls: int, most: int) -> None:
        """Keep the first so many calls, and cut arguments with more characters than `most`: such a call is no
        whole one any more.
        """
        del self._drafts[calls:]
        for draft in self._drafts:
            if sum(map(len, draft.pieces)) > most:
                draft.pieces[:] = [draft.arguments[:most]]

    def finish(
        self, new_id: Callable[[], str], *, cut: bool, ended: bool
    ) -> tuple[list[ToolCall], list[Json], list[str]]:
        """The calls, what each must send back besides, and the names of calls that were cut off.

        With `cut` (output limit, or no finish reason) a call whose arguments are not a whole JSON object
        is not a call; otherwise it is kept as it came, for the model to be told. Arguments that never
        came are none if the stream `ended` in order, and cut off if not.
        """
        calls: list[ToolCall] = []
        extras: list[Json] = []
        lost: list[str] = []
        given = {draft.id for draft in self._drafts}
        used: set[str] = set()
        for draft in self._drafts:
            arguments = settled(draft.arguments)
            whole = _is_object(arguments) if draft.pieces else ended
            if not draft.name or (cut and not whole):
                lost.append(draft.name or "a call without a name")
                continue
            id = draft.id
            if not id or id in used:
                id = next(fresh for fresh in iter(new_id, None) if fresh not in given)
            used.add(id)
            calls.append(ToolCall(id, draft.name, arguments))
            extras.append(draft.extra)
        return calls, extras, lost


def _add(draft: Draft, arguments: Any) -> int:
    """Add a piece of the arguments, or put them whole; return how many characters came."""
    if isinstance(arguments, dict):
        draft.pieces[:] = [json.dumps(arguments, ensure_ascii=False)]
        return len(draft.pieces[0])
    if isinstance(arguments, str) and arguments:
        draft.pieces.append(arguments)
        return len(arguments)
    return 0


def _starts_anew(draft: Draft, name: str, arguments: Any) -> bool:
    """Whether a named fragment without an id begins another call rather than repeating the name."""
    if draft.name and name != draft.name:
        return True
    begins = isinstance(arguments, dict) or (
        isinstance(arguments, str) and arguments.lstrip().startswith("{")
    )
    return begins and _is_object(draft.arguments)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def settled(text: str) -> str:
    """Arguments as they go to the history: "{}" for none, one object where a server wrapped or led it.

    Some servers send the object as a JSON string of JSON; some send "{}" first and the object after.
    """
    stripped = text.strip()
    if stripped in ("", "null", '""'):
        return "{}"
    if stripped.startswith('"'):
        try:
            inner = json.loads(stripped)
        except ValueError:
            return text
        return inner if isinstance(inner, str) and _is_object(inner) else text
    if stripped.startswith("{}") and _is_object(stripped[2:]):
        return stripped[2:].strip()
    return text
