"""Opening a session: which era and revision of the protocol a server speaks, and what it says of itself.

Both eras: `server/discover` (2026-07-28, stateless) is tried first, anything but a clear answer means
`initialize`. Imports the SDK: import late. Not here: remembering who ignores the probe (verdicts).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import mcp_types as types
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import ValidationError

from hel_tui.core.mcp.client import MCPError, Session
from hel_tui.core.mcp.entries import Protocol
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.link import LinkFault
from hel_tui.core.mcp.messages import kind_of
from hel_tui.core.store.redact import MARGIN, head
from hel_tui.core.vocabulary import Json

PROBE_TIMEOUT = 10.0
"""Seconds `server/discover` may take before the old handshake is tried."""

INSTRUCTIONS = 20_000
"""Characters of a server's instructions that are kept."""
NAME = 200
"""As many of its own name, and of its own version."""
_KEPT = NAME + MARGIN


@dataclass(frozen=True, slots=True)
class Hello:
    """What a server said when it was greeted."""

    version: str
    era: Literal["handshake", "stateless"]
    capabilities: Json
    name: str = ""
    """What it calls itself, for display only."""
    release: str = ""
    """The version of its own that it names, for display only."""
    ignored_probe: bool = False
    instructions: str = ""
    """What it says of its use, at most `INSTRUCTIONS` characters once `masked`: for the person, never for
    the model."""

    def masked(self, mask: Callable[[str], str]) -> Hello:
        """What it said of itself without secrets, and cut."""
        return replace(
            self,
            name=head(self.name, NAME, mask),
            release=head(self.release, NAME, mask),
            instructions=head(self.instructions, INSTRUCTIONS, mask),
        )

    def offers(self, kind: str) -> bool:
        """True if it declared the capability `kind`, such as `tools`."""
        return isinstance(self.capabilities.get(kind), dict)

    @property
    def subscribes(self) -> bool:
        """True if it declared that updates of resources can be subscribed to."""
        resources = self.capabilities.get("resources")
        return isinstance(resources, dict) and resources.get("subscribe") is True

    def tells_changes(self, kind: str) -> bool:
        """True if it declared that it sends list changes of `kind`."""
        capability = self.capabilities.get(kind)
        return isinstance(capability, dict) and capability.get("listChanged") is True


async def greet(
    session: Session,
    *,
    skip_probe: bool,
    protocol: Protocol = "auto",
    probe_timeout: float = PROBE_TIMEOUT,
) -> Hello:
    """Negotiate on a fresh session. Raises ServerFault (stage handshake) or MCPError (connection closed).

    `protocol` is what the entry says: to find out, or the one era that is to be spoken.
    """
    ignored = False
    if protocol == "stateless":
        return await _only_stateless(session, probe_timeout)
    if not skip_probe and protocol == "auto":
        found = await _probe(session, LATEST_MODERN_VERSION, probe_timeout)
        if isinstance(found, Hello):
            return found
        ignored = found is None
    try:
        raw = await session.ask("initialize", session.hello())
    except MCPError as error:
        if error.code != UNSUPPORTED_PROTOCOL_VERSION or protocol != "auto":
            raise
        # The code itself says that the server is stateless: it was slow to answer the probe, or updated.
        found = await _probe(session, _mutual(error) or LATEST_MODERN_VERSION, probe_timeout)
        if isinstance(found, Hello):
            return found
        raise
    return await _accept(session, raw, ignored)


async def _only_stateless(session: Session, timeout: float) -> Hello:
    found = await _probe(session, LATEST_MODERN_VERSION, timeout)
    if isinstance(found, Hello):
        return found
    how = f"did not answer server/discover within {timeout:.0f} s" if found is None else "does not speak it"
    raise ServerFault(
        "handshake",
        f"its entry says `protocol`: stateless ({LATEST_MODERN_VERSION}), and it {how}",
        lasting=True,
    )


async def _probe(session: Session, version: str, timeout: float) -> Hello | Literal[False] | None:
    """Ask `server/discover`: a Hello, False for "speaks the old one", None for no answer."""
    for _ in range(2):
        try:
            async with asyncio.timeout(timeout):
                raw = await session.send_discover(version)
        except TimeoutError:
            return None
        except MCPError as error:
            if _is_final(error):
                raise
            if error.code != UNSUPPORTED_PROTOCOL_VERSION:
                return False
            mutual = _mutual(error)
            if mutual is None:
                _refuse_if_foreign(_supported(error))
                return False
            version = mutual
            continue
        return _adopt(session, raw)
    return False


def _is_final(error: MCPError) -> bool:
    """True when the same would become of any request: there is no way to the server, or no entry."""
    fault = error.error.data
    return isinstance(fault, LinkFault) and (fault.kind in ("unreachable", "login") or fault.status >= 500)


def _adopt(session: Session, raw: Json) -> Hello | Literal[False]:
    try:
        result = types.DiscoverResult.model_validate(raw)
        session.adopt(result)
    except (ValidationError, RuntimeError):
        return False  # no answer of a stateless server, or of one that only speaks older revisions
    capabilities = raw.get("capabilities")
    info: Json = session.server_info.model_dump() if session.server_info else {}
    return Hello(
        version=session.protocol_version or "",
        era="stateless",
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        name=_text(info.get("name"))[:_KEPT],
        release=_text(info.get("version"))[:_KEPT],
        instructions=_text(raw.get("instructions"))[: INSTRUCTIONS + MARGIN],
    )


async def _accept(session: Session, raw: Json, ignored_probe: bool) -> Hello:
    """Check the answer to initialize by hand: its sentence names what is missing."""
    version, capabilities, info = (raw.get(key) for key in ("protocolVersion", "capabilities", "serverInfo"))
    problems = [
        f"{key} is {'missing' if raw.get(key) is None else kind_of(raw[key])}"
        for key, kind in (("protocolVersion", str), ("capabilities", dict), ("serverInfo", dict))
        if not isinstance(raw.get(key), kind)
    ]
    if problems:
        raise ServerFault("handshake", f"its answer to initialize is incomplete: {', '.join(problems)}")
    assert isinstance(version, str) and isinstance(capabilities, dict) and isinstance(info, dict)
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise _foreign_version(version)
    session.adopt(
        types.InitializeResult(
            protocol_version=version,
            capabilities=types.ServerCapabilities(),
            server_info=types.Implementation(name=_text(info.get("name")), version=""),
        )
    )
    await session.tell("notifications/initialized")
    return Hello(
        version=version,
        era="handshake",
        capabilities=capabilities,
        name=_text(info.get("name"))[:_KEPT],
        release=_text(info.get("version"))[:_KEPT],
        ignored_probe=ignored_probe,
        instructions=_text(raw.get("instructions"))[: INSTRUCTIONS + MARGIN],
    )


def _foreign_version(version: str) -> ServerFault:
    spoken = ", ".join(KNOWN_PROTOCOL_VERSIONS)
    return ServerFault(
        "handshake",
        f"it speaks protocol version {version:.40}, which hel does not (hel speaks {spoken})",
        lasting=True,
    )


def _refuse_if_foreign(supported: list[str]) -> None:
    if supported and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in supported):
        raise _foreign_version(" and ".join(supported[:5]))


def _supported(error: MCPError) -> list[str]:
    data = error.data
    supported = data.get("supported") if isinstance(data, dict) else None
    return [one for one in supported if isinstance(one, str)] if isinstance(supported, list) else []


def _mutual(error: MCPError) -> str | None:
    supported = _supported(error)
    mutual = [version for version in MODERN_PROTOCOL_VERSIONS if version in supported]
    return mutual[-1] if mutual else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
