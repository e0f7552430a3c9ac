"""A server written with the official TypeScript SDK, over pipes and over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hel_tui.core.mcp.contents import prompt_messages
from hel_tui.core.protocol import FormQuestion
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Invocation, UserMessage
from tests.core.mcp.conftest import until
from tests.reference.conftest import Reference, need, serving

SERVER = Path(__file__).parents[1] / "fixtures" / "servers" / "typescript" / "server.mjs"


@pytest.fixture(params=["stdio", "http"])
async def server(request: pytest.FixtureRequest, reference: Reference) -> AsyncIterator[Reference]:
    sdk = str(need("node"))
    if request.param == "stdio":
        await reference.up(command="node", args=(str(SERVER), "stdio"), env=(("SDK", sdk),))
        yield reference
        return
    async with serving("node", str(SERVER), "http", SDK=sdk) as port:
        await reference.up("http", url=f"http://127.0.0.1:{port}/mcp")
        yield reference
        await reference.host.aclose()
        reference.hosts.clear()


async def test_its_tools_give_results_of_every_kind(server: Reference) -> None:
    total = await server.call("add", "ref", a=2, b=3)
    assert (total.full, total.warnings) == ("5", ())
    failed = await server.call("fail", "ref")
    assert failed.failed and "on purpose" in failed.text
    several = await server.call("picture", "ref")
    assert [one.label for one in several.images] == ["png 1×1"]
    assert len(several.saved) == 2
    assert "note <note://1> (text/plain, 8 bytes)\n[resource note://1]\nnote one" in several.text


async def test_progress_and_log_messages_come_with_the_call_they_belong_to(server: Reference) -> None:
    seen: list[str] = []
    invocation = Invocation("id", lambda _progress, _total, message: seen.append(message))
    assert not (await server.tool("work", "ref").run({"steps": 3}, invocation)).failed
    assert seen[0] == "step 1"  # what follows at once may be merged
    await until(lambda: "worked hard" in server.log("ref"), "its log message")


async def test_the_person_and_the_model_are_asked(server: Reference) -> None:
    server.form = (("name", "Ada"),)
    assert await server.run("ask") == "accept Ada"
    (question,) = server.of(FormQuestion)
    assert (question.tool, [one.name for one in question.fields]) == ("ask", ["name"])
    assert await server.run("sample") == "Forty-two."


async def test_a_tool_that_is_added_arrives(server: Reference) -> None:
    await server.run("grow")
    await until(lambda: server.host.catalogue.find("ref", "grown"), "the new tool")
    assert await server.run("grown") == "grown"


async def test_a_template_is_read_and_a_prompt_is_used(server: Reference) -> None:
    await server.through(lambda connection: connection.list_resources())
    assert [(row.uri, row.template) for row in server.host.shelf.resources()] == [("note://{n}", True)]
    (content,) = await server.read("note://7")
    assert content.text == "note 7"
    prompt = await server.prompt("greet", who="Ada")
    files = SessionFiles(server.folder / "files")
    assert prompt_messages(prompt, files) == (UserMessage("Greet Ada."),)
