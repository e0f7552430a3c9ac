"""Hears every message of one connection and puts it down in the trace of its server.

Which answer belongs to which request, to which tool and to which call. Not here: keeping frames (frames),
moving messages (wire). Costs microseconds a message: it runs for each.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hel_tui.core.mcp.causes import EXCHANGE
from hel_tui.core.mcp.figures import Figures
from hel_tui.core.mcp.frames import FrameStore
from hel_tui.core.mcp.gist import of_error, of_noise, of_params, of_result
from hel_tui.core.mcp.messages import Answer, Ask, Noise, Note, Parsed, coerce_id
from hel_tui.core.protocol import Direction
from hel_tui.core.store.redact import head

MOST_OPEN = 4096
"""Requests whose answer is waited for; of older ones the answer finds no pair."""
MOST_TOKENS = 4096
NAME_LENGTH = 200
ID_LENGTH = 300
_PLAIN = frozenset(
    ("tools/call", "ping", "notifications/progress", "notifications/message", "notifications/cancelled")
)
"""What comes most: nothing to look for in it."""

Id = int | str


@dataclass(slots=True)
class _Open:
    """A request that has no answer yet."""

    number: int
    method: str
    tool: str
    call: str
    since: float


@dataclass(slots=True)
class Trace:
    """Hears one life of one server."""

    store: FrameStore = field(default_factory=FrameStore)
    figures: Figures = field(default_factory=Figures)
    life: int = 0
    waited: Callable[[], float] = lambda: 0.0
    """Seconds in all that the server waited for a person: no part of any latency."""
    _open: OrderedDict[tuple[Direction, Id], _Open] = field(default_factory=OrderedDict)
    _calls: OrderedDict[Id, str] = field(default_factory=OrderedDict)
    """Progress token -> id of the call."""
    _running: list[str] = field(default_factory=list)
    """Ids of the calls under way."""

    # --------------------------------------------------------------------- calls

    def began(self, token: str, call: str) -> None:
        """A request with this progress token is made for that call."""
        if len(self._calls) >= MOST_TOKENS:
            self._calls.popitem(last=False)
        self._calls[token] = call
        self._running.append(call)

    def ended(self, call: str) -> None:
        """That request is over; what still comes with its token is still its own."""
        if call in self._running:
            self._running.remove(call)

    def _about(self) -> str:
        """The call that a request of the server is about, where that is clear."""
        return self._running[0] if len(self._running) == 1 else ""

    # ------------------------------------------------------------------ messages

    def sent(self, message: Any, body: bytes) -> int:
        """hel sends a message of the SDK's types; the number of its frame."""
        method, identity = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None:
            params = message.params
            if identity is not None:
                return self._request("out", identity, method, params, body, -1)
            return self._note("out", method, params, body, -1)
        error = getattr(message, "error", None)
        told = {"code": error.code, "message": error.message} if error is not None else None
        result = getattr(message, "result", None)
        return self._answer("out", identity, result, told, body, -1)

    def failed(self, identity: Id) -> None:
        """The request with this id gets no answer: the way to the server failed."""
        request = self._open.pop(("out", coerce_id(identity)), None)
        if request is not None:
            self.figures.unanswered("out", request.method)

    def came(self, messages: list[Parsed], line: bytes, size: int = -1) -> None:
        """A line of the server said this; `size` where it was longer than what is left of it."""
        exchange = EXCHANGE.get()
        for message in messages:
            body = line if len(messages) == 1 else _again(message)
            match message:
                case Answer(identity, result, error):
                    self._answer("in", identity, result, error, body, exchange)
                case Ask(identity, method, params):
                    self._request("in", identity, method, params, body, exchange)
                case Note(method, params):
                    self._note("in", method, params, body, exchange)
                case Noise(text):
                    self.store.add(
                        "in",
                        "noise",
                        body,
                        summary=of_noise(text, self.store.mask),
                        life=self.life,
                        failed=True,
                        exchange=exchange,
                        size=size if body is line else -1,
                    )

    def repeated(self, body: bytes) -> int:
        """The link sends a message again that was sent long ago; the number of its frame."""
        message = json.loads(body)
        method, identity, params = message.get("method", ""), message.get("id"), message.get("params")
        if identity is None:
            return self._note("out", method, params, body, -1)
        return self._request("out", identity, method, params, body, -1)

    def _request(
        self, direction: Direction, identity: Id, method: str, params: Any, body: bytes, exchange: int
    ) -> int:
        key, named = coerce_id(identity), self._name(method)
        tool = call = ""
        if direction == "in":
            call = self._about()
        elif isinstance(params, dict):
            if method == "tools/call" and isinstance(name := params.get("name"), str):
                tool = self._name(name)
            call = self._call_of(params)
        number = self.store.add(
            direction,
            "request",
            body,
            method=named,
            id=self._id(identity),
            tool=tool,
            summary=of_params(method, params, self.store.mask),
            call=call,
            life=self.life,
            exchange=exchange,
        )
        if len(self._open) >= MOST_OPEN:
            self._open.popitem(last=False)
        since = time.monotonic() - (self.waited() if direction == "out" else 0.0)
        self._open[direction, key] = _Open(number, named, tool, call, since)
        return number

    def _answer(
        self,
        direction: Direction,
        identity: Id | None,
        result: Any,
        error: Any,
        body: bytes,
        exchange: int,
    ) -> int:
        asker: Direction = "in" if direction == "out" else "out"
        if identity is None:
            mine = [key for key in self._open if key[0] == asker]
            request = self._open.pop(mine[0]) if len(mine) == 1 else None
        else:
            request = self._open.pop((asker, coerce_id(identity)), None)
        latency, method, tool, call = 0.0, "", "", ""
        mask = self.store.mask
        if request is not None:
            method, tool, call = request.method, request.tool, request.call
            waited = self.waited() if asker == "out" else 0.0
            latency = max(time.monotonic() - waited - request.since, 0.0)
        is_bad = error is not None or (isinstance(result, dict) and result.get("isError") is True)
        if request is not None:
            self.figures.answered(asker, method, latency, failed=is_bad)
        return self.store.add(
            direction,
            "result" if error is None else "error",
            body,
            method=method,
            id="" if identity is None else self._id(identity),
            tool=tool,
            summary=of_result(method, result, mask) if error is None else of_error(error, mask),
            call=call,
            life=self.life,
            failed=is_bad,
            answers=request.number if request is not None else -1,
            latency=latency,
            exchange=exchange,
        )

    def _note(self, direction: Direction, method: str, params: Any, body: bytes, exchange: int) -> int:
        call = ""
        if isinstance(params, dict):
            if method == "notifications/progress":
                call = self._calls.get(params.get("progressToken", ""), "") if _is_id(params) else ""
            elif method == "notifications/cancelled":
                request = params.get("requestId")
                if isinstance(request, int | str):
                    asked = self._open.get((direction, coerce_id(request)))
                    call = asked.call if asked is not None else ""
        return self.store.add(
            direction,
            "notification",
            body,
            method=self._name(method),
            summary=of_params(method, params, self.store.mask),
            call=call,
            life=self.life,
            exchange=exchange,
        )

    def _name(self, text: str) -> str:
        """The name of a method or a tool, which is foreign text as any other."""
        return text if text in _PLAIN else head(text, NAME_LENGTH, self.store.mask)

    def _id(self, identity: Id) -> str:
        if isinstance(identity, int):
            return str(identity)[:ID_LENGTH]
        return json.dumps(head(identity, NAME_LENGTH, self.store.mask), ensure_ascii=False)[:ID_LENGTH]

    def _call_of(self, params: dict[str, Any]) -> str:
        meta = params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        return self._calls.get(token, "") if isinstance(token, int | str) else ""


def _is_id(params: dict[str, Any]) -> bool:
    return isinstance(params.get("progressToken"), int | str)


def _again(message: Parsed) -> bytes:
    """A message that came among others on its line, as a line of its own."""
    said: dict[str, Any]
    match message:
        case Noise(text):
            return text.encode("utf-8", "replace")
        case Answer(identity, result, error):
            said = {"id": identity} | ({"result": result} if error is None else {"error": error})
        case Ask(identity, method, params):
            said = {"id": identity, "method": method, "params": params}
        case Note(method, params):
            said = {"method": method, "params": params}
    return json.dumps({"jsonrpc": "2.0", **said}, ensure_ascii=False, default=str).encode("utf-8", "replace")
