"""Servers that outlived an earlier hel: offered for ending when a session starts.

Not here: finding and ending them (mcp.leftovers).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Event, LeftoversAnswer, LeftoversQuestion, Notice
from hel_tui.core.questions import Desk, question_id


async def offer_leftovers(host: Host, desk: Desk, emit: Callable[[Event], None], *, answerable: bool) -> None:
    """Ask whether to end what is left, and end it. Headless: only say that it runs."""
    found = await host.leftovers()
    if not found:
        return
    lines = tuple(f"{one.server}, pid {one.pid}: {one.command_line}" for one in found)
    if not answerable:
        emit(Notice("warning", f"Servers of an earlier run still run: {'; '.join(lines)}."))
        return
    answer = await desk.ask(LeftoversQuestion(question_id(), lines))
    if not (isinstance(answer, LeftoversAnswer) and answer.end):
        return
    await host.end_leftovers(found)
    left = await host.leftovers()  # also takes away the records of those that are gone
    if still := [one for one in left if one in found]:
        emit(Notice("warning", f"{', '.join(f'{one.server}, pid {one.pid}' for one in still)} did not end."))
