"""The official servers in the real app on the real core, by keys: listed, called, answered, attached."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.reference.conftest import npm_server, python_server, serving
from tests.rig import options
from tests.tui.live import Live, living


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([say("Forty-two."), say("It is read.")]) as endpoint:
        yield endpoint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project: a repository with one commit. hel tells servers that it is their root."""
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("one line of notes\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder)]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "begin here"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


@asynccontextmanager
async def hosting(
    tmp_path: Path, model: ScriptedModel, servers: dict[str, dict[str, Any]]
) -> AsyncIterator[Live]:
    """The app with these servers, all ready, and calls that run unasked."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"servers": servers}))
    given = options(project, tmp_path, model.url, mcp_config=(file,), access="auto")
    async with living(given) as live:
        state = live.app.bridge.state

        def ready() -> bool:
            return all(name in state.servers and state.servers[name].phase == "ready" for name in servers)

        await live.until(ready, f"{', '.join(servers)} ready")
        yield live


async def call(live: Live, number: int, target: str, seen: str, **arguments: Any) -> None:
    """Call a tool from the prompt: its card shows that it went well, and behind it is what is expected."""
    live.app.main.prompt.write(f"/call {target} {json.dumps(arguments)}")
    await live.press("enter", after=0.5)
    await live.sees("✓ " + target.replace(".", " · ", 1))
    detail = live.core.call(f"hand-{number}")
    assert detail is not None
    assert seen in detail.result


async def test_every_official_server_is_listed_and_called_from_the_screen(
    tmp_path: Path, model: ScriptedModel, folder: Path
) -> None:
    node = {"command": "node"}
    servers: dict[str, dict[str, Any]] = {
        "ev": {**node, "args": [npm_server("server-everything"), "stdio"]},
        "fs": {**node, "args": [npm_server("server-filesystem"), str(folder)]},
        "mem": {
            **node,
            "args": [npm_server("server-memory")],
            "env": {"MEMORY_FILE_PATH": str(tmp_path / "m")},
        },
        "think": {**node, "args": [npm_server("server-sequential-thinking")]},
        "git": {"command": python_server("mcp-server-git"), "args": ["--repository", str(folder)]},
        "time": {"command": python_server("mcp-server-time")},
        "fetch": {"command": python_server("mcp-server-fetch")},
        "sql": {
            "command": python_server("mcp-server-sqlite", "python-sqlite"),
            "args": ["--db-path", str(tmp_path / "db.sqlite")],
        },
    }
    async with hosting(tmp_path, model, servers) as live:
        shown = {row.server for row in live.core.tools()}
        assert shown == set(servers)
        await call(live, 1, "ev.echo", "Echo: from the screen", message="from the screen")
        await call(live, 2, "ev.get-tiny-image", "[image png")
        await call(live, 3, "fs.read_text_file", "one line of notes", path=str(folder / "notes.txt"))
        entity = {"name": "hel", "entityType": "host", "observations": ["hosts servers"]}
        await call(live, 4, "mem.create_entities", "hosts servers", entities=[entity])
        thought = {"thought": "t", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
        await call(live, 5, "think.sequentialthinking", '"thoughtNumber": 1', **thought)
        await call(live, 6, "git.git_log", "begin here", repo_path=str(folder))
        await call(live, 7, "time.get_current_time", "Asia/Seoul", timezone="Asia/Seoul")
        await call(live, 8, "sql.read_query", "42", query="select 6 * 7 as answer")


@pytest.mark.parametrize("transport", ["streamableHttp", "sse"])
async def test_everything_asks_and_offers_on_the_screen(
    tmp_path: Path, model: ScriptedModel, transport: str
) -> None:
    path = "/sse" if transport == "sse" else "/mcp"
    async with serving("node", npm_server("server-everything"), transport) as port:
        entry = {"url": f"http://127.0.0.1:{port}{path}", "sampling": True}
        async with hosting(tmp_path, model, {"ev": entry}) as live:
            live.app.main.prompt.write("/call ev.trigger-elicitation-request {}")
            await live.press("enter", after=0.5)
            await live.decision("ev asks you to fill in")
            await live.press("escape", after=1)
            live.clock.now += 1
            await live.decide("n")
            await live.sees("declined")
            live.app.main.prompt.write(
                '/call ev.trigger-sampling-request {"prompt": "life?", "maxTokens": 20}'
            )
            await live.press("enter", after=0.5)
            await live.decision("wants to ask your model")
            await live.decide("y")
            await live.decision("Send this answer back", "Forty-two.")
            await live.decide("y")
            await live.sees("LLM sampling result")
            await live.press("f5", after=1)
            await live.sees("architecture.md")
            await live.press("enter", after=1)
            await live.sees("attached")
            await live.press("escape", after=1)
            await live.submit("what is in it?")
            await live.sees("It is read.")
            assert "architecture.md" in json.dumps(model.requests[-1]["messages"])
