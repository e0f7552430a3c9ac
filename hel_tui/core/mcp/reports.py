"""What one server tells, turned into what is shown: state, lists, log lines, sentences for the person.

Not here: when it starts and ends (supervisor), what is listed of all servers (catalogue, shelf).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hel_tui.core.counts import counted
from hel_tui.core.mcp.catalogue import Catalogue
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.generations import ListChange
from hel_tui.core.mcp.levels import known_level
from hel_tui.core.mcp.listing import Listing, hidden
from hel_tui.core.mcp.logs import LINE_LENGTH
from hel_tui.core.mcp.shelf import Shelf
from hel_tui.core.mcp.status import Status
from hel_tui.core.mcp.stores import Stores
from hel_tui.core.mcp.tool import Caller
from hel_tui.core.mcp.utility import with_utility
from hel_tui.core.protocol import (
    Event,
    ListChanged,
    Notice,
    ResourceUpdated,
    ServerFailed,
    ServerFailure,
    Severity,
)
from hel_tui.core.store.redact import head

if TYPE_CHECKING:
    from hel_tui.core.mcp.handshake import Hello
    from hel_tui.core.mcp.offers import Prompts, Resources

CHANGED = "its tools changed; a restart reads them"
NOISE_TOLD = 200
"""Characters of a line that is no protocol in a notice."""
SENTENCE = 200
"""Characters of a failure's sentence in an event."""
STDERR_TOLD = 20
"""Lines of stderr that are kept with a call that failed."""
STDERR_LAG = 0.3
"""Seconds after which they are looked at once more."""
OFFERS = ("tools", "resources", "prompts", "completions", "logging")


