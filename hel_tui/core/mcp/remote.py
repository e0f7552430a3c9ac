"""One life of a server that is reached over HTTP: its address, credentials, and the connection to it.

Streamable HTTP first, the older HTTP with SSE where a server only speaks that (specification, transports:
backwards compatibility). Not here: requests and streams (http), authorization (auth).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from hel_tui.core.mcp.authorizing import Authorizer, NoAuthorizer
from hel_tui.core.mcp.entries import Address, Unset
from hel_tui.core.mcp.exchanges import Exchanges
from hel_tui.core.mcp.expand import values_filled_in
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.launching import base_environment
from hel_tui.core.mcp.life import Life, load_sdk
from hel_tui.core.mcp.logins import why_no_login
from hel_tui.core.protocol import ServerFailure
from hel_tui.core.store.redact import redact_shapes
from hel_tui.core.threads import in_thread

if TYPE_CHECKING:
    from hel_tui.core.mcp.http.target import Target
    from hel_tui.core.mcp.link import Link

NOT_STREAMABLE = (400, 404, 405)
"""HTTP statuses with which a server of the older transport refuses a POST (specification, transports)."""


@dataclass(slots=True)
class RemoteLife(Life):
    """One session of a remote server. `run` once."""

    address: Address | None = None
    _link: Link | None = None
    _left: str = ""
    """How the connection ended."""

    async def _live(self) -> None:
        found = await self.ground.address_of(self.entry)
        if isinstance(found, Unset):
            raise found.fault()
        address = self.address = found
        target = await self._target(address)
        await load_sdk()
        authorizer = await self._authorizer(target, address)
        self.first_line = self.log.end
        self.log.started(f"connecting to {self._shown()}")
        try:
            await self._talk(target, authorizer)
        except ServerFault as fault:
            if fault.needs_login and not self.can_log_in:  # what it was given is refused: no login can help
                fault.needs_login, fault.lasting = False, True
            raise
        finally:
            self._link = None
            self.hooks.on_lost()
            self.log.remark("connection closed")

    async def _target(self, address: Address) -> Target:
        from hel_tui.core.mcp.http.hiding import header_secrets
        from hel_tui.core.mcp.http.target import target_of

        environ = self.ground.environ
        self.ground.hide(*values_filled_in((value for _, value in self.entry.headers), environ))
        try:
            target = target_of(
                address.url,
                address.headers,
                ca=Path(address.ca) if address.ca else None,
                insecure=self.entry.insecure,
                environ=environ,
            )
        except ValueError as error:
            raise ServerFault("find", str(error), lasting=True) from error
        self.ground.hide(*header_secrets(target.headers), unquote(urlsplit(address.url).password or ""))
        return target

    async def _talk(self, target: Target, authorizer: Authorizer) -> None:
        """Hold a connection; with the older transport where the newer one is not spoken."""
        verdicts, definition = self.ground.verdicts, self.entry.definition
        if self.entry.transport == "sse":
            await self._over(await self._legacy(target, authorizer))
            return
        if verdicts.speaks_sse(definition):
            try:
                await self._over(await self._legacy(target, authorizer))
                return
            except ServerFault as fault:
                if fault.status not in (*NOT_STREAMABLE, 406, 415):
                    raise
            await in_thread(lambda: verdicts.forget_sse(definition), "hel-verdict")
        try:
            await self._over(await self._streamable(target, authorizer))
        except ServerFault as fault:
            if fault.status not in NOT_STREAMABLE or self.entry.protocol == "stateless" or not self.is_wanted:
                raise
            self.log.remark(f"it refused the request (HTTP {fault.status}): trying the older HTTP with SSE")
            await self._fall_back(target, authorizer, fault)

    async def _fall_back(self, target: Target, authorizer: Authorizer, first: ServerFault) -> None:
        link = await self._legacy(target, authorizer)
        try:
            await self._over(link)
        except ServerFault as fault:
            if not link.opened:  # neither of the two: the first refusal says more
                raise first from fault
            raise
        verdicts, definition = self.ground.verdicts, self.entry.definition
        await in_thread(lambda: verdicts.note_sse(definition), "hel-verdict")

    async def _over(self, link: Link) -> None:
        if not self.is_wanted:
            return
        self._link = link
        ignores = self.ground.verdicts.ignores_probe(self.entry.definition)
        await self._converse(link, skip_probe=ignores)
        self._left = await link.how_it_ended()

    # ---------------------------------------------------------------------- links

    async def _streamable(self, target: Target, authorizer: Authorizer) -> Any:
        from hel_tui.core.mcp.http.streamable import StreamableLink

        return StreamableLink(target, authorizer, self._http_hooks())

    async def _legacy(self, target: Target, authorizer: Authorizer) -> Any:
        from hel_tui.core.mcp.http.legacy import SseLink

        return SseLink(target, authorizer, self._http_hooks())

    def _http_hooks(self) -> Any:
        from hel_tui.core.mcp.http.sending import HttpHooks

        return HttpHooks(
            on_session_renewed=self._renewed,
            on_unreachable=self._suspect,
            on_remark=self.log.remark,
            exchanges=Exchanges(self.hooks.trace),
        )

    async def _authorizer(self, target: Target, address: Address) -> Authorizer:
        """Who gives credentials: a command, nobody where a header does already or OAuth is off, or OAuth."""
        if address.helper:
            from hel_tui.core.mcp.http.helper import HeadersHelper

            env = {
                **base_environment(self.ground.environ),
                **dict(address.env),
                "HEL_MCP_SERVER_NAME": self.entry.name,
                "HEL_MCP_SERVER_URL": target.url,
            }
            return HeadersHelper(address.helper, env, address.cwd, self.ground.hide, guard=self.ground.guard)
        if why_no_login(self.entry, address):
            return NoAuthorizer()
        self.can_log_in = True
        return await self.ground.logins.of(self.entry, address)

    def _suspect(self, sentence: str) -> None:
        """It could not be reached: find out for how long."""
        self.log.remark(sentence)
        if self.connection is not None:
            self.connection.suspect()

    def _renewed(self) -> None:
        self.log.remark("its session had expired; a new one was begun")
        if self.connection is not None:
            self.connection.lists_doubtful()

    # ------------------------------------------------------------------------ end

    def _end_fault(self) -> ServerFault:
        return ServerFault("run", self._left or "the connection ended")

    async def _cut(self) -> None:
        if self._link is not None:
            self._link.finish()

    async def look_for_helpers(self) -> None:
        """What a remote server starts is no concern of this machine."""

    def kill(self) -> None:
        """There is no process: what is open falls with the loop."""

    async def signs(self) -> tuple[float, ...]:
        """Nothing moves here while one waits."""
        return ()

    def _shown(self) -> str:
        return self.ground.mask(
            redact_shapes(self.address.url if self.address is not None else self.entry.url)
        )

    def failure(self, fault: ServerFault) -> ServerFailure:
        """Everything known about how it failed."""
        return ServerFailure(
            server=self.entry.name,
            stage=fault.stage,
            sentence=fault.sentence,
            command_line=self._shown(),
            noise=tuple(self.noise[:5]),
        )
