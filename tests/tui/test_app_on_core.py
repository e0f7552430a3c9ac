"""The app on the real core, by keys only: the port task, what the panes show, and that keys never wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import KOREAN, PORT_TASK, calls_received, options, received, sample, servers_file
from tests.tui.live import living

SIZES = [(120, 40), (80, 24)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return sample(tmp_path)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(PORT_TASK) as endpoint:
        yield endpoint


@pytest.mark.parametrize("size", SIZES, ids=["120x40", "80x24"])
async def test_the_port_task_by_keys(
    project: Path, tmp_path: Path, model: ScriptedModel, size: tuple[int, int]
) -> None:
    config = project / "config.ini"
    async with living(options(project, tmp_path, model.url), size) as live:
        assert "inventory.py" in await live.decision("inventory.py", "remember")
        assert not received(project)
        await live.decide("y")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        await live.submit(KOREAN)
        for tool in ("list_services", "lookup_port"):
            await live.decision(f"inventory · {tool}")
            await live.decide("y")
        shown = await live.decision("search_replace", "-port=7000", "+port=8437")
        assert "config.ini" in shown
        assert config.read_bytes() == b"port=7000\n"
        await live.decide("y")
        await live.until(lambda: config.read_bytes() == b"port=8437\n", "the change")
        await live.until(lambda: not live.app.bridge.state.busy, "the end of the turn")
        await live.sees("config.ini now says port=8437.")
        assert calls_received(project) == [("list_services", {}), ("lookup_port", {"service": "api"})]

        await live.press("f4", after=0.5)
        await live.sees("lookup_port", "list_services")
        tools = live.app.bridge.state.tools
        assert tools is not None and (tools.loaded, tools.total) == (2, 2)
        await live.press("shift+f6", "shift+f6", "l", after=0.5)
        await live.sees("stderr: inventory", "inventory: lookup_port")
        await live.press("f", after=0.5)  # the log alone, wide enough for whole lines
        await live.sees("inventory: lookup_port: api is at 8437")


async def test_denying_the_edit_leaves_the_file_and_tells_the_model(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [PORT_TASK[3], say("I left it alone.")]
    async with living(options(project, tmp_path, model.url, mcp=False)) as live:
        await live.submit("change it")
        await live.decision("search_replace")
        await live.decide("n")
        await live.sees("I left it alone.")
    assert (project / "config.ini").read_bytes() == b"port=7000\n"
    assert "refused" in model.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("stage", ["hang-before-headers", "hang-mid-text", "hang-mid-arguments"])
async def test_keys_are_heard_while_the_model_hangs_and_escape_ends_it(
    project: Path, tmp_path: Path, model: ScriptedModel, stage: str
) -> None:
    model.replies[:] = [mode(stage), say("Here I am.")]
    async with living(options(project, tmp_path, model.url, mcp=False)) as live:
        await live.submit("hello?")
        await live.until(lambda: model.requests, "the request")
        await live.type("still typing")
        assert live.app.main.prompt.text == "still typing"
        await live.press("escape", after=0.5)
        await live.until(lambda: not live.app.bridge.state.busy, "the end of the turn")
        await live.press("enter", after=0.5)
        await live.sees("Here I am.")


async def test_keys_are_heard_while_a_server_hangs_in_its_start(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    named = servers_file(tmp_path, mute={"mode": "life:silent"})
    model.replies[:] = [say("No server needed.")]
    given = options(project, tmp_path, model.url, mcp_config=(named,), server_wait=0.2)
    async with living(given) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("n")
        await live.until(lambda: live.app.bridge.state.servers["mute"].phase == "starting", "the start")
        await live.submit("hello")
        await live.sees("No server needed.")
        assert live.app.bridge.state.servers["mute"].phase == "starting"


async def test_keys_are_heard_while_a_call_hangs_and_escape_cancels_it(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    named = servers_file(tmp_path, fix="life:slow")
    (project / ".hel" / "mcp.json").unlink()
    load = call("load_mcp_tool", {"names": ["mcp__fix__slow"]})
    model.replies[:] = [load, call("mcp__fix__slow"), say("It was cancelled.")]
    given = options(project, tmp_path, model.url, mcp_config=(named,), access="auto", server_wait=60.0)
    async with living(given) as live:
        await live.submit("wait for it")
        await live.until(
            lambda: any(getattr(i, "state", "") == "running" for i in live.app.bridge.state.items), "the call"
        )
        await live.type("meanwhile")
        assert live.app.main.prompt.text == "meanwhile"
        await live.press("escape", after=0.5)
        await live.sees("It was cancelled.")


async def test_a_decision_that_waits_does_not_take_what_is_typed(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    model.replies[:] = [PORT_TASK[3], say("done")]
    async with living(options(project, tmp_path, model.url, mcp=False)) as live:
        await live.submit("change it")
        await live.type("yes, but")
        await live.until(lambda: live.app.bridge.state.questions, "the question")
        await live.type(" not yet")
        assert not live.has_dialog
        assert live.app.main.prompt.text == "yes, but not yet"
        await live.decision("search_replace")
        await live.decide("escape")
        await live.sees("done")
    assert (project / "config.ini").read_bytes() == b"port=7000\n"


async def test_calls_by_hand_and_a_server_list_without_a_model(project: Path, tmp_path: Path) -> None:
    async with living(options(project, tmp_path, None)) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("y")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        await live.submit('/call inventory.lookup_port {"service": "worker"}')
        await live.decision("inventory · lookup_port", "worker")
        await live.decide("y")
        await live.sees("worker: 9123")


async def test_leaving_closes_the_servers_and_then_the_app(
    project: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    async with living(options(project, tmp_path, model.url)) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("o")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        await live.press("ctrl+d", after=0.5)
        await live.until(lambda: live.app._exit or live.app.bridge.state.stopped, "the end")
        assert live.app.bridge.state.servers["inventory"].phase == "stopped"
    assert live.app.return_code == 0
