"""What an earlier hel left: servers that run on, offered for ending; begun files, taken away once old.

Not here: finding and ending servers (mcp.leftovers), which files those are (store.remains).
"""

from __future__ import annotations

from collections.abc import Callable

from hel_tui.core.mcp.host import Host
from hel_tui.core.protocol import Event, LeftoversAnswer, LeftoversQuestion, Notice
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.store.places import Places
from hel_tui.core.store.remains import sweep_parts, sweep_sessions
from hel_tui.core.threads import in_thread


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


async def sweep(places: Places) -> None:
    """Take away what was begun and never ended, among the sessions and in hel's own folders."""

    def work() -> None:
        sweep_sessions(places.sessions)
        for folder in (places.config, places.state):
            sweep_parts(folder)

    await in_thread(work, "hel-sweep")
