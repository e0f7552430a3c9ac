"""The servers of a session: read the files, ask about what is not trusted, start the rest.

Not here: a server's life (mcp), what trust is bound to (permissions), the dialog (a screen).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from hel_tui.core.mcp.config import Configuration, load_servers
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.permissions.trust import Review, TrustStore
from hel_tui.core.protocol import Event, Notice, Phase, ServerChanged, TrustAnswer, TrustQuestion
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.store.places import Places
from hel_tui.core.threads import in_thread

NOT_TRUSTED = "not trusted yet"


class Servers:
    """Configuration, trust and host of one session. Lives in the core's loop."""

    def __init__(
        self,
        *,
        options: Options,
        places: Places,
        host: Host,
        desk: Desk,
        emit: Callable[[Event], None],
    ) -> None:
        self._options = options
        self._places = places
        self._desk = desk
        self._emit = emit
        self._host = host
        self._trust = TrustStore(places.state)
        self._review: Review[ServerEntry] | None = None
        self._read = asyncio.Event()
        """The files were read, and what may start was told to."""
        self._is_asking = False
        """The trust question is open."""

    @property
    def _project(self) -> Path:
        return self._options.project

    async def start(self) -> None:
        """Start what is trusted at once, then ask about the rest and start what is allowed."""
        try:
            review = await self._read_files()
        finally:
            self._read.set()
        if review.pending:
            await self.ask()

    async def look_again(self) -> None:
        """Read the files anew and ask about what is not trusted in them; not while the question is open."""
        if self._is_asking:
            return
        await self._read_files()
        await self.ask()

    async def _read_files(self) -> Review[ServerEntry]:
        """Sort the configured servers out, and start those that are trusted and not there yet."""
        configuration = await in_thread(self._load, "hel-servers")
        review = self._review = await in_thread(
            lambda: self._trust.review(configuration, self._project, self._options.environ), "hel-trust"
        )
        self._report(configuration)
        self._host.start([entry for entry in review.trusted if not self._host.runs(entry)])
        self._show(review.pending, "untrusted", NOT_TRUSTED)
        self._show(review.off, "off", "switched off in its file")
        for entry in review.off:
            self._host.switch(entry.name, False)
        named = {entry.name for entry in configuration.entries}
        for name in sorted(self._hosted() - named - {one.server for one in configuration.problems}):
            self._goes_on(name, "no file names it any more")
        await in_thread(lambda: self._point_out_programs(review), "hel-trust")
        return review

    async def ask(self) -> None:
        """Ask about servers that are not trusted. Headless: say how to approve them."""
        review = self._review
        if review is None or not review.pending:
            self._emit(Notice("info", "Every configured server is trusted or switched off."))
            return
        if not self._options.answerable:
            names = ", ".join(entry.name for entry in review.pending)
            self._emit(
                Notice(
                    "warning",
                    f"Not started, because nobody has approved it for this project: {names}. "
                    "Review and approve with: hel mcp trust",
                )
            )
            return
        if self._is_asking:
            return
        self._is_asking = True
        try:
            answer = await self._desk.ask(TrustQuestion(question_id(), str(self._project), review.claims))
        finally:
            self._is_asking = False
        await self._apply(review, answer if isinstance(answer, TrustAnswer) else TrustAnswer("refuse"))

    async def _apply(self, review: Review[ServerEntry], answer: TrustAnswer) -> None:
        self._read.clear()  # who waits for servers waits for these too
        try:
            await self._carry_out(review, answer)
        finally:
            self._read.set()

    async def _carry_out(self, review: Review[ServerEntry], answer: TrustAnswer) -> None:
        names = answer.servers if answer.decision != "refuse" else frozenset()
        if answer.decision == "once":
            self._trust.allow_once(review, names)
        allowed = tuple(entry for entry in review.pending if entry.name in names)
        refused = tuple(entry for entry in review.pending if entry.name not in names)
        if answer.decision == "remember" and allowed:
            remembered = [entry.name for entry in allowed]
            problem = await in_thread(lambda: self._trust.remember(review, remembered), "hel-trust")
            if problem:
                self._emit(Notice("warning", f"Approved for this run only: {problem}"))
        self._review = review.without(names)
        self._show(refused, "untrusted", "refused for now; /trust asks again")
        for entry in refused:
            if not self._host.runs(entry):
                self._goes_on(entry.name, "its changed entry was refused")
        self._host.start(
            [entry for entry in allowed if not (self._host.runs(entry) and self._is_up(entry.name))]
        )

    # ------------------------------------------------------------------ facts

    def _load(self) -> Configuration:
        return load_servers(
            self._project,
            self._places,
            named_files=self._options.mcp_config,
            environ=self._options.environ,
        )

    def _report(self, configuration: Configuration) -> None:
        for problem in configuration.problems:
            is_error = problem.severity == "error"
            self._emit(Notice("warning" if is_error else "info", problem.sentence, str(problem.file)))
            if not is_error or problem.server is None:
                continue
            if problem.server in self._hosted():
                self._goes_on(problem.server, "its entry cannot be used")
            else:
                self._emit(ServerChanged(problem.server, "failed", problem.sentence, scope=problem.scope))
        for entry, winner in configuration.shadowed:
            self._emit(
                Notice(
                    "info",
                    f"{entry.name} in {entry.file} is not used: "
                    f"{winner.file} ({winner.scope}) has that name.",
                )
            )

    def _new(self, entries: Sequence[ServerEntry]) -> list[ServerEntry]:
        known = self._hosted()
        return [entry for entry in entries if entry.name not in known]

    def _hosted(self) -> frozenset[str]:
        """Names that are the host's: it alone tells how they are."""
        return frozenset(status.name for status in self._host.statuses())

    def _is_up(self, server: str) -> bool:
        supervisor = self._host.server(server)
        return supervisor is not None and supervisor.is_alive

    def _goes_on(self, server: str, why: str) -> None:
        """Say that a server runs on as it is; one that does not run needs no word."""
        if not self._is_up(server):
            return
        sentence = (
            f"{server} stays as it was started before: {why}. The key d in the server list switches it off."
        )
        self._emit(Notice("warning", sentence, server))

    def _show(self, entries: Sequence[ServerEntry], phase: Phase, reason: str) -> None:
        """List those servers that are not the host's yet; it tells the state of its own."""
        for entry in self._new(entries):
            self._emit(ServerChanged(entry.name, phase, reason, scope=entry.scope, transport=entry.transport))

    def _point_out_programs(self, review: Review[ServerEntry]) -> None:
        for name, files in review.program_changes:
            changed = ", ".join(files)
            self._emit(Notice("warning", f"{name} runs files that changed since you last looked: {changed}"))
        if problem := self._trust.note_programs(review):
            self._emit(Notice("warning", problem))

    async def listed(self, seconds: float) -> None:
        """Wait until the files were read, at most so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._read.wait()

    async def settled(self, seconds: float) -> None:
        """Wait until each server is up, failed or slow, at most so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._read.wait()
                await self._host.settled()
        except TimeoutError:
            return