class Reports:
    """The news of one server."""

    def __init__(
        self,
        status: Status,
        stores: Stores,
        catalogue: Catalogue,
        shelf: Shelf,
        emit: Callable[[Event], None],
        mask: Callable[[str], str],
        known: Callable[[str], str],
    ) -> None:
        """`mask` hides all that looks like a secret, for people; `known` what is one, for the model."""
        self._known = known
        self._status = status
        self.hello: Hello | None = None
        """What the server said of itself last."""
        self._stores = stores
        self._log = stores.log
        self.cause = "restart"
        """Why it is there anew, with its next list."""
        self._catalogue = catalogue
        self._shelf = shelf
        self._emit = emit
        self._mask = mask
        self._cut = ""
        self.utility: frozenset[str] = frozenset()
        """Names of the tools it is listed with that are hel's own."""
        self._is_stale = False
        """Its tools changed, and the list of the start is kept."""
        self._completes = False
        self.is_retired = False
        """Another server has the name."""
        self.is_live: Callable[[], bool] = lambda: False
        """Whether what is told still matters."""

    # ------------------------------------------------------------------ the start

    def ready(self, hello: Hello, listing: Listing, entry: ServerEntry, call: Caller, *, again: bool) -> None:
        """It is there: what it said of itself, and its tools."""
        status = self._status
        self.hello = hello = hello.masked(self._mask)
        status.protocol = hello.version
        status.offers = tuple(kind for kind in OFFERS if hello.offers(kind))
        if hello.subscribes:
            status.offers += ("subscriptions",)
        self._completes = hello.offers("completions")
        change = self.offer(listing, entry, call)
        if again:
            self.tell_change(change, self.cause)
        self.cause = "restart"
        name = f"{hello.name} {hello.release}".strip() or "a server without a name"
        self._log.remark(f"ready: {name}, protocol {hello.version}")
        status.enter("ready", self._remark)

    @property
    def _remark(self) -> str:
        """What is to be said of a server that is well."""
        return CHANGED if self._is_stale else self._cut

    def begin(self) -> None:
        """Another life of it begins."""
        self._is_stale = False

    def forget(self) -> None:
        """It is away for good: nothing of it is listed."""
        if self.is_retired:
            return
        self._status.tools = 0
        self._catalogue.remove(self._status.entry.name)
        self._shelf.remove(self._status.entry.name)

    def retire(self) -> None:
        """Another has its name now: its tools leave, and what is kept under the name is no more of it."""
        self.forget()
        self.is_retired = True

    # ---------------------------------------------------------------------- lists

    def offer(self, listing: Listing, entry: ServerEntry, call: Caller) -> ListChange:
        """Put a new generation of its tools on offer."""
        listing = hidden(listing, self._known)
        self.utility = frozenset()
        if entry.utility_tools:
            listing, self.utility = with_utility(listing, self._status.offers)
        change = self._catalogue.replace(entry, listing, call)
        self._status.tools = sum(1 for row in self._catalogue.rows_of(entry.name) if not row.reason)
        self._cut = f"list cut: {listing.cut}" if listing.cut else ""
        return change

    def relisted(self, change: ListChange) -> None:
        """The tools were read again while it was there."""
        self.tell_change(change, "list_changed")
        if self._status.phase in ("ready", "degraded"):
            self._status.enter("ready", self._remark)

    def not_relisted(self, why: str) -> None:
        """They could not be: the old ones stay."""
        if self.is_live():
            self._status.enter("degraded", f"the changed tool list could not be read: {why}")

    def ignored(self) -> None:
        """They changed, and the list of the start is kept."""
        self._is_stale = True
        if self.is_live() and self._status.phase == "ready":
            self._status.enter("ready", self._remark)

    def resources(self, found: Resources) -> None:
        """A generation of its resources."""
        if self.is_live():
            self._shelf.put_resources(self._status.entry.name, found)
            self._remark_list("resources", found.cut, found.bad)

    def prompts(self, found: Prompts) -> None:
        """A generation of its prompts."""
        if self.is_live():
            self._shelf.put_prompts(self._status.entry.name, found, completes=self._completes)
            self._remark_list("prompts", found.cut, found.bad)

    def _remark_list(self, what: str, cut: str, bad: int) -> None:
        if cut:
            self._log.remark(f"list of {what} cut: {cut}")
        if bad:
            self._log.remark(f"{bad} of its {what} could not be read and were left out")

    def updated(self, uri: str) -> None:
        """A subscribed resource changed."""
        if uri in self._shelf.watched(self._status.entry.name):
            self._emit(ResourceUpdated(self._status.entry.name, uri))

    def tell_change(self, change: ListChange, cause: str) -> None:
        """Say what is different about its tools."""
        if not change:
            return
        server = self._status.entry.name
        number = self._stores.changes.add(server, change, cause)
        sums = (len(change.added), len(change.removed), len(change.changed), len(change.loaded))
        self._emit(ListChanged(server, number, *sums))

    # ------------------------------------------------------------------ what it says

    def logged(self, level: str, text: str) -> None:
        """A logging message."""
        texts = head(text, 2 * LINE_LENGTH, self._mask).split("\n")
        self._log.append(texts, "message", levels=[known_level(level)] * len(texts))

    def dropped(self, count: int) -> None:
        """So many notifications came faster than they could be kept."""
        self._status.dropped += count
        self._log.remark(f"{counted(count, 'notification')} dropped: they came too fast")
        self._status.counted()

    def noise(self, text: str) -> None:
        """A line on stdout that is no protocol."""
        self._status.noise += 1
        if self._status.noise == 1:
            is_local = self._status.entry.transport == "stdio"
            what = "Prints on stdout, which is for the protocol" if is_local else "Sends what is no protocol"
            self.notice("warning", f"{what}: {head(text.strip(), NOISE_TOLD, self._mask)}")
        self._status.counted()

    def latency(self, seconds: float) -> None:
        """An answer took so long."""
        self._status.latency = seconds
        self._status.counted()

    def pulse(self, problem: str) -> None:
        """It does not answer, or does again."""
        if not self.is_live():
            return
        if problem:
            self._status.enter("degraded", problem)
        elif self._status.phase == "degraded":
            self._status.enter("ready", self._remark)

    def failed(self, failure: ServerFailure, sentence: str, *, retried: bool = False) -> ServerFailure:
        """It failed: keep why, and say it. Returned as it is kept."""
        kept = self._stores.failures.add(replace(failure, retried=retried))
        told = self._mask(sentence)[:SENTENCE]
        self._emit(ServerFailed(kept.server, kept.number, told, retried))
        return kept

    def kept(self, failure: ServerFailure) -> ServerFailure:
        """Keep why something failed that another tells of. Returned as it is kept."""
        return self._stores.failures.add(failure)

    @property
    def failure(self) -> ServerFailure | None:
        """What is the matter with it; None while it is well."""
        return None if self.is_retired else self._stores.failures.current(self._status.entry.name)

    def matters(self, failure: ServerFailure) -> None:
        """That is the matter with it from now on."""
        if not self.is_retired:
            self._stores.failures.matter(failure)

    def call_failed(self, failure: ServerFailure, began: int) -> None:
        """A call to it was lost on the way; `began` is where in the log it was made."""

        def lines() -> tuple[str, ...]:
            return tuple(self._log.tail(STDERR_TOLD, "stderr", began))

        kept = self._stores.failures.add(replace(failure, stderr=lines()))
        told = ServerFailed(kept.server, kept.number, kept.sentence[:SENTENCE])
        self._emit(told)

        def look_again() -> None:
            if self._stores.failures.amend(kept.number, lines()):
                self._emit(replace(told, again=True))

        # last words come by another pipe than the news that there is no answer
        asyncio.get_running_loop().call_later(STDERR_LAG, look_again)

    def note(self, sentence: str) -> None:
        """Something the person should know."""
        self.notice("info", sentence)

    def notice(self, severity: Severity, text: str) -> None:
        """A sentence for the person, secrets hidden."""
        self._emit(Notice(severity, self._mask(text), self._status.entry.name))
