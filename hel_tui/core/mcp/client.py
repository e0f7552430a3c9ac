"""The SDK's client session as hel uses it: raw answers, nothing that throws a good result away.

Leans on private seams of mcp 2.3 (`_dispatcher`, `_stamp`, `_build_capabilities`, `_x_mcp_header_maps`):
tests pin them. Imports the SDK: import late. Not here: moving bytes (wire), the order of a connection
(connection), what a server may ask (serving).
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import LATEST_HANDSHAKE_VERSION

import hel_tui
from hel_tui.core.mcp.wire import Wire
from hel_tui.core.protocol import LogLevel
from hel_tui.core.vocabulary import Json

__all__ = ["MCPError", "Session", "header_problem", "open_session"]


class Session(ClientSession):
    """A client session whose requests are answered with what the server sent."""

    declared: Json
    """The client capabilities hel declares."""

    def declare(self, capabilities: Json) -> None:
        """Declare these from now on: in the stateless era with each request, else from the next start on."""
        self.declared = capabilities
        if self._discover_result is not None:
            self.adopt(self._discover_result)

    def ask_for_logs(self, level: LogLevel | None) -> None:
        """In the stateless era every request says which log messages it wants; None for none."""
        self._log_level = level
        if self._discover_result is not None:
            self.adopt(self._discover_result)

    async def ask(self, method: str, params: Json, *, request_id: types.RequestId | None = None) -> Json:
        """Send a request in the negotiated era and return its raw result.

        Raises MCPError for an error answer, a failed link (its data is a `LinkFault`) or a closed connection.
        No time limit: cancelling the task sends `notifications/cancelled` (never for initialize and
        server/discover).
        """
        data: Json = {"method": method, "params": dict(params)}
        options: CallOptions = {}
        self._stamp(data, options)
        if request_id is not None:
            options["request_id"] = request_id
        return await self._dispatcher.send_raw_request(method, data["params"], options)

    async def tell(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        data: Json = {"method": method, "params": dict(params or {})}
        options: CallOptions = {}
        self._stamp(data, options)
        await self._dispatcher.notify(method, data["params"] or None, options)

    def hello(self) -> Json:
        """Return the params of `initialize`."""
        params = types.InitializeRequestParams(
            protocol_version=LATEST_HANDSHAKE_VERSION,
            capabilities=self._build_capabilities(LATEST_HANDSHAKE_VERSION),
            client_info=self._client_info,
        )
        return params.model_dump(by_alias=True, mode="json", exclude_none=True)

    def mirror_headers(self, schemas: dict[str, Json]) -> None:
        """Note which arguments of which tool HTTP repeats as headers (2026-07-28, transports)."""
        self._x_mcp_header_maps = {name: x_mcp_header_map(schema) for name, schema in schemas.items()}

    def _build_capabilities(self, version: str) -> types.ClientCapabilities:  # noqa: ARG002
        return types.ClientCapabilities.model_validate(self.declared)

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """A result that does not fit its declared schema is still a result."""


def header_problem(schema: Any) -> str:
    """Why a tool with this inputSchema must not be used over HTTP; empty when it may."""
    return find_invalid_x_mcp_header(schema) or ""


def open_session(wire: Wire, capabilities: Json) -> Session:
    """Return a session over `wire` that declares `capabilities`, to be entered and left in one task."""
    dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(wire.from_server, wire.to_server)
    session = Session(
        dispatcher=dispatcher,
        client_info=types.Implementation(name="hel", version=hel_tui.__version__),
        log_level="info",
    )
    session.declared = capabilities
    return session
