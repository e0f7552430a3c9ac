"""One life of one server: from its entry to a connection and back to nothing, whatever carries it.

Not here: processes (local), addresses (remote), whether there is another life after this one (supervisor),
the protocol (connection).
"""

from __future__ import annotations

import importlib
import logging
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hel_tui.core.guard import Guard
from hel_tui.core.mcp.asking import Helpers
from hel_tui.core.mcp.clock import Clock
from hel_tui.core.mcp.entries import Address, OnListChanged, ServerEntry, Unset
from hel_tui.core.mcp.failures import fault_in, innermost
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.leftovers import RunRecord
from hel_tui.core.mcp.limits import Limits
from hel_tui.core.mcp.logins import Logins
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.mcp.messages import NOISE_LENGTH
from hel_tui.core.mcp.process import GRACE
from hel_tui.core.mcp.switches import Switches
from hel_tui.core.mcp.trace import Trace
from hel_tui.core.mcp.verdicts import Verdicts
from hel_tui.core.protocol import ServerFailure
from hel_tui.core.store.places import find_places
from hel_tui.core.store.redact import head
from hel_tui.core.store.secrets import kept_value
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    from hel_tui.core.mcp.connection import Connection, ConnectionHooks
    from hel_tui.core.mcp.handshake import Hello
    from hel_tui.core.mcp.link import Link

NOISE_KEPT = 1000
"""Lines of noise that go to the log; more are counted only."""
_CONNECTION = "hel_tui.core.mcp.connection"
_sdk_loaded = threading.Event()


@dataclass(slots=True)
class Ground:
    """What the lives of all servers stand on."""

    project: Path
    environ: Mapping[str, str]
    guard: Guard
    record: RunRecord
    verdicts: Verdicts
    clock: Clock
    mask: Callable[[str], str]
    known: Callable[[str], str]
    """Hides the secrets that are known, and nothing that only looks like one."""
    hide: Callable[..., None]
    """Hears the credentials a server is given, before it starts."""
    mirror_folder: Callable[[], Path | None]
    """Where the session keeps what servers print on stderr."""
    probe_timeout: float
    helpers: Callable[[], Helpers]
    """Who answers what servers ask."""
    roots: Callable[[], tuple[Path, ...]]
    """The folders servers may take for the person's work."""
    logins: Logins
    """Who is authorized where."""
    on_list_changed: Callable[[], OnListChanged] = lambda: "refresh"
    switches: Callable[[str], Switches] = lambda _server: Switches()
    """What a server may ask for in this run."""
    grace: float = GRACE

    def keyring(self, name: str) -> str | None:
        """A value of the keyring, which from now on is hidden. May block: the keyring may ask the person."""
        value = kept_value(name, find_places(self.environ).state)
        self.hide(*filter(None, [value]))
        return value

    async def address_of(self, entry: ServerEntry) -> Address | Unset:
        """Where a remote server is, variables filled in; beside the loop."""
        from hel_tui.core.mcp.expand import expand_address

        return await in_thread(lambda: expand_address(entry, self.environ, self.keyring), "hel-expand")


@dataclass(slots=True)
class LifeHooks:
    """What the supervisor wants to know of a life."""

    connection: Callable[[], ConnectionHooks]
    on_started: Callable[[int], None]
    """The process runs; its pid."""
    on_lost: Callable[[], None]
    """The connection is over; ending what is left of the process may take a while."""
    limits: Limits
    """How much the server wanted lately; they outlive a connection."""
    on_noise: Callable[[str], None]
    on_latency: Callable[[float], None]
    trace: Trace
    """Hears every message of this life."""


