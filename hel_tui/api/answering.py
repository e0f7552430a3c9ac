"""Who answers what the core asks: the callables a script gave, or nobody.

Not here: how questions come and answers go (wire).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from hel_tui.core import protocol as p

Decision = bool | str | p.ApprovalAnswer
"""Yes or no to a call; a text is a no that the model is told the reason of."""
Approve = Callable[[p.ApprovalQuestion], Decision | Awaitable[Decision]]
"""Asked before each call that needs a person's word."""
Trust = Collection[str] | Callable[[p.ServerClaim], bool | Awaitable[bool]]
"""Which servers of the project may be started in this run: their names, or a callable asked for each."""

NOBODY = p.NotAnswered("nobody is there to answer")


@dataclass(frozen=True, slots=True)
class Answers:
    """The callables of one agent."""

    approve: Approve | None = None
    trust: Trust | None = None

    async def to(self, question: p.Question) -> p.Answer:
        """The answer to a question. Raises what a callable raises."""
        match question:
            case p.ApprovalQuestion() if self.approve is not None:
                return _decided(await _value(self.approve(question)))
            case p.TrustQuestion() if self.trust is not None:
                allowed = [claim.name for claim in question.servers if await self._is_trusted(claim)]
                return p.TrustAnswer("once", frozenset(allowed)) if allowed else p.TrustAnswer("refuse")
        return NOBODY

    async def _is_trusted(self, claim: p.ServerClaim) -> bool:
        if callable(self.trust):
            return bool(await _value(self.trust(claim)))
        return claim.name in (self.trust or ())


def _decided(said: Decision) -> p.Answer:
    if isinstance(said, str):
        return p.ApprovalAnswer("deny", comment=said)
    if isinstance(said, bool):
        return p.ApprovalAnswer("once" if said else "deny")
    return said


async def _value(said: Any) -> Any:
    return await said if isawaitable(said) else said
