"""The scripted model, over its real endpoint and with the real sample server's answers."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx
import pytest

import hel_tui.samples
from hel_tui.core.models.demo import DemoModel, start_demo
from hel_tui.core.models.demo.script import script
from hel_tui.core.models.types import Finish, Request
from hel_tui.core.vocabulary import Message, ToolDefinition, ToolMessage, UserMessage

KOREAN = (
    "`inventory` 서버에서 서비스 `api`에 배정된 포트를 찾아 `config.ini`의 `port`에 넣어 주세요. "
    "다른 것은 바꾸지 마세요."
)
ENGLISH = (
    "Look up the port of the service api on the inventory server and put it into config.ini. "
    "Change nothing else."
)
LIST, LOOK = "mcp__inventory__list_services", "mcp__inventory__lookup_port"
GOOD: dict[str, str] = {
    "read_file": "port=7000\n",
    "load_mcp_tool": f"{LIST}: loaded\n{LOOK}: loaded",
    LIST: "<data>\nadmin\napi\nworker\n</data>",
    LOOK: "<data>\napi: 5151\n</data>",
    "search_replace": "Replaced one passage in config.ini, line 1.",
}


@asynccontextmanager
async def demo() -> AsyncIterator[DemoModel]:
    model = await start_demo(pause=0)
    try:
        yield model
    finally:
        await model.aclose()


async def ask(model: DemoModel, history: list[Message], offered: set[str]) -> Finish:
    tools = tuple(ToolDefinition(name, "", {}) for name in sorted(offered))
    last = [part async for part in model.stream(Request(history, tools))][-1]
    assert isinstance(last, Finish)
    return last


async def play(
    model: DemoModel,
    text: str,
    results: dict[str, str] = GOOD,
    offered: set[str] | None = None,
    history: list[Message] | None = None,
) -> tuple[list[tuple[str, dict[str, object]]], str]:
    """Go through a turn with these results: the calls made, and the last words."""
    tools = offered if offered is not None else {"read_file", "search_replace", "load_mcp_tool"}
    talk = history if history is not None else []
    talk.append(UserMessage(text))
    made: list[tuple[str, dict[str, object]]] = []
    for _ in range(10):
        finish = await ask(model, talk, tools)
        talk.append(finish.message)
        if not finish.message.calls:
            return made, finish.message.text
        for call in finish.message.calls:
            made.append((call.name, json.loads(call.arguments)))
            talk.append(ToolMessage(call.id, call.name, results[call.name]))
            if call.name == "load_mcp_tool" and "loaded" in results[call.name]:
                tools |= set(made[-1][1]["names"])  # type: ignore[call-overload]
    raise AssertionError("the demo never ends")


@pytest.mark.parametrize("text", [KOREAN, ENGLISH])
async def test_the_walk_through_reads_loads_asks_and_edits(text: str) -> None:
    async with demo() as model:
        made, words = await play(model, text)
    assert made == [
        ("read_file", {"path": "config.ini"}),
        ("load_mcp_tool", {"names": [LIST, LOOK]}),
        (LIST, {}),
        (LOOK, {"service": "api"}),
        ("search_replace", {"path": "config.ini", "search": "port=7000", "replace": "port=5151"}),
    ]
    assert "port=7000" in words
    assert "port=5151" in words
    assert bool(re.search("[가-힣]", words)) == (text is KOREAN)


async def test_both_first_calls_come_in_one_response() -> None:
    async with demo() as model:
        finish = await ask(model, [UserMessage(KOREAN)], {"read_file", "load_mcp_tool"})
    assert [call.name for call in finish.message.calls] == ["read_file", "load_mcp_tool"]
    assert finish.usage is not None
    assert finish.usage.input_tokens > 0
    assert finish.message.reasoning


async def test_tools_that_are_loaded_are_not_loaded_again() -> None:
    async with demo() as model:
        history: list[Message] = []
        offered = {"read_file", "search_replace", "load_mcp_tool"}
        await play(model, ENGLISH, offered=offered, history=history)
        results = GOOD | {"read_file": "port=5151", LOOK: "worker: 6161"}
        made, words = await play(model, "And the port of the worker service?", results, offered, history)
    assert [name for name, _ in made] == ["read_file", LIST, LOOK, "search_replace"]
    assert "6161" in words


async def test_nothing_is_edited_when_the_file_is_right_already() -> None:
    async with demo() as model:
        made, words = await play(model, ENGLISH, GOOD | {"read_file": "port=5151"})
    assert made[-1][0] == LOOK
    assert "nothing to change" in words


@pytest.mark.parametrize(
    ("tool", "result", "quoted", "last"),
    [
        ("read_file", "There is no file config.ini.", "no file", "load_mcp_tool"),
        ("load_mcp_tool", f"{LIST}: unknown", "unknown", "load_mcp_tool"),
        (LOOK, "The person refused this call.", "person refused", LOOK),
        (LOOK, "<data>\nunknown service: api\n</data>", "“unknown service: api”", LOOK),
        ("search_replace", "Refused: not allowed at this level.", "not allowed", "search_replace"),
    ],
)
async def test_a_call_that_failed_or_was_refused_is_admitted_and_ends_the_turn(
    tool: str, result: str, quoted: str, last: str
) -> None:
    async with demo() as model:
        made, words = await play(model, ENGLISH, GOOD | {tool: result})
    assert made[-1][0] == last
    assert words.startswith("I stop here.")
    assert quoted in words


@pytest.mark.parametrize(("text", "words"), [(ENGLISH, "no tool"), (KOREAN, "도구가 없습니다")])
async def test_without_mcp_it_says_that_no_tool_is_there(text: str, words: str) -> None:
    async with demo() as model:
        made, said = await play(model, text, offered={"read_file", "search_replace"})
    assert [name for name, _ in made] == ["read_file"]
    assert words in said


async def test_services_are_listed_and_markdown_is_shown() -> None:
    async with demo() as model:
        made, words = await play(model, "Which services are there?")
        assert [name for name, _ in made] == ["load_mcp_tool", LIST]
        assert "`worker`" in words
        for text in ("Show me some Markdown.", "마크다운을 보여 줘"):
            _, shown = await play(model, text)
            assert all(mark in shown for mark in ("# ", "```python", "|:--", "\n> ", "\n1. "))


@pytest.mark.parametrize("text", ["hello", "안녕"])
async def test_anything_else_gets_told_what_the_demo_can_play(text: str) -> None:
    async with demo() as model:
        made, words = await play(model, text)
    assert made == []
    assert "config.ini" in words
    examples = re.findall(r"^- `(.+)`$", words, re.M)
    scenes = [scene["when"] for scene in script()["scene"]]
    played = [any(all(re.search(p, one, re.I) for p in when) for when in scenes) for one in examples]
    assert played == [True, True, True]


def test_the_port_is_in_no_script() -> None:
    folder = Path(hel_tui.samples.__file__).parent
    holders = [path for path in folder.rglob("*") if path.is_file() and b"8437" in path.read_bytes()]
    assert [path.name for path in holders if path.suffix != ".pyc"] == ["inventory.py"]


async def test_it_is_marked_as_a_demo_and_closed_to_others() -> None:
    async with demo() as model:
        assert model.info.label == "demo/walk-through"
        assert model.info.is_demo
        async with httpx.AsyncClient(trust_env=False) as stranger:
            response = await stranger.post(f"{model.info.base_url}/chat/completions", json={"messages": []})
    assert response.status_code == 401


async def test_leaving_early_and_closing_leave_nothing_behind() -> None:
    model = await start_demo(pause=0.01)
    async with aclosing(model.stream(Request((UserMessage("show markdown"),)))) as parts:
        async for _ in parts:
            break
    await model.aclose()
    assert not model._endpoint._tasks
