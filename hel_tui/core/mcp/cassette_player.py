"""Answers a client from a cassette, as the server did that is on it.

Ids and progress tokens are the client's own; what the server sent around an answer is sent again around it.
Not here: reading lines and writing them (cli), how a cassette is parted into steps (cassette_steps).
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from hel_tui.core.mcp.cassette import Cassette, Taped
from hel_tui.core.mcp.cassette_steps import (
    LISTEN,
    Match,
    Step,
    key_of,
    name_of,
    progress_token,
    steps_of,
    told,
)
from hel_tui.core.vocabulary import Json

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
FREE = frozenset({"initialize", "server/discover", "ping", "logging/setLevel", *LISTS})
"""Requests that are answered whenever they come, also where the order counts."""
HANDSHAKE = "2025-11-25"
"""The revision that is spoken with a client that shakes hands, where the cassette knows none."""
NOT_RECORDED = -32602
NOT_FOUND = -32601
INVALID = -32600
PATIENCE = 60.0
"""Seconds the client has to answer a request of the server."""
LONGEST_PAUSE = 60.0
_MOST_NEAR = 500
"""Requests among which the nearest one is looked for."""
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Player:
    """One session with one client. Lives in one loop."""

    def __init__(
        self,
        cassette: Cassette,
        send: Callable[[Json | str], None],
        *,
        strict: bool = False,
        match: Match = "arguments",
        latency: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`send` writes a message, or a line of what was no message. `latency`: take as long as it took, by
        `sleep` of so many seconds.
        """
        self._cassette = cassette
        self._send = send
        self._strict = strict
        self._match = match
        self._latency = latency
        self._sleep = sleep
        self._steps = steps_of(cassette)
        self._in_order = [step for step in self._steps if step.is_request and step.method not in FREE]
        self._at = 0
        """How many of those were asked for."""
        self._by_key: dict[str, list[Step]] = {}
        self._by_method: dict[str, list[Step]] = {}
        for step in self._steps:
            self._by_key.setdefault(key_of(step.method, step.params, match), []).append(step)
            self._by_method.setdefault(step.method, []).append(step)
        self._used: dict[str, int] = {}
        """How often each was played, by its key."""
        self._playing: dict[Any, asyncio.Task[None]] = {}
        self._asked: dict[str, asyncio.Future[None]] = {}
        self._listening: dict[str, Any] = {}
        """Ids of recorded subscriptions, as keys: what the client calls them."""
        self._numbers = itertools.count(1)

    def take(self, message: Any) -> None:
        """Take one message of the client; what follows of it is sent later. One that is none is refused."""
        for one in message if isinstance(message, list) and message else [message]:
            if isinstance(one, dict):
                self._take(one)
            else:
                self.refuse("a message is an object")

    def refuse(self, sentence: str) -> None:
        """Answer what is no message, or has no id that could be answered (JSON-RPC 2.0, section 5)."""
        self._send({"jsonrpc": "2.0", "id": None, **_error(f"Invalid Request: {sentence}", INVALID)})

    async def done(self, limit: float) -> None:
        """Wait for what is being played, at most so many seconds."""
        tasks = tuple(self._playing.values())
        if tasks:
            await asyncio.wait(tasks, timeout=limit)
        for task in tasks:
            task.cancel()

    def _take(self, message: Json) -> None:
        method, identity = message.get("method"), message.get("id")
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        assert isinstance(params, dict)
        if not isinstance(method, str):
            waiting = self._asked.pop(str(identity), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)
        elif method == "notifications/cancelled":
            meant = params.get("requestId")
            if _is_id(meant) and (task := self._playing.get(meant)) is not None:
                task.cancel()
        elif "id" not in message:
            step = self._next(key_of(method, params, self._match), self._by_key)
            if step is not None:
                self._start(object(), self._play(step, None, {}))
        elif _is_id(identity):
            self._request(method, identity, params)
        else:
            self.refuse("an id is a string or a whole number")

    def _start(self, name: Any, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._playing[name] = task

        def over(done: asyncio.Task[None]) -> None:
            if self._playing.get(name) is done:
                del self._playing[name]
            if not done.cancelled():
                done.result()

        task.add_done_callback(over)

    # ------------------------------------------------------------------- finding

    def _request(self, method: str, identity: Any, params: Json) -> None:
        step = self._found(method, params)
        if isinstance(step, Step):
            self._start(identity, self._play(step, identity, params))
        else:
            self._send({"jsonrpc": "2.0", "id": identity, **step})

    def _found(self, method: str, params: Json) -> Step | Json:
        """The step that answers a request, or the rest of an answer without one."""
        key = key_of(method, params, self._match)
        if method in FREE:
            step = self._next(key, self._by_key) or self._next(method, self._by_method)
            return step if step is not None else self._of_its_own(method, params)
        if not self._strict:
            step = self._next(key, self._by_key)
            return step if step is not None else self._unknown(method, params)
        if self._at >= len(self._in_order):
            return _error(f"the cassette is at its end; {told(method, params)} is not on it any more")
        expected = self._in_order[self._at]
        if key_of(expected.method, expected.params, self._match) != key:
            place = f"request {self._at + 1} of the cassette is {told(expected.method, expected.params)}"
            return _error(f"{place}, not {told(method, params)}")
        self._at += 1
        return expected

    def _next(self, key: str, steps: dict[str, list[Step]]) -> Step | None:
        """The next step of this key; the last one again when all were played. Answered ones go first."""
        found = steps.get(key, [])
        found = [step for step in found if step.answer is not None or not step.is_request] or found
        if not found:
            return None
        at = self._used.get(key, 0)
        self._used[key] = at + 1
        return found[min(at, len(found) - 1)]

    def _unknown(self, method: str, params: Json) -> Json:
        asked = told(method, params)
        known = list(dict.fromkeys(told(step.method, step.params) for step in self._in_order))
        same = [one for one in known if one.split(" ")[0] == method]
        near = difflib.get_close_matches(asked, [*same, *known][:_MOST_NEAR], 1, 0.3)
        nearest = (near or same or known)[:1]
        then = f"; the nearest is {nearest[0]}" if nearest else "; it has no such request at all"
        return _error(f"{asked} is not on the cassette{then}")

    def _of_its_own(self, method: str, params: Json) -> Json:
        """What is answered although it was never asked while the cassette was recorded."""
        if method in LISTS:
            return {"result": {LISTS[method]: []}}
        if method == "initialize":
            return {"result": self._hello(params)}
        if method == "server/discover":
            return _error("Method not found", NOT_FOUND)
        return {"result": {}}

    def _hello(self, params: Json) -> Json:
        """The answer to `initialize` of a server that was recorded without one."""
        found: Json = {}
        for step in self._by_method.get("server/discover", []):
            result = (step.answer.message if step.answer is not None else {}).get("result")
            found = result if isinstance(result, dict) else found
        asked = params.get("protocolVersion")
        version = asked if isinstance(asked, str) and asked <= HANDSHAKE else HANDSHAKE
        info = found.get("serverInfo") or {"name": self._cassette.server or "cassette", "version": "0"}
        capabilities = found.get("capabilities")
        return {
            "protocolVersion": version,
            "capabilities": capabilities if isinstance(capabilities, dict) else {"tools": {}},
            "serverInfo": info,
        }

    # ------------------------------------------------------------------- playing

    async def _play(self, step: Step, identity: Any, params: Json) -> None:
        """Send what the server sent for this step, its answer with the client's id."""
        now = step.sent.time
        if step.method == LISTEN:
            self._listening[name_of(step.id)] = identity
        for frame in step.before:
            now = await self._pause(now, frame)
            await self._tell(frame, step, params)
        if step.method != LISTEN or not step.before:  # one that was heard ends with the recording, not before
            now = await self._end(step, identity, params, now)
        for frame in step.after:
            now = await self._pause(now, frame)
            await self._tell(frame, step, params)

    async def _end(self, step: Step, identity: Any, params: Json, now: float) -> float:
        """Answer a request as it was answered; one that never was is refused."""
        if step.answer is not None:
            now = await self._pause(now, step.answer)
            self._send(self._answer(step, identity, params))
        elif step.is_request and step.method != LISTEN:
            why = _error(f"{told(step.method, step.params)} was not answered when it was recorded")
            self._send({"jsonrpc": "2.0", "id": identity, **why})
        return now

    async def _pause(self, now: float, frame: Taped) -> float:
        if self._latency:
            await self._sleep(min(LONGEST_PAUSE, max(0.0, frame.time - now)))
        return frame.time

    def _answer(self, step: Step, identity: Any, params: Json) -> Json:
        assert step.answer is not None
        message: Json = {**step.answer.message, "id": identity}
        result = message.get("result")
        asked = params.get("protocolVersion")
        if step.method == "initialize" and isinstance(result, dict) and isinstance(asked, str):
            spoken = result.get("protocolVersion")
            if isinstance(spoken, str) and asked < spoken:  # revisions are dates: the older one is common
                message["result"] = {**result, "protocolVersion": asked}
        return message

    async def _tell(self, frame: Taped, step: Step, params: Json) -> None:
        """Send a notification or a request of the server; wait for the answer to a request."""
        message = frame.message
        if not isinstance(message, dict):
            self._send(frame.text)
            return
        if message.get("id") is not None:
            await self._ask(message)
            return
        if message.get("method") == "notifications/cancelled":  # of a request that has another id now
            return
        said = message.get("params")
        if isinstance(said, dict):
            if "progressToken" in said and said["progressToken"] == progress_token(step.params):
                token = progress_token(params)
                if token is None:
                    return
                message = {**message, "params": {**said, "progressToken": token}}
            meta = said.get("_meta")
            if isinstance(meta, dict) and _SUBSCRIPTION in meta:
                mine = self._listening.get(name_of(meta[_SUBSCRIPTION]))
                if mine is None:  # the client did not subscribe
                    return
                message = {**message, "params": {**said, "_meta": {**meta, _SUBSCRIPTION: mine}}}
        self._send(message)

    async def _ask(self, message: Json) -> None:
        name = f"replay-{next(self._numbers)}"
        waiting = self._asked[name] = asyncio.get_running_loop().create_future()
        self._send({**message, "id": name})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await waiting


def _is_id(value: Any) -> bool:
    """Whether the specification lets a request be called so."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error(sentence: str, code: int = NOT_RECORDED) -> Json:
    return {"error": {"code": code, "message": sentence}}
