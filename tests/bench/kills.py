"""Kills sessions at random moments and goes on with them: what was shown, sent and called must hold.

    python -m tests.bench.kills [--kills N] [--seed N] [--full]

A process (`shown`) runs a session and prints every event as a screen would get it. After each SIGKILL the
session is opened again, and looked at: all that was printed is told again, the next request is one that a
strict provider takes, and no call reached the server twice. More is said while turns run; all that was on the
screen is then told to the model once, or held. With `--full` the disk is full from time to time
instead, and the process is killed when all is saved again. Not here: what is tested of single cuts (core).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.spoken import Said, twice
from tests.fixtures.models.endpoint import Endpoint, Exchange
from tests.fixtures.models.strict import complaint
from tests.rig import KEY, environment, servers_file

TOOL = "mcp__noted__note"
OVER = ("ok", "failed", "refused", "cancelled")
TURNS_BEFORE_NEW = 25
"""Kills of one session before another is begun."""


@dataclass(slots=True)
class Report:
    """What a campaign came to."""

    kills: int = 0
    pieces: int = 0
    """Pieces of text that were shown before a kill."""
    calls: int = 0
    """Calls the server noted."""
    interrupted: int = 0
    """Kills that hit a running turn."""
    in_calls: int = 0
    """Kills that hit a call."""
    said: int = 0
    """Things that were said and on the screen."""
    held: int = 0
    """How often something said was found held after a kill."""
    outages: int = 0
    """How often nothing could be saved."""
    problems: list[str] = field(default_factory=list)


class Campaign:
    """One folder, one endpoint, one server; sessions that are killed."""

    def __init__(self, folder: Path, url: str, seed: int, *, full: bool = False) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.notes = folder / "notes"
        self.notes.touch()
        self.url = url
        self.full = full
        self.random = random.Random(seed)
        self.servers = servers_file(
            folder, noted={"mode": "noted:noted", "env": {"NOTES": str(self.notes), "PAUSE": "0.02"}}
        )
        self.session = ""
        self.said = Said()
        self.report = Report()

    def begin(self) -> None:
        """Let the next process begin a session."""
        self.session, self.said = "", Said()

    def start(self, prompt: str, full: str = "") -> subprocess.Popen[bytes]:
        """A process that goes on with the session, or begins one; `full` seeds when its disk is full."""
        given = [str(self.project), str(self.servers), self.url, self.session, prompt]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.bench.shown", *given],
            cwd=Path(__file__).parents[2],
            env=environment(
                self.folder,
                HEL_API_KEY=KEY,
                PYTHONPATH=str(Path(__file__).parents[2]),
                FULL=full,
                SPEAK="" if self.full else f"{self.report.kills}-{self.random.randrange(1 << 30)}",
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def one(self, number: int) -> None:
        """Run, kill at some line, open again, compare."""
        process = self.start(f"go on, {number}", str(self.random.random()) if self.full else "")
        shown = self._read_saved(process) if self.full else self._read(process, self.random.randrange(1, 120))
        self._kill(process)
        self.report.problems += [f"kill {number}: {e['report']}" for e in shown if e["kind"] == "CoreFailed"]
        shown += [json.loads(line) for line in process.stdout or () if line.endswith(b"}\n")]
        if process.stdout is not None:
            process.stdout.close()
        started = [event for event in shown if event["kind"] == "TurnStarted"]
        if not self.session:
            self.session = next((e["session_id"] for e in shown if e["kind"] == "SessionStarted"), "")
            if not started:  # killed before anything was said: nothing is kept, and nothing need be
                self.session = ""
        self.report.kills += 1
        self.report.pieces += sum(event["kind"] == "TextDelta" for event in shown)
        self.report.interrupted += bool(started) and not any(e["kind"] == "TurnEnded" for e in shown)
        if self.session:
            self._compare(number, shown)

    def _read(self, process: subprocess.Popen[bytes], count: int) -> list[dict[str, Any]]:
        """Lines of the newest turn, `count` of them at most."""
        out: list[dict[str, Any]] = []
        assert process.stdout is not None
        turn = waits = False
        for line in process.stdout:
            event = json.loads(line)
            turn = turn or event["kind"] == "TurnStarted"
            waits = len(event["texts"]) > event["held"] if event["kind"] == "Queued" else waits
            out.append(event)
            count -= turn
            if event["kind"] == "CallChanged" and event["state"] == "running" and self.random.random() < 0.1:
                break
            if count <= 0 or (turn and not waits and event["kind"] == "TurnEnded"):
                break
        return out

    def _read_saved(self, process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
        """Lines up to the end of the turn, and until all is saved."""
        out: list[dict[str, Any]] = []
        assert process.stdout is not None
        ended = behind = False
        for line in process.stdout:
            event = json.loads(line)
            out.append(event)
            ended = ended or event["kind"] == "TurnEnded"
            if event["kind"] == "SavingChanged":
                behind = bool(event["since"])
                self.report.outages += behind
            if ended and not behind:
                break
        return out

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def _compare(self, number: int, shown: Sequence[dict[str, Any]]) -> None:
        process = self.start("")
        assert process.stdout is not None
        told: list[dict[str, Any]] = []
        restored: dict[str, Any] | None = None
        for line in process.stdout:
            told.append(json.loads(line))
            restored = told[-1] if told[-1]["kind"] == "SessionRestored" else restored
            if restored is not None and told[-1]["kind"] == "Queued":
                break
        self._kill(process)
        process.stdout.close()
        if restored is None:
            self.report.problems.append(f"kill {number}: session {self.session} could not be opened")
            return
        if restored["session_id"] != self.session:
            self.report.problems.append(f"kill {number}: session {self.session} seems to be open still")
        self.report.problems += [f"kill {number}: {problem}" for problem in _differences(shown, told)]
        if not self.full:
            self._ask_what_was_said(number, shown)
        running = {e["call_id"] for e in shown if e["kind"] == "CallChanged" and e["state"] == "running"}
        over = {e["call_id"] for e in shown if e["kind"] == "CallChanged" and e["state"] in OVER}
        self.report.in_calls += bool(running - over)

    def _ask_what_was_said(self, number: int, shown: Sequence[dict[str, Any]]) -> None:
        before, found = len(self.said.texts), self.said.held
        self.said.hear(shown)
        folder = self.folder / "hel" / "state" / "sessions" / self.session
        self.report.problems += [f"kill {number}: {problem}" for problem in self.said.problems(folder)]
        self.report.said += max(0, len(self.said.texts) - before)
        self.report.held += self.said.held - found


def _texts(events: Sequence[dict[str, Any]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for event in events:
        if event["kind"] in ("TextDelta", "ReasoningDelta"):
            texts[event["item"]] = texts.get(event["item"], "") + event["text"]
    return texts


def _differences(shown: Sequence[dict[str, Any]], told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What was shown and is not told again."""
    texts, again = _texts(shown), _texts(told)
    for item, text in texts.items():
        if not again.get(item, "").startswith(text):
            yield f"{item}: {text!r} was shown, {again.get(item, '')!r} is told"
    for kind, key in (("TurnStarted", "turn"), ("CallStarted", "call_id"), ("TurnEnded", "turn")):
        missing = {e[key] for e in shown if e["kind"] == kind} - {e[key] for e in told if e["kind"] == kind}
        if missing:
            yield f"{kind} of {sorted(map(str, missing))} is not told again"
    ended = {e["call_id"]: e["state"] for e in shown if e["kind"] == "CallChanged" and e["state"] in OVER}
    states = {e["call_id"]: e["state"] for e in told if e["kind"] == "CallChanged"}
    for call_id, state in ended.items():
        if states.get(call_id) != state:
            yield f"call {call_id} was {state}, now it is {states.get(call_id)}"
    for call_id, state in states.items():
        if state not in OVER:
            yield f"call {call_id} is left {state}"


