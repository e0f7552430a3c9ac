"""hel from Python: the agent without a screen, in a script or a test. The same core as `hel` and `hel run`.

    import asyncio
    from hel_tui.api import Agent

    async def main() -> None:
        async with Agent(".", model="deepseek/deepseek-chat") as agent:
            result = await agent.run("Which files are here?")
            print(result.text, result.usage.cost)

    asyncio.run(main())

Names listed here stay. Events are those of `hel_tui.core.protocol`, which `events` is. Not here: a screen.
"""

from __future__ import annotations

from hel_tui.api.agent import Agent
from hel_tui.api.answering import Approve, Trust
from hel_tui.api.results import (
    BadArgument,
    Call,
    Crashed,
    HelError,
    NoModel,
    NoSession,
    NotOpen,
    Result,
    RunFailed,
    Status,
    Usage,
)
from hel_tui.api.shape import BadSchema
from hel_tui.api.turn import Turn
from hel_tui.core import protocol as events
from hel_tui.core.protocol import ApprovalAnswer, ApprovalQuestion, Event, ServerClaim

__all__ = [
    "Agent",
    "ApprovalAnswer",
    "ApprovalQuestion",
    "Approve",
    "BadArgument",
    "BadSchema",
    "Call",
    "Crashed",
    "Event",
    "HelError",
    "NoModel",
    "NoSession",
    "NotOpen",
    "Result",
    "RunFailed",
    "ServerClaim",
    "Status",
    "Trust",
    "Turn",
    "Usage",
    "events",
]
