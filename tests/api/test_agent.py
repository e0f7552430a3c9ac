"""The agent from Python: what a script sees of runs, questions, limits and errors."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui import api
from hel_tui.api import Agent
from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import Endpoint, Exchange, ScriptedModel, call, say
from tests.rig import KEY, KOREAN, LOOKUP, PORT_TASK, calls_received, environment, sample

ROOT = Path(__file__).parents[2]
TOOLS = ("read_file", "search_replace")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return sample(tmp_path)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(PORT_TASK) as endpoint:
        yield endpoint


def agent(project: Path, url: str | None, **more: Any) -> Agent:
    """An agent with a home of its own and a model at `url`."""
    return Agent(
        project,
        model="scripted/scripted" if url else None,
        base_url=url,
        environ=environment(project.parent, HEL_API_KEY=KEY),
        **more,
    )


async def test_a_run_tells_its_text_its_calls_in_order_and_what_it_took(
    project: Path, model: ScriptedModel
) -> None:
    async with agent(project, model.url, tools=TOOLS, access="auto", trust=["inventory"]) as one:
        result = await one.run(KOREAN)
    assert result.ok and result.require() is result
    assert result.text == "config.ini now says port=8437."
    assert [made.name for made in result.calls] == [
        "read_file",
        "load_mcp_tool",
        "inventory.list_services",
        "inventory.lookup_port",
        "search_replace",
    ]
    assert result.calls[3].arguments == {"service": "api"}
    assert result.calls[3].result.find("8437") > 0
    assert (result.steps, result.usage.requests) == (5, 5)
    assert result.usage.output_tokens == 5 * len(model.requests)
    assert (project / "config.ini").read_text() == "port=8437\n"


async def test_each_call_that_needs_a_word_asks_the_callable_and_a_text_tells_the_model_why_not(
    project: Path, model: ScriptedModel
) -> None:
    asked: list[str] = []

    async def approve(question: api.ApprovalQuestion) -> bool | str:
        asked.append(question.tool)
        return "leave my file alone" if question.diff else True

    async with agent(project, model.url, tools=TOOLS, approve=approve, trust=lambda _claim: True) as one:
        result = await one.run(KOREAN)
    assert asked == ["list_services", "lookup_port", "search_replace"]
    assert result.status == "refused"
    assert "search_replace" in result.message
    assert "leave my file alone" in str(model.requests[-1])
    assert (project / "config.ini").read_text() == "port=7000\n"
    with pytest.raises(api.RunFailed) as failed:
        result.require()
    assert failed.value.result is result


async def test_without_trust_no_server_starts_and_the_run_says_so(project: Path) -> None:
    with ScriptedModel([say("I have no such tool.")]) as endpoint:
        async with agent(project, endpoint.url, access="auto") as one:
            result = await one.run("go")
    assert result.status == "refused"
    assert calls_received(project) == []
    assert not (project / ".hel" / "mcp" / "events.jsonl").exists()


async def test_a_call_of_a_tool_that_was_not_loaded_is_told_apart(project: Path) -> None:
    replies = [call(LOOKUP, {"service": "api"}), say("I should have loaded it.")]
    with ScriptedModel(replies) as endpoint:
        async with agent(project, endpoint.url, access="auto", trust=["inventory"]) as one:
            result = await one.run("go")
    assert [(made.state, made.loaded) for made in result.calls] == [("failed", False)]
    assert calls_received(project) == []


async def test_a_run_can_be_followed_by_its_events(project: Path) -> None:
    with ScriptedModel([say("one"), say("two")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            turn = one.start("first")
            seen = [event async for event in turn]
            first = await turn
            second = await one.run("second")
    assert isinstance(seen[-1], api.events.TurnEnded)
    assert "".join(e.text for e in seen if isinstance(e, api.events.TextDelta)) == "one"
    assert (first.text, second.text) == ("one", "two")
    assert (first.usage.requests, second.usage.requests) == (1, 1)


async def test_a_run_that_is_left_in_the_middle_ends_before_the_next_one_begins(project: Path) -> None:
    with ScriptedModel([say("a long answer " * 200, pause=0.01), say("two")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            left = one.start("first")
            async for event in left:
                if isinstance(event, api.events.TextDelta):
                    break
            second = await one.run("second")
            assert (await left).status == "interrupted"
    assert (second.status, second.text) == ("done", "two")


async def silent(exchange: Exchange) -> None:
    await exchange.start()
    await exchange.client_left()


async def test_a_run_is_under_way_once_it_is_started_and_can_be_interrupted_before_anybody_waits_for_it(
    project: Path,
) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def answer(exchange: Exchange) -> None:
        loop.call_soon_threadsafe(arrived.set)
        await silent(exchange)

    with Endpoint(answer) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            turn = one.start("go")
            async with asyncio.timeout(60):
                await arrived.wait()
            one.interrupt()
            result = await turn
            events = [event async for event in one.start("again", timeout=0.2)]
    assert (result.status, result.reason) == ("interrupted", "interrupted")
    assert isinstance(events[-1], api.events.TurnEnded)


async def test_a_run_that_is_interrupted_before_its_turn_comes_sends_nothing(project: Path) -> None:
    with ScriptedModel([say("one")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            first, second = one.start("first"), one.start("second")
            second.interrupt()
            results = [await first, await second]
            third = one.start("third")
            one.interrupt()
            results.append(await third)
    assert [result.status for result in results] == ["done", "interrupted", "interrupted"]
    assert len(endpoint.requests) == 1


async def test_events_that_came_before_somebody_looked_are_not_lost(project: Path) -> None:
    with ScriptedModel([say("one")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            first = one.start("first")
            await asyncio.wait([first.task])
            seen = [event async for event in first]
            with pytest.raises(api.NotOpen, match="once"):
                [event async for event in first]
    assert "".join(e.text for e in seen if isinstance(e, api.events.TextDelta)) == "one"


async def test_runs_that_are_not_over_when_the_agent_is_closed_say_so_and_none_hangs(project: Path) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def answer(exchange: Exchange) -> None:
        loop.call_soon_threadsafe(arrived.set)
        await silent(exchange)

    with Endpoint(answer) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            first, second = one.start("first"), one.start("second")
            async with asyncio.timeout(60):
                await arrived.wait()
        assert (await first).status == "interrupted"
        with pytest.raises(api.NotOpen, match="closed"):
            await second


async def test_runs_that_are_begun_together_come_one_after_the_other(project: Path) -> None:
    with ScriptedModel([say("one"), say("two")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            results = await asyncio.gather(one.run("first"), one.run("second"))
    assert [result.text for result in results] == ["one", "two"]
    assert [len(body["messages"]) for body in endpoint.requests] == [2, 4]


async def test_time_that_is_up_ends_the_run_in_order_and_the_next_one_goes_on(project: Path) -> None:
    async def silent_at_first(exchange: Exchange) -> None:
        await exchange.start()
        if exchange.number == 1:
            await exchange.client_left()
            return
        await exchange.delta(content="there")
        await exchange.delta(finish="stop")
        await exchange.done()

    with Endpoint(silent_at_first) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            first = await one.run("first", timeout=0.3)
            second = await one.run("second")
    assert first.status == "limit"
    assert first.message == "Stopped after 0.3 seconds, the time limit."
    assert second.text == "there"


def keep_the_loop_busy(endpoint: Endpoint) -> None:
    """Until no request has come for a second."""
    asked, end = 0, time.monotonic() + 20
    while asked < len(endpoint.requests):
        assert time.monotonic() < end, "the calls go on"
        asked = len(endpoint.requests)
        time.sleep(1)


async def test_time_that_is_up_ends_the_calls_although_the_callers_loop_is_busy(project: Path) -> None:
    called = asyncio.Event()

    def hear(event: p.Event) -> None:
        if isinstance(event, p.CallStarted):
            called.set()

    with ScriptedModel([call("bash", {"command": "sleep 0.1"})] * 400) as endpoint:
        more = {"mcp": False, "access": "auto", "max_steps": 400, "on_event": hear}
        async with agent(project, endpoint.url, **more) as one:
            run = one.start("go", timeout=3)
            await called.wait()
            keep_the_loop_busy(endpoint)
            result = await run
    assert (result.status, result.message) == ("limit", "Stopped after 3 seconds, the time limit.")


async def test_an_answer_is_asked_for_again_until_it_fits_the_schema(project: Path) -> None:
    schema = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
    replies = [say("It is 8437."), say('{"port": "8437"}'), say('```json\n{"port": 8437}\n```')]
    with ScriptedModel(replies) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            result = await one.run("which port?", schema=schema)
    assert result.ok
    assert result.data == {"port": 8437}
    told = [body["messages"][-1]["content"] for body in endpoint.requests]
    assert '"required": ["port"]' in told[0]
    assert "it is not JSON" in told[1]
    assert "$.port: '8437' is not of type 'integer'" in told[2]


async def test_an_answer_that_never_fits_is_a_failure_with_its_errors(project: Path) -> None:
    with ScriptedModel([say("no"), say("no"), say("no")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            result = await one.run("which port?", schema={"type": "integer"})
    assert (result.status, result.data) == ("failed", None)
    assert result.message.startswith("No answer of 3 fits the schema: it is not JSON")
    assert len(endpoint.requests) == 3


async def test_a_schema_that_is_none_is_refused_before_anything_is_sent(project: Path) -> None:
    with ScriptedModel([]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            with pytest.raises(api.BadSchema, match="the schema is none"):
                await one.run("go", schema={"type": "nonsense"})
            with pytest.raises(api.BadSchema, match=r"https://example\.com/x, which is not in it"):
                await one.run("go", schema={"$ref": "https://example.com/x"})
    assert endpoint.requests == []


async def test_without_a_model_a_run_says_how_to_get_one(project: Path) -> None:
    async with agent(project, None, mcp=False) as one:
        with pytest.raises(api.NoModel, match="model"):
            await one.run("go")


async def test_a_session_is_gone_on_with_and_one_that_is_not_there_is_an_error(project: Path) -> None:
    with ScriptedModel([say("one"), say("two")]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            await one.run("first")
        async with agent(project, endpoint.url, mcp=False, resume="last") as again:
            result = await again.run("second")
            assert again.session_id == one.session_id
        assert [m["content"] for m in endpoint.requests[1]["messages"][1:]] == ["first", "one", "second"]
        assert (result.text, result.steps, result.usage.requests) == ("two", 1, 1)
        with pytest.raises(api.NoSession):
            async with agent(project, endpoint.url, resume="20000101-000000-00000000"):
                pass


async def test_what_a_callable_raises_ends_the_run_and_comes_out_of_it(
    project: Path, model: ScriptedModel
) -> None:
    def approve(question: api.ApprovalQuestion) -> bool:
        raise LookupError(question.tool)

    async with agent(project, model.url, tools=TOOLS, approve=approve, trust=["inventory"]) as one:
        with pytest.raises(LookupError, match="list_services"):
            await one.run(KOREAN)
    assert calls_received(project) == []


async def test_a_run_that_is_cancelled_leaves_the_conversation_usable(project: Path) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def silent_at_first(exchange: Exchange) -> None:
        await exchange.start()
        if exchange.number == 1:
            loop.call_soon_threadsafe(arrived.set)
            await exchange.client_left()
            return
        await exchange.delta(content="there")
        await exchange.delta(finish="stop")
        await exchange.done()

    with Endpoint(silent_at_first) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            task = asyncio.ensure_future(one.run("first"))
            await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await one.run("second")).text == "there"


async def test_a_cost_that_cannot_be_told_is_refused_before_the_first_request(
    project: Path, model: ScriptedModel
) -> None:
    async with agent(project, model.url, mcp=False, max_cost=1.0) as one:
        result = await one.run("go")
    assert result.status == "failed"
    assert "price of scripted/scripted is unknown" in result.message
    assert model.requests == []


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"access": "bogus"}, "access: there is no 'bogus'; there are read-only, confirm, auto"),
        ({"effort": "huge"}, "effort: there is no 'huge'; there are none, minimal"),
        ({"tools": ["nosuch"]}, "tools: there is no 'nosuch'; there are read_file"),
        ({"tools": "bash"}, r"tools must be a list, such as \['bash'\]"),
        ({"max_steps": 0}, "max_steps must be a whole number above 0, not 0"),
        ({"max_steps": True}, "max_steps must be a whole number above 0, not True"),
        ({"max_output": 1.5}, "max_output must be a whole number above 0, not 1.5"),
        ({"max_cost": float("nan")}, "max_cost must be a number above 0, not nan"),
        ({"mcp_config": ["no-such-file.json"]}, "no-such-file.json is not a file"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_starts(
    project: Path, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(api.BadArgument, match=sentence):
        agent(project, None, **given)


async def test_a_run_without_words_or_with_no_time_is_refused(project: Path) -> None:
    with ScriptedModel([]) as endpoint:
        async with agent(project, endpoint.url, mcp=False) as one:
            with pytest.raises(api.BadArgument, match="the prompt must be a text that is not empty"):
                await one.run(" ")
            with pytest.raises(api.BadArgument, match="timeout must be a number above 0, not 0"):
                one.start("go", timeout=0)
    assert endpoint.requests == []


async def test_an_agent_that_is_not_open_says_so() -> None:
    with pytest.raises(api.NotOpen):
        await Agent(".").run("go")


async def test_nothing_is_left_when_the_agent_is_closed(project: Path, model: ScriptedModel) -> None:
    async with agent(project, model.url, access="auto", trust=["inventory"]) as one:
        await one.run(KOREAN)
        assert any("inventory.py" in " ".join(p.cmdline()) for p in psutil.Process().children(recursive=True))
    assert not any("inventory.py" in " ".join(p.cmdline()) for p in psutil.Process().children(recursive=True))


def examples() -> list[str]:
    """Every Python example of the API in the texts people read."""
    texts = [ROOT / "README.md", ROOT / "hel_tui" / "cli" / "topics" / "api.md"]
    blocks = [block for path in texts for block in re.findall(r"```python\n(.*?)```", path.read_text(), re.S)]
    return [block for block in blocks if "hel_tui.api" in block]


@pytest.mark.parametrize("example", examples())
def test_the_example_runs_as_it_is_written(example: str, project: Path, tmp_path: Path) -> None:
    assert len([line for line in example.splitlines() if line]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=project,
        env={**environment(tmp_path), "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "worker" in done.stdout
    assert "inventory.list_services" in done.stdout
