"""One answer as it arrives: passed on to the screen piece by piece, kept whole for the history.

Not here: what comes after it (turn), how it is drawn (a screen).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.core.context.meter import cost_of
from hel_tui.core.models.types import (
    CallPart,
    Finish,
    ModelFault,
    Part,
    ReasoningPart,
    RetryPart,
    TextPart,
)
from hel_tui.core.protocol import Event, ReasoningDelta, Retrying, TextDelta, TextDone
from hel_tui.core.vocabulary import AssistantMessage


def made(message: AssistantMessage) -> int:
    """Estimated tokens that the model made for this message."""
    cost = cost_of(message)
    return cost.text + cost.reasoning


class Underway:
    """What came of an answer so far, and whether its request costs something if no more comes."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._thoughts: list[str] = []
        self._begun = False
        """Something came."""
        self._waits = False
        """A try failed, and the next one is not made yet."""

    @property
    def begun(self) -> bool:
        """Whether anything of an answer came."""
        return self._begun

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def take(self, part: Part) -> None:
        """The next part of the stream."""
        match part:
            case TextPart(text):
                self._pieces.append(text)
            case ReasoningPart(text):
                self._thoughts.append(text)
            case _:
                pass
        self._waits = isinstance(part, RetryPart)
        self._begun = self._begun or not self._waits

    def costs(self, fault: ModelFault | None) -> bool:
        """Whether the request was on its way, and neither refused nor in vain, when `fault` or an interrupt
        (None) ended it.
        """
        if self._begun or fault is None:
            return self._begun or not self._waits
        return fault.partial is not None or fault.kind in ("stream", "timeout")

    def tokens(self, fault: ModelFault | None = None) -> int:
        """About how many tokens were made until then."""
        heard = made(AssistantMessage(self.text, reasoning="".join(self._thoughts)))
        return max(heard, made(fault.partial)) if fault is not None and fault.partial is not None else heard


class Answer:
    """What arrives of one answer, passed on to the screen."""

    def __init__(self, emit: Callable[[Event], None], turn: int, next_item: Callable[[], str]) -> None:
        self._emit = emit
        self._turn = turn
        self._next_item = next_item
        self._open: tuple[str, type] | None = None
        self.underway = Underway()
        self.finish: Finish | None = None

    @property
    def text(self) -> str:
        """The text so far."""
        return self.underway.text

    def take(self, part: Part) -> None:
        """The next part of the stream."""
        self.underway.take(part)
        match part:
            case TextPart(text):
                self._emit(TextDelta(self._turn, self._item(TextPart), text))
            case ReasoningPart(text):
                self._emit(ReasoningDelta(self._turn, self._item(ReasoningPart), text))
            case RetryPart(attempt, of, delay, why):
                self._emit(Retrying(self._turn, attempt, of, delay, why))
            case CallPart():
                self.close()
            case Finish():
                self.finish = part

    def _item(self, kind: type) -> str:
        if self._open is None or self._open[1] is not kind:
            self.close()
            self._open = (self._next_item(), kind)
        return self._open[0]

    def close(self) -> None:
        """No more text for the item that is open."""
        if self._open is not None:
            self._emit(TextDone(self._turn, self._open[0]))
            self._open = None
