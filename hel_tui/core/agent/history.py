"""The conversation as the model has it: the messages of the next request, and every change of them.

Each change is told to a `Keeper` before it can reach a request, so that what was sent can be told again.
Not here: what a request makes of them (repair), when to shorten (context), how they are kept (session).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, overload

from hel_tui.core.agent.repair import without_old_images
from hel_tui.core.vocabulary import Message, ToolMessage, UserMessage


class Keeper(Protocol):
    """Whoever writes the changes down. A change is told before it is made."""

    def appended(self, message: Message) -> None:
        """A message at the end."""

    def amended(self, text: str) -> None:
        """`text` behind the newest message."""

    def shortened(self, at: int, text: str) -> None:
        """The message at this place has this text now."""

    def announced(self, message: Message) -> None:
        """This message comes to the end once the turn is over; until then nobody else has it."""

    def withdrawn(self, count: int) -> None:
        """The newest `count` messages are no part of the conversation: they reached nobody."""

    def compacted(self, kept: int, summary: str) -> None:
        """All but the newest `kept` messages became one of the person's with this text."""

    def cleared(self) -> None:
        """No message is left."""


class Unkept:
    """A keeper for a conversation that nobody keeps."""

    def appended(self, message: Message) -> None: ...

    def amended(self, text: str) -> None: ...

    def shortened(self, at: int, text: str) -> None: ...

    def announced(self, message: Message) -> None: ...

    def withdrawn(self, count: int) -> None: ...

    def compacted(self, kept: int, summary: str) -> None: ...

    def cleared(self) -> None: ...


class History(Sequence[Message]):
    """The messages of one conversation, oldest first, without the system prompt. Lives in the core's loop."""

    def __init__(self, keeper: Keeper | None = None) -> None:
        self._keeper: Keeper = keeper or Unkept()
        self._messages: list[Message] = []
        self.withdrawals = 0
        """How often the newest message was taken out again."""

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    @overload
    def __getitem__(self, at: int) -> Message: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Message]: ...

    def __getitem__(self, at: int | slice) -> Message | Sequence[Message]:
        return self._messages[at]

    def append(self, message: Message) -> None:
        """Put a message at the end."""
        self._keeper.appended(message)
        self._messages.append(message)

    def announce(self, message: Message) -> None:
        """Let the keeper have what is to be put at the end later: no kill loses it then."""
        self._keeper.announced(message)

    def amend(self, text: str) -> bool:
        """Put `text` behind the newest message, where that one is not the model's own; say whether it was."""
        last = self._messages[-1] if self._messages else None
        if not text or not isinstance(last, UserMessage | ToolMessage):
            return False
        self._keeper.amended(text)
        self._messages[-1] = replace(last, text=f"{last.text}\n\n{text}")
        return True

    def shorten(self, at: int, text: str) -> None:
        """Give the message at `at` another, shorter text. Raises IndexError."""
        message = self._messages[at]
        self._keeper.shortened(at % len(self._messages), text)
        self._messages[at] = replace(message, text=text)

    def withdraw(self, before: Sequence[Message] = ()) -> bool:
        """Take the newest message out, where it is the person's, and of those that came with it, `before` it,
        what still stands there; say whether it was.
        """
        if not self._messages or not isinstance(self._messages[-1], UserMessage):
            return False
        count = 1
        for message in reversed(before):
            if len(self._messages) == count or self._messages[-count - 1] is not message:
                break
            count += 1
        self._keeper.withdrawn(count)
        del self._messages[-count:]
        self.withdrawals += 1
        return True

    def compact(self, kept: int, summary: str) -> None:
        """Let one message with the text `summary` stand for all but the newest `kept` messages.

        Raises ValueError where the kept ones would begin with a result: its call would be gone.
        """
        cut = len(self._messages) - kept
        if kept < 0 or cut < 0:
            raise ValueError(f"{kept} of {len(self._messages)} messages cannot be kept")
        if kept and isinstance(self._messages[cut], ToolMessage):
            raise ValueError("what is kept must not begin with a result")
        self._keeper.compacted(kept, summary)
        self._messages[:cut] = [UserMessage(summary)]

    def clear(self) -> None:
        """Begin an empty conversation."""
        self._keeper.cleared()
        self._messages.clear()

    def restore(self, messages: Iterable[Message]) -> None:
        """Go on with a conversation that was kept: the keeper has it already."""
        self._messages[:] = messages

    def let_go_of_images(self) -> bool:
        """Forget the bytes of images that no request carries any more; say whether there were any."""
        kept = without_old_images(self._messages)
        if kept is self._messages:
            return False
        self._messages[:] = kept
        return True
