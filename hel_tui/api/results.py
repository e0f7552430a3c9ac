"""What a run of the agent comes to: its text, its calls, what it took; and the errors of this API.

Data only. Not here: how it is gathered (tally), who runs it (agent).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from hel_tui.core.protocol import TurnEnd

Status = Literal["done", "limit", "failed", "refused", "interrupted"]
"""How a run ended: `limit` is a bound on steps, time, cost or length; `refused`: a call or a server was not
allowed; `failed` says why in `message`."""


class HelError(Exception):
    """Base of all errors of this API. Its text is a sentence for a person."""


class BadArgument(HelError, ValueError):
    """What was given to the agent or a run cannot be meant."""


class NoModel(HelError):
    """No model can answer: none was named, or the one named cannot be had."""


class NoSession(HelError):
    """The session that was to be gone on with is not there, or cannot be opened."""


class NotOpen(HelError):
    """The agent is used outside its `async with`."""


class Crashed(HelError):
    """hel itself failed: a bug. The text is its report, without values of variables."""


class RunFailed(HelError):
    """`Result.require()` of a run that did not end with `done`."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.message or f"the run ended: {result.status}")
        self.result = result


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of the model, over."""

    id: str
    server: str
    """Empty for a built-in."""
    tool: str
    """Raw name."""
    arguments: Any
    """As sent; the text itself where it was no JSON."""
    state: Literal["ok", "failed", "refused", "cancelled"]
    result: str
    """Text as the model got it, or the whole where the model got a part."""
    seconds: float = 0.0
    loaded: bool = True
    """False: it was not in the request it was called from, and so was not made."""

    @property
    def name(self) -> str:
        """`server.tool`, or the name of a built-in."""
        return f"{self.server}.{self.tool}" if self.server else self.tool


@dataclass(frozen=True, slots=True)
class Usage:
    """Sums over the requests of one run, as providers counted them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input, read from a provider's cache."""
    written_tokens: int = 0
    """Of the input, written to it."""
    reasoning_tokens: int = 0
    """Of the output."""
    cost: float | None = None
    """US dollars; None when no price is known."""
    unpriced: int = 0
    """Requests that are not in `cost`."""
    uncounted: int = 0
    """Requests whose tokens no provider counted, such as those that were cut off: they are hel's estimate."""


@dataclass(frozen=True, slots=True)
class Result:
    """A run that is over."""

    status: Status
    text: str
    """The last answer of the model; empty when there was none."""
    message: str = ""
    """Why it ended, for every status but `done`."""
    reason: TurnEnd = "interrupted"
    """How its last turn ended, in the words of the events."""
    steps: int = 0
    """Requests of the turn."""
    calls: tuple[Call, ...] = ()
    """In the order in which they appeared."""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    data: Any = None
    """The answer as a value that fits the schema, where one was asked for."""

    @property
    def ok(self) -> bool:
        """Whether it ended as it should."""
        return self.status == "done"

    def require(self) -> Result:
        """Itself; raises RunFailed when it did not end with `done`."""
        if not self.ok:
            raise RunFailed(self)
        return self
