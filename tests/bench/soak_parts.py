"""The other sides of a soak: the model that keeps calling, servers over HTTP that are started again.

Not here: what is looked at in hel (soaking), how servers fail (fixtures/servers/shaky).
"""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from tests.bench.soaked import Soaked
from tests.fixtures.models.endpoint import Endpoint, Exchange, call, calls, play, say
from tests.fixtures.models.strict import complaint

SHAKY = Path(__file__).parents[1] / "fixtures" / "servers" / "shaky.py"


class Model:
    """Keeps calling tools, and checks what comes back for each call."""

    def __init__(self, servers: list[str], seed: int, found: Soaked) -> None:
        self._servers = servers
        self._chance = random.Random(seed)
        self._found = found
        self._number = 0
        self._asked: dict[str, int] = {}
        """Call id -> number in its arguments, of this session."""
        self.plan: list[list[str]] = []
        """Steps that are wanted instead of random ones: the servers to call."""
        self.endpoint = Endpoint(self._reply)

    async def _reply(self, exchange: Exchange) -> None:
        messages = exchange.json["messages"]
        self._check(messages)
        self.endpoint.requests.clear()
        self.endpoint.exchanges.clear()
        await play(exchange, self._next(messages))

    def _check(self, messages: list[dict[str, Any]]) -> None:
        if wrong := complaint(messages):
            self._found.wrong(f"a request no provider takes: {wrong}")
        if not any(one["role"] == "assistant" for one in messages):
            self._asked.clear()
        for message in messages:
            number = self._asked.get(message.get("tool_call_id", ""))
            if message["role"] != "tool" or number is None:
                continue
            others = set(re.findall(r"number (\d+)", message["content"])) - {str(number)}
            if others or not message["content"].strip():
                self._found.wrong(f"call {number} has a result of others: {message['content'][:200]!r}")

    def _next(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Some calls, or the end of the turn."""
        chance = self._chance
        if self.plan:
            wanted = self.plan.pop(0)
        elif messages[-1]["role"] == "tool" and chance.random() < 0.15:
            wanted = []
        else:
            wanted = [chance.choice(self._servers) for _ in range(chance.choice((1, 1, 2, 4)))]
        if not wanted:
            return say("done")
        return calls(*(self._one(server) for server in wanted))

    def _one(self, server: str) -> dict[str, Any]:
        self._number += 1
        identity = f"c{self._number}"
        self._asked[identity] = self._number
        tool = "extra" if self._chance.random() < 0.05 and not self.plan else "work"
        return call(f"mcp__{server}__{tool}", {"text": f"number {self._number}"}, id=identity)


class Site:
    """A server over HTTP that is started again whenever it ended."""

    def __init__(self, env: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._env = env
        self._closing = threading.Event()
        self.starts = 0
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._closing.is_set():
            self.starts += 1
            process = subprocess.Popen(
                [sys.executable, "-S", "-E", str(SHAKY), "http", str(self.port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **self._env},
            )
            while process.poll() is None and not self._closing.wait(0.1):
                pass
            process.kill()
            process.wait()
            assert process.stdin is not None
            process.stdin.close()
            self._closing.wait(0.5)

    def close(self) -> None:
        """End it for good."""
        self._closing.set()
        self._thread.join(10)
