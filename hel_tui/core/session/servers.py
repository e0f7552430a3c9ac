"""The servers of a session: read the files, ask about what is not trusted, start the rest.

Files that change later are only told of until the person says so. Not here: a server's life (mcp), what
trust is bound to (permissions), the dialog (a screen), noticing changes on disk (watch).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from hel_tui.core.mcp.config import Configuration, load_servers, server_files
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host
from hel_tui.core.options import Options
from hel_tui.core.permissions.trust import Review, TrustStore
from hel_tui.core.protocol import (
    ConfigChanged,
    Event,
    Notice,
    Phase,
    ServerChanged,
    ServerRemoved,
    TrustAnswer,
    TrustQuestion,
)
from hel_tui.core.questions import Desk, question_id
from hel_tui.core.session.entries import Standing
from hel_tui.core.session.settings import ProjectSettings
from hel_tui.core.store.places import Places
from hel_tui.core.threads import in_thread

NOT_TRUSTED = "not trusted yet"
REFUSED = "refused for good; /trust asks again"
SETTLE = 0.5
"""Seconds after a change in which files are looked at once more."""


class Servers:
    """Configuration, trust and host of one session. Lives in the core's loop."""

    def __init__(
        self,
        *,
        options: Options,
        places: Places,
        host: Host,
        desk: Desk,
        settings: ProjectSettings,
        emit: Callable[[Event], None],
    ) -> None:
        self._options = options
        self._places = places
        self._desk = desk
        self._settings = settings
        self._emit = emit
        self._host = host
        self._trust = TrustStore(places.state)
        self._review: Review[ServerEntry] = Review()
        self._configuration = Configuration()
        """As read last: what a change on disk is compared with."""
        self._told = ConfigChanged()
        self._for_this_run: frozenset[str] = frozenset()
        """Servers that were allowed once."""
        self._listed: set[str] = set()
        """Servers that are shown and are not the host's."""
        self._read = asyncio.Event()
        """The files were read, and what may start was told to; with `trust_first` after the answer, too."""
        self._is_asking = False
        """The trust question is open."""

    @property
    def _project(self) -> Path:
        return self._options.project

    async def start(self) -> None:
        """Start what is trusted at once, then ask about the rest and start what is allowed."""
        try:
            await self._read_files()
            if not self._options.trust_first:
                self._read.set()
            if self._review.unanswered or self._settings.pending:
                await self._ask()
        finally:
            self._read.set()

    async def look_again(self, *, quiet: bool = False) -> None:
        """Read the files anew and carry out what is different: ask about what is not trusted, start what is
        new, start anew what changed, end what left. Not while the question is open.

        When the changed files of a project are refused, none of its servers changes. `quiet`: say nothing
        when there is nothing to ask.
        """
        if self._is_asking:
            return
        await self._read_files()
        if self._review.pending or self._settings.pending:
            refused = await self._ask()
        else:
            refused = False
            if not quiet:
                self._emit(Notice("info", "Every configured server is trusted or switched off."))
        self._let_go(refused=refused)

    async def watch(self) -> None:
        """Tell, until cancelled, how the server files on disk differ from those that were read."""
        from hel_tui.core.session.watch import changes

        await self._read.wait()
        files = server_files(self._project, self._places, self._options.mcp_config, self._options.environ)
        later = asyncio.ensure_future(self._compare(SETTLE))  # since they were read
        try:
            async for _ in changes(files):
                await self._compare()
                later.cancel()
                later = asyncio.ensure_future(self._compare(SETTLE))
        finally:
            later.cancel()

    async def _compare(self, wait: float = 0.0) -> None:
        """Look how the files are after so many seconds: they may have been read while they were written."""
        await asyncio.sleep(wait)
        self._tell(await in_thread(self._load, "hel-servers"))

    def _tell(self, now: Configuration) -> None:
        before = {entry.name: entry for entry in self._configuration.entries}
        after = {entry.name: entry for entry in now.entries}
        known = {str(problem) for problem in self._configuration.problems}
        both = before.keys() & after.keys()
        changed = ConfigChanged(
            added=tuple(sorted(after.keys() - before.keys())),
            removed=tuple(sorted(before.keys() - after.keys())),
            changed=tuple(sorted(name for name in both if before[name] != after[name])),
            problems=tuple(
                str(problem)
                for problem in now.problems
                if problem.severity == "error" and str(problem) not in known
            ),
        )
        if changed != self._told:
            self._told = changed
            self._emit(changed)

    @property
    def configuration(self) -> Configuration:
        """What the server files said when they were read last."""
        return self._configuration

    @property
    def pending(self) -> tuple[str, ...]:
        """Servers that nobody has approved."""
        return tuple(entry.name for entry in self._review.pending)

    # ------------------------------------------------------------------- reading

    async def _read_files(self) -> None:
        """Sort the configured servers out, and start those that are trusted and not there yet."""
        configuration = await in_thread(self._load, "hel-servers")
        review = self._review = await in_thread(
            lambda: self._trust.review(configuration, self._project, self._options.environ), "hel-trust"
        )
        await self._settings.read()
        self._configuration = configuration
        if self._told != ConfigChanged():
            self._told = ConfigChanged()
            self._emit(self._told)
        self._report(configuration)
        self._host.start([entry for entry in review.trusted if not self._host.runs(entry)])
        refused = [case.entry for case in review.cases if case.refused]
        self._show(refused, "untrusted", REFUSED)
        self._show([entry for entry in review.pending if entry not in refused], "untrusted", NOT_TRUSTED)
        self._show(review.off, "off", "switched off in its file")
        for entry in review.off:
            self._host.switch(entry.name, False)
        await in_thread(lambda: self._point_out_programs(review), "hel-trust")

    def _let_go(self, *, refused: bool) -> None:
        """End and unlist what no file names any more."""
        named = {entry.name for entry in self._configuration.entries}
        named |= {problem.server for problem in self._configuration.problems if problem.server}
        for name in sorted(self._hosted() - named):
            supervisor = self._host.server(name)
            if refused and supervisor is not None and supervisor.entry.scope == "project":
                self._goes_on(name, "the file that no longer names it was refused")
            else:
                self._host.remove(name)
        for name in sorted(self._listed - named - self._hosted()):
            self._emit(ServerRemoved(name))
        self._listed &= named

    async def _ask(self) -> bool:
        """Ask about what is not trusted; say whether it was refused. Headless: say how to approve it."""
        review, claims = self._review, self._settings.claims
        if not self._options.answerable:
            names = ", ".join([*(entry.name for entry in review.pending), *(one.name for one in claims)])
            self._emit(
                Notice(
                    "warning",
                    f"{'Not started' if review.pending else 'Not used'}, because nobody has approved it "
                    f"for this project: {names}. Review and approve with: hel mcp trust",
                )
            )
            return True
        self._is_asking = True
        try:
            question = TrustQuestion(question_id(), str(self._project), (*review.claims, *claims))
            answer = await self._desk.ask(question)
        finally:
            self._is_asking = False
        if not isinstance(answer, TrustAnswer):
            answer = TrustAnswer("refuse")
        self._read.clear()  # who waits for servers waits for these too
        try:
            await self._settings.answered(answer)
            await self._carry_out(review, answer)
        finally:
            self._read.set()
        return answer.decision in ("refuse", "never")

    async def _carry_out(self, review: Review[ServerEntry], answer: TrustAnswer) -> None:
        names = answer.servers if answer.decision in ("once", "remember") else frozenset()
        if answer.decision == "never":
            problem = await in_thread(lambda: self._trust.refuse(review, answer.servers), "hel-trust")
            if problem:
                self._emit(Notice("warning", f"Refused for this run only: {problem}"))
        if answer.decision == "once":
            self._trust.allow_once(review, names)
            self._for_this_run |= names
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
        found = load_servers(
            self._project,
            self._places,
            named_files=self._options.mcp_config,
            typed=self._options.typed,
            environ=self._options.environ,
        )
        return found.with_only(self._options.only) if self._options.only else found

    def _report(self, configuration: Configuration) -> None:
        for problem in configuration.problems:
            is_error = problem.severity == "error"
            self._emit(Notice("warning" if is_error else "info", problem.sentence, str(problem.file)))
            if not is_error or problem.server is None:
                continue
            if problem.server in self._hosted():
                self._goes_on(problem.server, "its entry cannot be used")
            else:
                self._listed.add(problem.server)
                self._emit(ServerChanged(problem.server, "failed", problem.sentence, scope=problem.scope))
        for entry, winner in configuration.shadowed:
            self._emit(
                Notice(
                    "info",
                    f"{entry.name} in {entry.file} is not used: "
                    f"{winner.file} ({winner.scope}) has that name.",
                )
            )

    def standing(self, name: str) -> Standing | None:
        """What the files say of a server, and whether it is trusted; None when no file names it."""
        configuration = self._configuration
        supervisor = self._host.server(name)
        entry = supervisor.entry if supervisor is not None else None
        entry = entry or next((one for one in configuration.entries if one.name == name), None)
        if entry is None:
            return None
        return Standing(
            entry,
            self._trust_of(entry),
            tuple(str(lost.file) for lost, won in configuration.shadowed if won.name == name),
            tuple(one.sentence for one in configuration.problems if one.server == name),
        )

    def _trust_of(self, entry: ServerEntry) -> str:
        """Whether it may start, in words."""
        if entry.scope != "project":
            return "yours"
        for case in self._review.cases:
            if case.entry.name == entry.name:
                return "refused" if case.refused else "not approved"
        if any(one.name == entry.name for one in self._review.off):
            return "off, not approved"
        return "for this run" if entry.name in self._for_this_run else "approved for this project"

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
        known = self._hosted()
        for entry in entries:
            if entry.name in known:
                continue
            self._listed.add(entry.name)
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