# ------------------------------------------------------------------ the model


class Talker:
    """A model that talks in small pieces and calls the server, with ids that it uses once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0
        self.problems: list[str] = []

    async def answer(self, exchange: Exchange) -> None:
        """One answer: words, then calls or not."""
        body = exchange.json
        if problem := complaint(body["messages"]):
            self.problems.append(f"request {exchange.number}: {problem}")
        told = [str(one.get("content")) for one in body["messages"] if one.get("role") == "user"]
        self.problems += [f"request {exchange.number}: {problem}" for problem in twice(told)]
        await exchange.start()
        if self.random.random() < 0.5:
            await self._pieces(exchange, "reasoning_content")
        await self._pieces(exchange, "content")
        offered = {tool["function"]["name"] for tool in body.get("tools", ())}
        results = sum(message["role"] == "tool" for message in body["messages"][-4:])
        if TOOL not in offered:
            await self._call(exchange, 0, "load_mcp_tool", {"names": [TOOL]})
        elif results < 4 and self.random.random() < 0.8:
            for index in range(self.random.randrange(1, 4)):
                self.number += 1
                await self._call(exchange, index, TOOL, {"id": f"id-{self.number}"})
        else:
            await exchange.delta("stop")
            await exchange.done()
            return
        await exchange.delta("tool_calls")
        await exchange.done()

    async def _pieces(self, exchange: Exchange, name: str) -> None:
        for _ in range(self.random.randrange(1, 30)):
            self.number += 1
            await exchange.delta(**{name: f"w{self.number} "})
            await asyncio.sleep(0.001)

    async def _call(self, exchange: Exchange, index: int, name: str, arguments: dict[str, Any]) -> None:
        self.number += 1
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call-{self.number}", "type": "function", "function": function}
        await exchange.delta(tool_calls=[call])


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hel-kills-") as name:
        yield Path(name)


def campaign(kills: int, seed: int = 0, *, full: bool = False, progress: bool = False) -> Report:
    """Kill so many times, or let the disk be full; returns what came of it."""
    talker = Talker(seed)
    with _folder() as folder, Endpoint(talker.answer) as endpoint:
        one = Campaign(folder, endpoint.url, seed, full=full)
        for number in range(kills):
            if number % TURNS_BEFORE_NEW == 0:
                one.begin()
            one.one(number)
            if progress and (number + 1) % 10 == 0:
                print(f"{number + 1} kills, {len(one.report.problems)} problems", file=sys.stderr, flush=True)
        noted = Counter(one.notes.read_text().split())
        one.report.calls = sum(noted.values())
        one.report.problems += [f"{name} was called {n} times" for name, n in noted.items() if n > 1]
        one.report.problems += talker.problems
        return one.report


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill sessions at random moments.")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)))
    parser.add_argument("--full", action="store_true", help="full disks instead of kills")
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    report = campaign(options.kills, options.seed, full=options.full, progress=True)
    print(
        f"{report.kills} kills, {report.interrupted} in a turn, {report.in_calls} in a call; "
        f"{report.pieces} pieces shown, {report.said} things said, {report.held} found held, "
        f"{report.calls} calls made, {report.outages} outages; {len(report.problems)} problems"
    )
    for problem in report.problems[:50]:
        print(problem)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
