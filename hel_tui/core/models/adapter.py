"""What is an API's own: where a request goes, how it is spelled, and what the pieces of an answer mean.

The rest is common to all of them: the connection, trying again, limits, faults (client, reading, faults).
Not here: any API (chat, messages, responses, gemini).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hel_tui.core.models.ending import Gathered
from hel_tui.core.models.profiles import Api, Dialect
from hel_tui.core.models.types import Finish, ModelInfo, Part, Request
from hel_tui.core.vocabulary import AssistantMessage, Image, Json


class Assembling(Protocol):
    """Takes the JSON values of one answer in order and gives back the parts they bring. Pure."""

    @property
    def got(self) -> Gathered:
        """What of the answer has arrived."""

    @property
    def begun(self) -> bool:
        """Whether anything of an answer has arrived."""

    @property
    def complete(self) -> bool:
        """The API's own end of a stream has come: nothing after it matters."""

    @property
    def grace(self) -> float | None:
        """Seconds the endpoint gets for what may follow a finish reason; None while there is none."""

    def fault(self, chunk: Json) -> Any:
        """The error that this value reports, None for none."""

    def understands(self, chunk: Json) -> bool:
        """Whether this value belongs to an answer of this API."""

    def feed(self, chunk: Json) -> list[Part]:
        """The parts in one value, of a stream or a whole answer."""

    def held(self) -> Sequence[Part]:
        """What was held back; call once, when nothing more comes."""

    def partial(self) -> AssistantMessage:
        """What has arrived, calls aside: a broken stream's calls are never run."""

    def finish(self, ended: bool) -> Finish:
        """The last part. `ended` says that the stream said itself that it is over."""


class Body(Protocol):
    """Spells a request as UTF-8 JSON. Raises ModelFault for numbers JSON does not have.

    Images go to a model that sees, but for the `unwanted`; another one has their markers in the text.
    """

    def __call__(
        self,
        request: Request,
        info: ModelInfo,
        dialect: Dialect,
        unwanted: Collection[Image] = frozenset(),
        /,
    ) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Adapter:
    """One API. Without state: what is learned of a server is in its dialect."""

    path: Callable[[ModelInfo], str]
    """Path and query of a request, behind the base URL."""
    body: Body
    assembler: Callable[[Callable[[], str], ModelInfo], Assembling]
    """For one answer, from a maker of ids for calls that come without one."""


def adapter_for(api: Api) -> Adapter:
    """The adapter of an API. Each is imported where it is used: a session speaks one or two of them."""
    if api == "messages":
        from hel_tui.core.models.messages import MESSAGES

        return MESSAGES
    if api == "responses":
        from hel_tui.core.models.responses import RESPONSES

        return RESPONSES
    if api == "gemini":
        from hel_tui.core.models.gemini import GEMINI

        return GEMINI
    from hel_tui.core.models.chat import CHAT

    return CHAT
