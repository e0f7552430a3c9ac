"""The cards of calls: what a screen is told of each, and the details it may ask for later.

Not here: deciding and running (approval, calls).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from hel_tui.core.agent.arguments import parse_arguments, shown
from hel_tui.core.agent.gates import Checked, Record
from hel_tui.core.protocol import CallChanged, CallDetail, CallProgress, CallStarted, CallState, Event
from hel_tui.core.store.redact import head
from hel_tui.core.vocabulary import Image, Json, Outcome, ProgressFn, Tool, ToolCall

MAX_SUMMARY = 200
MAX_PREVIEW = 400
MAX_KEPT_RESULT = 2_000_000
"""Characters of a whole result kept in memory for its card; beyond, the card shows what the model got."""
MAX_KEPT = 64_000_000
"""Characters of results, arguments and diffs kept for all cards; beyond, the oldest are let go."""
MAX_OLD_ARGUMENTS = 2_000
"""Characters of arguments that stay of a card whose result was let go."""
IMAGES = (".png", ".jpg", ".gif", ".webp", ".svg")
"""Extensions that saved images have."""
CUT = "(The rest is no longer in memory.)"
GONE = "(This result is no longer in memory. The session's record has what the model got.)"


def recorded(images: Sequence[Image]) -> dict[str, Any]:
    """Images as a record keeps them: where each is and how large; nothing when there are none."""
    facts = [
        {"image": image.label, "bytes": len(image.data), "path": str(image.path or "")} for image in images
    ]
    return {"images": facts} if facts else {}


@dataclass(slots=True)
class Card:
    """One call on its way."""

    call: ToolCall
    tool: Tool | None
    detail: CallDetail
    checked: Checked | None
    """None when the tool is unknown or the arguments cannot be read."""
    by_hand: bool = False
    beside: bool = False
    """It belongs to no turn: neither stops the other."""
    trusted: bool = False
    """The person typed it as such: that was the approval."""
    seen: bool = False
    """The person filled in its arguments in a form and sent them: that answers what the level would ask."""
    state: CallState = "queued"
    began: float = 0.0
    """time.monotonic() when it began to run; 0 before."""
    converted: tuple[str, ...] = ()
    """What was made of the model's own arguments, as sentences for the person."""
    remarks: list[str] = field(default_factory=list)
    """Sentences for the model, put behind the result."""
    loaded: bool = True
    """Its tool was on offer in the request: else the call says nothing of what the conversation uses."""
    outcome: Outcome | None = None
    """What came of it; None before its end."""

    @property
    def id(self) -> str:
        """Unique in the session; the call's own id is only as unique as its provider made it."""
        return self.detail.call_id


class CardKeeper(Protocol):
    """Whoever writes down what is known of calls; told before a screen is, and before a call runs."""

    def call(self, detail: CallDetail, call: ToolCall, tool: Tool | None, text: str) -> None:
        """All about a call now; `text` is its result as the model gets it, empty before there is one."""


class Unkept:
    """Nobody writes calls down."""

    def call(self, detail: CallDetail, call: ToolCall, tool: Tool | None, text: str) -> None: ...


class Earlier(Protocol):
    """The calls of a session from before it was opened again."""

    def __contains__(self, call_id: object) -> bool: ...

    def detail(self, call_id: str) -> CallDetail | None:
        """Everything about one of them; safe from any thread."""


