"""What the tests of the whole core share: the sample project, a home of its own, a driver for the runtime."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hel_tui.core import protocol as p
from hel_tui.core.options import Options
from hel_tui.core.runtime import Runtime
from hel_tui.samples import lay
from tests.fixtures.models.endpoint import Reply, call, calls, say

SERVERS = Path(__file__).parent / "fixtures" / "servers"
KEY = "sk-test-0123456789abcdefghij"
"""The model's key in every test: it must turn up nowhere but in one header."""
LIMIT = 60.0
"""Seconds a condition may take on a busy machine before a test fails."""

LIST = "mcp__inventory__list_services"
LOOKUP = "mcp__inventory__lookup_port"
KOREAN = (
    "inventory 서버에서 api 서비스에 배정된 포트를 찾아 config.ini의 port에 적어 줘. 다른 것은 바꾸지 마."
)

PORT_TASK: tuple[Reply, ...] = (
    calls(call("read_file", {"path": "config.ini"}), call("load_mcp_tool", {"names": [LIST, LOOKUP]})),
    call(LIST),
    call(LOOKUP, {"service": "api"}),
    call("search_replace", {"path": "config.ini", "search": "port=7000", "replace": "port=8437"}),
    say("config.ini now says port=8437."),
)
"""The walk-through as a model that does everything right."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment with a home of its own and a dummy key, and none of the machine's keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "HEL_HOME": str(home / "hel"), **more}


def sample(folder: Path) -> Path:
    """A fresh copy of the sample project."""
    return lay(folder / "project", sys.executable)


def received(project: Path) -> list[dict[str, Any]]:
    """What the sample's server received, from its own log."""
    log = project / ".hel" / "mcp" / "events.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def calls_received(project: Path) -> list[tuple[str, dict[str, Any]]]:
    """(raw name, arguments) of every tools/call the server received."""
    return [
        (message["params"]["name"], message["params"].get("arguments", {}))
        for message in received(project)
        if message.get("method") == "tools/call"
    ]


def servers_file(folder: Path, **servers: str | dict[str, Any]) -> Path:
    """A server file of fixture servers: `name="file:mode"`, or a dict of entry keys with `mode` among them."""
    entries = {}
    for name, given in servers.items():
        more = {"mode": given} if isinstance(given, str) else dict(given)
        file, _, word = more.pop("mode").partition(":")
        env = {"EVENTS": str(folder / f"{name}.events"), **more.pop("env", {})}
        args = ["-S", "-E", str(SERVERS / f"{file}.py"), word]
        entries[name] = {"command": sys.executable, "args": args, "env": env, **more}
    path = folder / "servers.json"
    path.write_text(json.dumps({"mcpServers": entries}))
    return path


def heard(folder: Path, name: str) -> list[dict[str, Any]]:
    """What a server of `servers_file` received or noted, in order."""
    path = folder / f"{name}.events"
    lines = path.read_text().splitlines() if path.exists() else []
    return [note.get("message", note) for note in map(json.loads, lines)]


def called(folder: Path, name: str) -> list[dict[str, Any]]:
    """Parameters of every tools/call a server of `servers_file` received."""
    return [message["params"] for message in heard(folder, name) if message.get("method") == "tools/call"]


def results(body: dict[str, Any]) -> list[str]:
    """The results a request carries behind the last answer of the model, in order."""
    messages = body["messages"]
    last = max(n for n, message in enumerate(messages) if message["role"] == "assistant")
    return [message["content"] for message in messages[last + 1 :] if message["role"] == "tool"]


class Driver:
    """A runtime and everything it said."""

    def __init__(self, options: Options) -> None:
        self.core = Runtime(options)
        self.events: list[p.Event] = []

    def __enter__(self) -> Driver:
        self.core.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self.core.stop(LIMIT)
        self.events += self.core.drain()

    def send(self, command: p.Command) -> None:
        self.core.send(command)

    def wait(self, found: Callable[[Sequence[p.Event]], Any], what: str = "") -> Any:
        """Wait until `found` says something true of all events so far; returns what it said."""
        end = time.monotonic() + LIMIT
        while not (answer := found(self.events)):
            if time.monotonic() > end:
                raise AssertionError(
                    f"waited in vain for {what or found}\n" + "\n".join(map(repr, self.events))
                )
            self.core.wait(0.2)
            self.events += self.core.drain()
        return answer

    def of(self, kind: type[Any]) -> list[Any]:
        """Events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def phase(self, server: str, phase: str) -> p.ServerChanged:
        """Wait until the server is in this phase now."""

        def now(events: Sequence[p.Event]) -> p.ServerChanged | None:
            states = [e for e in events if isinstance(e, p.ServerChanged) and e.name == server]
            return states[-1] if states and states[-1].phase == phase else None

        answer: p.ServerChanged = self.wait(now, f"{server} {phase}")
        return answer

    def question(self, kind: type[Any]) -> Any:
        """Wait for an open question of this kind."""

        def open_now(events: Sequence[p.Event]) -> Any:
            closed = {e.question_id for e in events if isinstance(e, p.QuestionClosed)}
            asked = [e.question for e in events if isinstance(e, p.Asked)]
            return next((q for q in asked if isinstance(q, kind) and q.id not in closed), None)

        return self.wait(open_now, kind.__name__)

    def answer(self, kind: type[Any], answer: p.Answer) -> Any:
        """Answer the next question of this kind; returns the question."""
        question = self.question(kind)
        self.send(p.Reply(question.id, answer))
        self.wait(lambda events: p.QuestionClosed(question.id) in events)
        return question

    def trust(self) -> p.TrustQuestion:
        """Remember every server of the trust question."""
        asked: p.TrustQuestion = self.question(p.TrustQuestion)
        names = frozenset(claim.name for claim in asked.servers)
        self.answer(p.TrustQuestion, p.TrustAnswer("remember", names))
        return asked

    def ask(self, text: str) -> p.TurnEnded:
        """Say something to the model and wait for the end of the turn."""
        before = len(self.of(p.TurnEnded))
        self.send(p.Submit(text))
        return self.turn_end(before)

    def turn_end(self, before: int) -> p.TurnEnded:
        """Wait for one more end of a turn than `before`."""

        def ended(events: Sequence[p.Event]) -> p.TurnEnded | None:
            ends = [e for e in events if isinstance(e, p.TurnEnded)]
            return ends[before] if len(ends) > before else None

        end: p.TurnEnded = self.wait(ended, "the end of the turn")
        return end

    def call_end(self, before: int) -> p.CallChanged:
        """Wait for one more end of a call than `before`."""
        end: p.CallChanged = self.wait(lambda _: self.results()[before:], "the end of the call")[0]
        return end

    def results(self) -> list[p.CallChanged]:
        """The last state of every call that ended, in order of ending."""
        over = ("ok", "failed", "refused", "cancelled")
        return [e for e in self.of(p.CallChanged) if e.state in over]


def options(project: Path, home: Path, url: str | None, **more: Any) -> Options:
    """Options for a scripted model at `url` (None: no model), nothing remembered."""
    base = Options(
        project=project,
        environ=environment(home, HEL_API_KEY=KEY),
        model="scripted/scripted" if url else None,
        base_url=url,
    )
    return replace(base, **more)
