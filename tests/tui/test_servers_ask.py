"""What servers ask for and offer, on the real core with real servers, by keys only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import heard, options, sample, servers_file
from tests.tui.live import Live, living

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name"},
        "count": {"type": "integer", "title": "How many"},
        "kind": {"enum": ["a", "b"], "title": "Kind"},
    },
    "required": ["name"],
}
FORM = {"message": "A few facts, please.", "requestedSchema": SCHEMA}
PAGE = {
    "mode": "url",
    "elicitationId": "7",
    "message": "Connect.",
    "url": "https://accounts.example.com/connect?a=b",
}
QUESTION = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi."}}], "maxTokens": 50}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel([say("Hi from the model.")]) as endpoint:
        yield endpoint


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = sample(tmp_path)
    (project / ".hel" / "mcp.json").unlink()
    return project


def running(project: Path, tmp_path: Path, model: ScriptedModel, **servers: Any) -> Any:
    named = servers_file(tmp_path, **servers)
    return living(options(project, tmp_path, model.url, mcp_config=(named,), access="auto"))


async def ready(live: Live, server: str) -> None:
    state = live.app.bridge.state
    await live.until(lambda: server in state.servers and state.servers[server].phase == "ready", server)


async def ask(live: Live, method: str, params: dict[str, Any]) -> None:
    """Call the tool that sends a request of the server's own."""
    await ready(live, "asks")
    live.app.main.prompt.write("/call asks.ask " + json.dumps({"method": method, "params": params}))
    await live.press("enter", after=0.5)


async def test_a_form_filled_in_reaches_the_server(project, tmp_path, model):
    async with running(project, tmp_path, model, asks="asks:asks") as live:
        await ask(live, "elicitation/create", FORM)
        shown = await live.decision("A few facts, please.", "How many")
        assert "while ask runs" in shown
        await live.type("Ana")
        await live.press("tab", "4", "2", "tab", "down", "space", "ctrl+s", after=0.5)
        live.clock.now += 1
        await live.sees('{"action": "accept", "content": {"name": "Ana", "count": 42, "kind": "b"}}')


@pytest.mark.parametrize(("key", "action"), [("n", "decline"), ("escape", "cancel")])
async def test_declining_and_cancelling_reach_the_server_as_what_they_are(
    project, tmp_path, model, key, action
):
    async with running(project, tmp_path, model, asks="asks:asks") as live:
        await ask(live, "elicitation/create", FORM)
        await live.decision("A few facts, please.")
        await live.press("escape", after=1)
        live.clock.now += 1
        await live.decide(key)
        await live.sees(f'{{"action": "{action}"}}')


async def test_a_web_page_is_opened_on_a_key_and_the_server_is_told(project, tmp_path, model, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    went: list[str] = []
    async with running(project, tmp_path, model, asks="asks:asks") as live:
        live.app.open_url = lambda url, **_more: went.append(url)  # type: ignore[method-assign]
        await ask(live, "elicitation/create", PAGE)
        await live.decision("accounts.example.com")
        assert went == []
        await live.decide("o")
        await live.sees('{"action": "accept"}')
        assert went == [PAGE["url"]]


async def test_sampling_is_allowed_before_and_after_the_model_is_asked(project, tmp_path, model):
    async with running(project, tmp_path, model, asks={"mode": "asks:asks", "sampling": True}) as live:
        await ask(live, "sampling/createMessage", QUESTION)
        await live.decision("wants to ask your model", "Say hi.")
        assert model.requests == []
        await live.decide("y")
        await live.decision("Send this answer back", "Hi from the model.")
        await live.decide("y")
        await live.sees('"role": "assistant"')
        assert len(model.requests) == 1


async def test_a_resource_is_looked_at_attached_and_sent_with_the_next_message(project, tmp_path, model):
    async with running(project, tmp_path, model, offers="offers:offers") as live:
        await ready(live, "offers")
        await live.press("f5", after=1)
        await live.sees("mem://guide.md", "mem://users/{id}{?lang}")
        assert not [one for one in heard(tmp_path, "offers") if one.get("method") == "resources/read"]
        await live.press("v", after=1)
        await live.sees("Use it.")
        await live.press("enter", after=1)
        await live.sees("attached")
        await live.press("escape", "escape", after=1)
        await live.sees("offers: guide")
        await live.submit("what does it say?")
        await live.sees("Hi from the model.", "▤ offers:mem://guide.md")
        sent = model.requests[0]["messages"][-1]["content"]
        assert "mem://guide.md" in sent and "Use it." in sent
        assert "offers: guide" not in live.text


async def test_a_mention_is_completed_and_joins_the_message_once(project, tmp_path, model):
    async with running(project, tmp_path, model, offers="offers:offers") as live:
        await ready(live, "offers")
        await live.type("see @sch")
        await live.sees("@offers:mem://schema.json")
        await live.press("enter", after=1)
        await live.sees("offers: schema")
        await live.press("enter", after=1)
        await live.sees("Hi from the model.")
        sent = model.requests[0]["messages"][-1]["content"]
        assert sent.startswith("see @offers:mem://schema.json") and sent.count('{"a": [1]}') == 1


async def test_a_template_is_filled_in_with_what_the_server_suggests(project, tmp_path, model):
    async with running(project, tmp_path, model, offers="offers:offers") as live:
        await ready(live, "offers")
        await live.press("f5", after=1)
        await live.sees("mem://users/{id}{?lang}")
        await live.press("G", "v", after=1)
        await live.sees("Fill in user", "salaries")
        await live.press("down", "down", "enter", "tab", after=1)
        await live.type("en")
        await live.press("enter", after=1)
        await live.sees("user salaries?lang=en")


async def test_a_prompt_with_its_argument_begins_a_turn(project, tmp_path, model):
    async with running(project, tmp_path, model, offers="offers:offers") as live:
        await ready(live, "offers")
        await live.until(lambda: live.app.main.offers.prompts, "the prompts")
        await live.type("/analyst")
        await live.press("enter", after=1)
        await live.sees("What about.")
        await live.type("sales")
        await live.press("enter", after=1)
        await live.sees("Hi from the model.")
        got = [one["params"] for one in heard(tmp_path, "offers") if one.get("method") == "prompts/get"]
        assert [one["arguments"] for one in got] == [{"topic": "sales"}]
