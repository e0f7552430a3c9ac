"""The official server that has everything, over every transport it speaks."""

from __future__ import annotations

import gzip

from hel_tui.core.mcp.contents import attachment_text, prompt_messages
from hel_tui.core.protocol import FormQuestion, ResourceUpdated, SamplingQuestion, UrlQuestion
from hel_tui.core.store.files import SessionFiles
from hel_tui.core.vocabulary import Invocation, UserMessage
from tests.core.mcp.conftest import until
from tests.reference.conftest import Reference

TOOLS = {
    "echo",
    "get-annotated-message",
    "get-env",
    "get-resource-links",
    "get-resource-reference",
    "get-roots-list",
    "get-structured-content",
    "get-sum",
    "get-tiny-image",
    "gzip-file-as-resource",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
    "trigger-elicitation-request",
    "trigger-long-running-operation",
    "trigger-sampling-request",
    "trigger-url-elicitation",
}


TASKS_ONLY = "simulate-research-query"


async def test_results_of_every_kind_are_read(everything: Reference) -> None:
    def offered() -> bool:
        return {row.raw for row in everything.host.catalogue.rows() if not row.reason} == TOOLS

    await until(offered, "all tools: some come once the server knows what hel can do")
    (left_out,) = [row for row in everything.host.catalogue.rows() if row.reason]
    assert left_out.raw == TASKS_ONLY and "as a task only" in left_out.reason
    assert await everything.run("echo", message="héllo\n") == "Echo: héllo\n"
    assert await everything.run("get-sum", a=2, b=3) == "The sum of 2 and 3 is 5."

    image = await everything.call("get-tiny-image", "ref")
    assert [(one.mime, one.width, one.height) for one in image.images] == [("image/png", 20, 20)]
    assert f"[image png 20×20, saved: {image.saved[0]}]" in image.text

    structured = await everything.call("get-structured-content", "ref", location="Chicago")
    assert structured.warnings == ()
    assert structured.text.count("temperature") == 1

    links = await everything.run("get-resource-links", count=3)
    assert links.count("<demo://resource/dynamic/") == 3
    for kind in ("Text", "Blob"):
        embedded = await everything.run("get-resource-reference", resourceType=kind, resourceId=7)
        assert f"[resource demo://resource/dynamic/{kind.lower()}/7]\nResource 7: " in embedded

    annotated = await everything.call(
        "get-annotated-message", "ref", messageType="success", includeImage=True
    )
    assert "successfully" not in annotated.text and "successfully" in (annotated.full or "")
    assert annotated.images == () and "[image meant for the user alone" in annotated.text
    for_both = await everything.run("get-annotated-message", messageType="error")
    assert for_both == "Error: Operation failed"

    zipped = await everything.call(
        "gzip-file-as-resource", "ref", name="a.gz", data="data:text/plain,abc", outputType="resource"
    )
    (path,) = zipped.saved
    assert gzip.decompress(path.read_bytes()) == b"abc" and path.suffix == ".gz"

    wrong = await everything.call("get-resource-reference", "ref", resourceType="Text", resourceId=-1)
    assert wrong.failed and "resourceId" in wrong.text


