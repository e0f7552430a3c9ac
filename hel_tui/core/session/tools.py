"""Server tools as the person deals with them: load, pin, switch off, look at; and what that depends on.

Not here: which tools exist (mcp), what a model makes of them (agent), approvals of calls (permissions).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any

from hel_tui.core.mcp.host import Host
from hel_tui.core.mcp.tool import McpTool
from hel_tui.core.permissions.pins import Pins
from hel_tui.core.protocol import Event, ListChanged, Notice, ToolChange, ToolDetail
from hel_tui.core.threads import Writes, in_thread

Write = Callable[[], str]
"""Writes something down, in a thread; a sentence when it could not."""


class Tools:
    """The tools of one session's servers. Lives in the core's loop; `detail` is safe from any thread."""

    def __init__(
        self,
        *,
        host: Host,
        pins: Pins,
        writes: Writes,
        emit: Callable[[Event], None],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`spawn` runs work beside the turns."""
        self._catalogue = host.catalogue
        self._changes = host.list_changes
        self._met: set[str] = set()
        """Servers that have listed their tools in this run."""
        self._pins = pins
        self._writes = writes
        self._emit = emit
        self._spawn = spawn
        self.shown: Callable[[ToolDetail, McpTool], ToolDetail] = lambda detail, _tool: detail
        """Adds what a model gets of a tool."""
        self._catalogue.is_changed = pins.is_changed
        self._catalogue.on_listed = self._listed

    async def read(self) -> None:
        """Read what was chosen and pinned in earlier runs; before servers start."""
        for problem in await in_thread(
            lambda: (self._catalogue.choices.load(), self._pins.load()), "hel-choices"
        ):
            self._say(problem)
        self._catalogue.choices_loaded()

    # --------------------------------------------------------------- the person

    def load(self, names: Iterable[str]) -> None:
        """Load tools by public name; what cannot be is said."""
        for result in self._catalogue.load(names):
            if result.state in ("loaded", "already loaded"):
                continue
            why = f": {result.detail}" if result.detail and result.state != "unknown" else ""
            what = "there is no such tool" if result.state == "unknown" else f"it is {result.state}"
            hint = f" Did you mean {result.detail}?" if result.state == "unknown" and result.detail else ""
            self._say(f"{result.name[:100]} was not loaded: {what}{why}.{hint}")

    def unload(self, names: Iterable[str]) -> None:
        """Take tools out of the requests."""
        self._catalogue.unload(names)

    def pin(self, names: Iterable[str], on: bool) -> None:
        """Keep tools loaded in every conversation of this project, or no longer."""
        self._write(self._catalogue.pin(names, on))

    def switch(self, server: str, raw: str, on: bool) -> None:
        """Offer one tool to the model, or no longer."""
        if not any(row.raw == raw for row in self._catalogue.rows_of(server)):
            self._say(f"{server} lists no tool named {raw[:100]}.")
            return
        self._write(self._catalogue.switch(server, raw, on))

    def seen(self, server: str, raw: str) -> None:
        """The person looked at how a tool changed."""
        tool = self._catalogue.find(server, raw)
        if tool is not None and (write := self._pins.looked_at(tool)):
            self._write(write)
            self._catalogue.refresh(server)

    def pinned(self) -> None:
        """A tool was let run as something new: marks may go."""
        self._catalogue.refresh(*{row.server for row in self._catalogue.rows() if row.changed})

    def detail(self, server: str, raw: str) -> ToolDetail | None:
        """Everything about one tool."""
        detail = self._catalogue.detail(server, raw)
        tool = self._catalogue.find(server, raw)
        if detail is None or tool is None:
            return detail
        return self.shown(replace(detail, history=self._pins.history(tool)), tool)

    # -------------------------------------------------------------- the servers

    def _listed(self, tools: tuple[McpTool, ...]) -> None:
        """A server lists these tools now: those that were let run as something else are pointed out.

        At the first list of a run that is a card of its own; later ones have one already.
        """
        changed: list[McpTool] = []
        for tool in tools:
            write = self._pins.sighted(tool)
            if write is None:
                continue
            self._write(write)
            if self._pins.is_changed(tool):
                changed.append(tool)
        servers = {tool.server for tool in tools}
        if servers <= self._met:
            for tool in changed:
                self._point_out(tool)
        elif changed:
            self._show_changes(changed[0].server, changed)
        self._met |= servers

    def _point_out(self, tool: McpTool) -> None:
        self._emit(
            Notice(
                "warning",
                f"{tool.raw} is not what it was when you let it run: what it says of itself changed. "
                "Approvals of it count no longer; the next call asks and shows the difference.",
                tool.server,
            )
        )

    def _show_changes(self, server: str, changed: Sequence[McpTool]) -> None:
        """A card of what is different since the last run, with what it touches."""
        rows = {row.raw: row for row in self._catalogue.rows_of(server)}
        told = tuple(
            ToolChange(
                tool.raw,
                "changed",
                self._pins.history(tool)[-1].diff,
                loaded=tool.raw in rows and rows[tool.raw].loaded,
                pinned=tool.raw in rows and rows[tool.raw].pinned,
            )
            for tool in changed
        )
        number = self._changes.tell(server, told, "since you let them run")
        loaded = sum(one.loaded for one in told)
        self._emit(ListChanged(server, number, 0, 0, len(told), loaded))

    # -------------------------------------------------------------------- inside

    def _write(self, write: Write) -> None:
        async def written() -> None:
            self._say(await self._writes.do(write))

        self._spawn(written())

    def _say(self, problem: str) -> None:
        if problem:
            self._emit(Notice("warning", problem))