class Ledger:
    """Cards of one session."""

    def __init__(
        self,
        emit: Callable[[Event], None],
        record: Record,
        mask: Callable[[str], str] = str,
        keeper: CardKeeper | None = None,
        prefix: str = "",
    ) -> None:
        """`mask` takes secrets out of what is told while a call runs; ids of calls begin with `prefix`."""
        self._prefix = prefix
        self._emit = emit
        self._keeper: CardKeeper = keeper or Unkept()
        self._earlier: Earlier | None = None
        self._mask = mask
        self._record = record
        self._details: dict[str, CallDetail] = {}
        self._by_hand: set[str] = set()
        """Ids of the calls that the person made and that began to run."""
        self._sizes: dict[str, int] = {}
        """Characters of each call that is kept, oldest first."""
        self._numbers: dict[str, int] = {}
        """The number that an id has next which was there before."""
        self._kept = 0
        """All of them together."""

    def clear(self) -> None:
        """A new session begins: nobody asks for the cards of the last one any more."""
        self._earlier = None
        self._details.clear()
        self._by_hand.clear()
        self._sizes.clear()
        self._numbers.clear()
        self._kept = 0

    def detail(self, call_id: str) -> CallDetail | None:
        """Everything about a call; safe from any thread."""
        found, earlier = self._details.get(call_id), self._earlier
        if found is None and earlier is not None:
            return earlier.detail(call_id)
        return found

    def go_on(self, earlier: Earlier) -> None:
        """A kept session is open: these are its calls so far."""
        self._earlier = earlier

    def by_hand(self, server: str) -> tuple[CallDetail, ...]:
        """The calls of this server's tools that the person made and that ran to an end, oldest first."""
        return tuple(
            detail
            for call_id, detail in tuple(self._details.items())
            if call_id in self._by_hand and detail.server == server and detail.state in ("ok", "failed")
        )

    def open(
        self,
        turn: int,
        call: ToolCall,
        tool: Tool | None,
        *,
        by_hand: bool = False,
        loaded: bool = True,
        restored: Callable[[Json], tuple[Json, tuple[str, ...]]] = lambda arguments: (arguments, ()),
    ) -> Card:
        """A card for a call that appeared, announced to the screen. `restored` gives the arguments as the
        tool wants them, and says what it converted: these are shown, approved and sent. `loaded`: the tool
        was on offer.
        """
        call_id = self._fresh(self._prefix + call.id)
        arguments = parse_arguments(call.arguments)
        checked = None
        summary, pretty = call.arguments, call.arguments
        converted: tuple[str, ...] = ()
        if isinstance(arguments, dict):
            if tool is not None:
                arguments, converted = restored(arguments)
            pretty = shown(arguments)
            if tool is not None:
                checked = Checked(call_id, call.name, tool, arguments)
                summary = tool.summary(arguments)
        server, raw = (tool.server, tool.raw) if tool is not None else ("", call.name)
        detail = CallDetail(
            call_id,
            server,
            raw,
            arguments=pretty,
            result="",
            state="queued",
            warnings=converted,
            shared=not by_hand,
        )
        self._details[call_id] = detail
        self._keeper.call(detail, call, tool if loaded else None, "")
        summary = " ".join(summary.split())[:MAX_SUMMARY]
        limit = tool.limit if tool is not None else 0.0
        self._emit(CallStarted(turn, call_id, server, raw, summary, by_hand=by_hand, limit=limit))
        return Card(call, tool, detail, checked, by_hand=by_hand, converted=converted, loaded=loaded)

    def state(self, card: Card, state: CallState) -> None:
        """The call waits for the person, or runs."""
        card.state = state
        runs = state == "running"
        detail = replace(card.detail, state=state)
        if runs and card.checked is not None:  # the person may have changed them
            detail = replace(detail, arguments=shown(card.checked.arguments))
        if runs:
            card.began = time.monotonic()
            if card.by_hand:
                self._by_hand.add(card.id)
            if detail.arguments != card.detail.arguments:
                self._keeper.call(detail, card.call, card.tool, "")
        self._keep(card, detail)
        self._emit(CallChanged(card.id, state, at=time.time() if runs else 0.0))

    def diff(self, card: Card, diff: str) -> None:
        """What the call changes, for its card."""
        if diff != card.detail.diff:
            self._keep(card, replace(card.detail, diff=diff))

    def shared(self, call_id: str) -> None:
        """The model has the result too, or will have it with the next message."""
        detail = self._details.get(call_id)
        if detail is not None:
            self._details[call_id] = replace(detail, shared=True)

    def progress(self, card: Card) -> ProgressFn:
        """A function a running tool reports its progress to."""
        call_id = card.id
        return lambda progress, total, message: self._emit(
            CallProgress(call_id, progress, total, head(message, MAX_SUMMARY, self._mask))
        )

    def finish(self, card: Card, outcome: Outcome) -> None:
        """The call ended, in the state the card says."""
        card.outcome = outcome
        seconds = time.monotonic() - card.began if card.began else 0.0
        text = outcome.text if outcome.full is None or len(outcome.full) > MAX_KEPT_RESULT else outcome.full
        detail = replace(
            card.detail,
            result=text,
            state=card.state,
            saved=tuple(str(path) for path in outcome.saved),
            images=tuple(str(path) for path in outcome.saved if path.suffix in IMAGES),
            warnings=(*card.converted, *outcome.warnings),
            raw=outcome.raw,
        )
        if card.checked is not None:
            detail = replace(detail, arguments=shown(card.checked.arguments))
        self._keep(card, detail)
        self._keeper.call(card.detail, card.call, card.tool if card.loaded else None, outcome.text)
        self._let_go(card.id, len(text) + len(outcome.raw) + len(detail.arguments) + len(detail.diff))
        self._record.write(
            "result",
            id=card.id,
            name=card.call.name,
            state=card.state,
            seconds=round(seconds, 4),
            text=outcome.text,
            **recorded(outcome.images),
            **({"warnings": detail.warnings} if detail.warnings else {}),
        )
        preview, lines = text[:MAX_PREVIEW], text.rstrip("\n").count("\n") + 1
        ended = time.time()
        self._emit(CallChanged(card.id, card.state, seconds, preview=preview, lines=lines, at=ended))

    def _fresh(self, call_id: str) -> str:
        """`call_id`, with a number behind it if the session has it: some providers begin anew each time."""
        if not self._has(call_id):
            return call_id
        number = self._numbers.get(call_id, 2)
        while self._has(name := f"{call_id}~{number}"):
            number += 1
        self._numbers[call_id] = number + 1
        return name

    def _has(self, call_id: str) -> bool:
        return call_id in self._details or (self._earlier is not None and call_id in self._earlier)

    def _let_go(self, newest: str, size: int) -> None:
        """Count a call in, and drop what the oldest hold while there are too many characters of them."""
        self._kept += size - self._sizes.get(newest, 0)
        self._sizes[newest] = size
        while self._kept > MAX_KEPT and len(self._sizes) > 1:
            oldest = next(iter(self._sizes))
            self._kept -= self._sizes.pop(oldest)
            detail = replace(self._details[oldest], result=GONE, raw="", diff="")
            if len(detail.arguments) > MAX_OLD_ARGUMENTS and oldest not in self._by_hand:
                detail = replace(detail, arguments=f"{detail.arguments[:MAX_OLD_ARGUMENTS]}\n{CUT}")
            self._details[oldest] = detail

    def _keep(self, card: Card, detail: CallDetail) -> None:
        if (known := self._details.get(card.id)) is not None and known.shared:
            detail = replace(detail, shared=True)
        card.detail = detail
        self._details[card.id] = detail
