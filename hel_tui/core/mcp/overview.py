"""What both sides of a connection can, and how it goes: what the overview of a server shows.

Reads what others keep; safe from any thread. Not here: the state of a server (status), its lists
(catalogue, shelf).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hel_tui.core.mcp.switches import SWITCHES
from hel_tui.core.protocol import Capability, ServerInside, Switch

if TYPE_CHECKING:
    from hel_tui.core.mcp.catalogue import Catalogue
    from hel_tui.core.mcp.supervisor import Supervisor

MOST_ROWS = 100
LENGTH = 100

SERVER_SIDE = (
    *("tools", "tools.listChanged", "resources", "resources.subscribe", "resources.listChanged"),
    *("prompts", "prompts.listChanged", "completions", "logging"),
)
"""Capabilities of servers that the specification names; they are listed also where they are not declared."""
HEL_SIDE: tuple[tuple[str, Switch], ...] = (
    ("roots", "roots"),
    ("roots.listChanged", "roots"),
    ("elicitation.form", "elicitation"),
    ("elicitation.url", "elicitation"),
    ("sampling", "sampling"),
    ("sampling.tools", "sampling"),
)


def overview(supervisor: Supervisor, catalogue: Catalogue) -> ServerInside:
    """Gather it."""
    entry, stores, hello = supervisor.entry, supervisor.stores, supervisor.hello
    switches = stores.switches
    rows = [row for row in catalogue.rows_of(entry.name) if not row.reason]
    return ServerInside(
        server=entry.name,
        era=hello.era if hello is not None else "",
        server_name=hello.name if hello is not None else "",
        server_version=hello.release if hello is not None else "",
        instructions=hello.instructions if hello is not None else "",
        capabilities=(
            *(_server_side(hello.capabilities) if hello is not None else ()),
            *_hel_side(supervisor),
        ),
        switches=tuple((what, switches.allows(entry, what)) for what in SWITCHES),
        methods=stores.figures.rows(),
        tokens=sum(row.tokens for row in rows),
        loaded_tokens=sum(row.tokens for row in rows if row.loaded),
        breaker=supervisor.contact.breaker,
        log_level=supervisor.contact.log_level,
        sessions=stores.frames.sessions,
    )


def _server_side(declared: dict[str, Any]) -> Iterable[Capability]:
    found = dict.fromkeys(_names(declared))
    known = [Capability(name, "server", name in found) for name in SERVER_SIDE]
    more = [Capability(name, "server", True) for name in found if name not in SERVER_SIDE]
    return (*known, *more[:MOST_ROWS])


def _names(declared: dict[str, Any]) -> Iterator[str]:
    """Names of what is declared, with those one level down."""
    for name, value in list(declared.items())[:MOST_ROWS]:
        if value is None or value is False:
            continue
        yield str(name)[:LENGTH]
        for inner, said in list(value.items())[:MOST_ROWS] if isinstance(value, dict) else ():
            if said is not None and said is not False:
                yield f"{name}.{inner}"[:LENGTH]


def _hel_side(supervisor: Supervisor) -> Iterator[Capability]:
    switches, entry = supervisor.stores.switches, supervisor.entry
    for name, what in HEL_SIDE:
        allowed = switches.allows(entry, what)
        declared = what in switches.declared if switches.declared is not None else allowed
        note = ""
        if declared and not allowed:
            note = "refused now; declared until the next start"
        elif allowed and not declared:
            note = "declared from the next start on"
        yield Capability(name, "hel", declared, note)