@dataclass(slots=True)
class Life(ABC):
    """One connection of a server and what carries it. `run` once."""

    entry: ServerEntry
    ground: Ground
    log: LogStore
    hooks: LifeHooks
    connection: Connection | None = None
    """Set while there is one."""
    first_line: int = 0
    """Where in the log this life begins."""
    noise: list[str] = field(default_factory=list)
    advice: str = ""
    """What may help a start that takes long; empty when nothing is known to."""
    can_log_in: bool = False
    """A login of the person may help where credentials are refused."""
    _unwanted: str | None = None
    """Why it is to end; None while it is wanted, "" when that is no failure."""

    async def run(self) -> ServerFault:
        """Live until the end and say what it was; never raises for anything a server does."""
        try:
            await self._live()
        except Exception as error:
            if (fault := fault_in(error)) is not None:
                return self._judged(fault)
            for line in traceback.format_exception(error):
                self.log.remark(line.rstrip())
            cause = innermost(error)
            return ServerFault("run", f"a fault of hel ended the connection: {type(cause).__name__}: {cause}")
        return self._judged(self._end_fault())

    def _judged(self, fault: ServerFault) -> ServerFault:
        return ServerFault("handshake", self._unwanted) if self._unwanted else fault

    @abstractmethod
    async def _live(self) -> None:
        """From the entry to the end. Raises ServerFault."""

    @abstractmethod
    def _end_fault(self) -> ServerFault:
        """What ended it, after a connection that was ready."""

    @abstractmethod
    async def _cut(self) -> None:
        """End what carries the connection."""

    @property
    def pid(self) -> int:
        """Its process; 0 for a server that is none of this machine's, or before it runs."""
        return 0

    @abstractmethod
    def kill(self) -> None:
        """End it at once; safe from any thread."""

    @abstractmethod
    async def signs(self) -> tuple[float, ...]:
        """What moves while a starting server does something."""

    @abstractmethod
    async def look_for_helpers(self) -> None:
        """Note what the server has started, so that it goes too, even if hel is killed."""

    @abstractmethod
    def failure(self, fault: ServerFault) -> ServerFailure:
        """Everything known about how it failed."""

    # -------------------------------------------------------------------- shared

    async def _converse(self, link: Link, *, skip_probe: bool) -> None:
        """Hold the connection over `link` until one of them is over."""
        from hel_tui.core.mcp.connection import Connection
        from hel_tui.core.mcp.serving import Serving
        from hel_tui.core.mcp.wire import WireHooks

        hooks = self.hooks.connection()
        serving = Serving(
            self.entry,
            self.ground.roots,
            self.ground.helpers(),
            hooks.on_note,
            limits=self.hooks.limits,
            mask=self.ground.mask,
            switches=self.ground.switches(self.entry.name),
        )
        wire_hooks = WireHooks(
            on_noise=self._take_noise,
            on_note=lambda _method, _params: None,
            on_stray=self.log.remark,
            on_latency=self.hooks.on_latency,
            trace=self.hooks.trace,
        )
        connection = self.connection = Connection(
            self.entry,
            link,
            serving,
            hooks,
            wire_hooks,
            probe_timeout=self.ground.probe_timeout,
            refreshes=(self.entry.on_list_changed or self.ground.on_list_changed()) == "refresh",
        )
        try:
            await connection.live(skip_probe=skip_probe)
        finally:
            self.connection = None

    def _take_noise(self, text: str) -> None:
        if len(self.noise) < NOISE_KEPT:
            self.noise.append(head(text, NOISE_LENGTH, self.ground.mask))
            self.log.append([self.noise[-1]], "stdout")
        self.hooks.on_noise(text)

    async def remember(self, hello: Hello) -> None:
        """Note for later starts whether the server ignores the probe."""
        verdicts, definition = self.ground.verdicts, self.entry.definition
        if hello.ignored_probe:
            await in_thread(lambda: verdicts.note_silence(definition), "hel-verdict")
        elif hello.era == "stateless" and verdicts.ignores_probe(definition):
            await in_thread(lambda: verdicts.forget(definition), "hel-verdict")

    @property
    def is_wanted(self) -> bool:
        """False once it is to end."""
        return self._unwanted is None

    async def stop(self, why: str = "") -> None:
        """End it. `why` makes it a failure with that sentence."""
        self.give_up(why)
        await self._cut()

    def give_up(self, why: str = "") -> None:
        """It is to end: nothing it still tells matters. `stop` then ends it."""
        self._unwanted = why


async def load_sdk() -> None:
    """Import the SDK in a thread of its own: it takes a second or more, and the loop must go on.

    A module stands in `sys.modules` before it can be used, so only a finished import counts; who comes
    meanwhile waits in a thread too.
    """
    if _sdk_loaded.is_set():
        return
    for name in ("client", "mcp", "httpx2"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False  # what the SDK logs would land on the terminal
    await in_thread(_import_sdk, "hel-import-mcp")


def _import_sdk() -> None:
    importlib.import_module(_CONNECTION)
    _sdk_loaded.set()
