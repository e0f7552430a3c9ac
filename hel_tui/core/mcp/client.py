"""The SDK's client session as hel uses it: raw answers, nothing that throws a good result away.

Leans on three private seams of mcp 2.3 (`_dispatcher`, `_stamp`, `_build_capabilities`): tests pin them.
Imports the SDK: import late. Not here: moving bytes (wire), the order of a connection (connection).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client.session import ClientRequestContext, ClientSession
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types.version import LATEST_HANDSHAKE_VERSION

import hel_tui
from hel_tui.core.mcp.wire import Wire
from hel_tui.core.vocabulary import Json

__all__ = ["MCPError", "Session", "open_session"]


class Session(ClientSession):
    """A client session whose requests are answered with what the server sent."""

    async def ask(self, method: str, params: Json, *, request_id: types.RequestId | None = None) -> Json:
        """Send a request in the negotiated era and return its raw result.

        Raises MCPError for an error answer or a closed connection. No time limit: cancelling the task
        sends `notifications/cancelled` (never for initialize and server/discover).
        """
        data: Json = {"method": method, "params": dict(params)}
        options: CallOptions = {}
        self._stamp(data, options)
        if request_id is not None:
            options["request_id"] = request_id
        return await self._dispatcher.send_raw_request(method, data["params"], options)

    async def tell(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        await self._dispatcher.notify(method, params)

    def hello(self) -> Json:
        """Return the params of `initialize`."""
        params = types.InitializeRequestParams(
            protocol_version=LATEST_HANDSHAKE_VERSION,
            capabilities=self._build_capabilities(LATEST_HANDSHAKE_VERSION),
            client_info=self._client_info,
        )
        return params.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """A result that does not fit its declared schema is still a result."""


def open_session(wire: Wire, root: Path | None) -> Session:
    """Return a session over `wire`, to be entered and left in one task. `root` is shown as the only root."""

    async def list_roots(context: ClientRequestContext) -> types.ListRootsResult:  # noqa: ARG001
        assert root is not None
        return types.ListRootsResult.model_validate(roots_result(root))

    dispatcher: JSONRPCDispatcher[Any] = JSONRPCDispatcher(wire.from_server, wire.to_server)
    return Session(
        dispatcher=dispatcher,
        list_roots_callback=list_roots if root is not None else None,
        client_info=types.Implementation(name="hel", version=hel_tui.__version__),
        log_level="info",
    )


def roots_result(root: Path) -> Json:
    """Return the answer to `roots/list`."""
    return {"roots": [{"uri": root.as_uri(), "name": root.name or "/"}]}