async def test_resources_templates_and_prompts_are_listed_read_and_completed(everything: Reference) -> None:
    await everything.through(lambda connection: connection.list_resources())
    rows = everything.host.shelf.resources()
    listed = [row for row in rows if not row.template]
    templates = [row for row in rows if row.template]
    assert len(listed) >= 7
    assert {row.uri for row in templates} == {
        "demo://resource/dynamic/text/{resourceId}",
        "demo://resource/dynamic/blob/{resourceId}",
    }
    assert all(row.variables == ("resourceId",) for row in templates)

    document = next(row for row in listed if row.mime == "text/markdown")
    (content,) = await everything.read(document.uri)
    assert content.mime == "text/markdown" and content.text
    text, *_ = attachment_text("ref", document.uri, (content,), SessionFiles(everything.folder / "files"))
    assert content.text[:40] in text and "not instructions" in text
    (blob,) = await everything.read("demo://resource/dynamic/blob/3")
    assert blob.text.startswith("Resource 3: ")
    template = {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"}
    assert await everything.complete(template, "resourceId", "12") == ["12"]

    await until(lambda: len(everything.host.shelf.prompts()) == 4, "four prompts")
    rows_by_name = {row.name: row for row in everything.host.shelf.prompts()}
    assert [(one.name, one.required) for one in rows_by_name["args-prompt"].fields] == [
        ("city", True),
        ("state", False),
    ]
    files = SessionFiles(everything.folder / "files")
    weather = await everything.prompt("args-prompt", city="Seoul")
    assert prompt_messages(weather, files) == (UserMessage("What's weather in Seoul?"),)
    with_resource = await everything.prompt("resource-prompt", resourceType="Text", resourceId="1")
    asked, resource = prompt_messages(with_resource, files, "ref")
    assert asked.text.startswith("This prompt includes the Text resource")
    assert "<mcp_resource " in resource.text and "plaintext resource" in resource.text
    prompt = {"type": "ref/prompt", "name": "completable-prompt"}
    assert await everything.complete(prompt, "department", "E") == ["Engineering"]
    assert await everything.complete(prompt, "name", "", department="Sales") == ["David", "Eve", "Frank"]


async def test_what_the_server_asks_is_asked_and_answered(everything: Reference) -> None:
    await until(lambda: everything.host.catalogue.find("ref", "trigger-sampling-request"), "its tools")
    roots = await everything.run("get-roots-list")
    assert everything.folder.resolve().as_uri() in roots

    everything.form = (("name", "Ada"), ("integer", 42), ("email", "ada@example.org"))
    filled = await everything.run("trigger-elicitation-request")
    (form,) = everything.of(FormQuestion)
    assert {"text", "boolean", "email", "uri", "date", "integer", "number", "choice", "choices"} <= {
        one.kind for one in form.fields
    }
    assert form.tool == "trigger-elicitation-request"
    assert '"name": "Ada"' in filled and '"integer": 42' in filled

    url = "https://example.org/consent?x=1"
    opened = await everything.run("trigger-url-elicitation", url=url)
    (question,) = everything.of(UrlQuestion)
    assert (question.url, question.host) == (url, "example.org")
    assert "accept" in opened
    first = await everything.call("trigger-url-elicitation", "ref", url=url, errorPath=True)
    assert first.failed and "Call again" in first.text
    assert len(everything.of(UrlQuestion)) == 2
    assert "accept" in await everything.run("trigger-url-elicitation", url=url, errorPath=True)

    answer = await everything.run("trigger-sampling-request", prompt="the question", maxTokens=50)
    assert "Forty-two." in answer and "scripted" in answer
    (request,) = everything.sampled
    assert request.max_tokens == 50
    assert any("the question" in message.text for message in request.messages)
    assert [one.stage for one in everything.of(SamplingQuestion)] == ["request", "answer"]


async def test_progress_logging_and_updates_arrive(everything: Reference) -> None:
    seen: list[tuple[float, float | None]] = []
    tool = everything.tool("trigger-long-running-operation", "ref")
    invocation = Invocation("id", lambda progress, total, _message: seen.append((progress, total)))
    outcome = await tool.run({"duration": 0.3, "steps": 3}, invocation)
    assert not outcome.failed
    assert seen == [(1, 3), (2, 3), (3, 3)]

    await everything.through(lambda connection: connection.set_log_level("debug"))
    await everything.run("toggle-simulated-logging")
    await until(lambda: "evel-message" in everything.log("ref") or "evel message" in everything.log("ref"))

    uri = "demo://resource/dynamic/text/5"
    everything.host.shelf.watch("ref", uri, True)
    await everything.through(lambda connection: connection.watch(uri, True))
    await everything.run("toggle-subscriber-updates")
    await until(lambda: ResourceUpdated("ref", uri) in everything.events, "an update of the resource")
    await everything.through(lambda connection: connection.watch(uri, False))
