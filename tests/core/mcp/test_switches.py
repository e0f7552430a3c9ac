"""What a server may ask for, changed while it runs: off holds at once, on where it was declared; and the overview."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hel_tui.core.mcp.handshake import Hello
from hel_tui.core.mcp.overview import overview
from hel_tui.core.protocol import FormAnswer, Question, ServerInside
from hel_tui.core.store.redact import Redactor
from tests.core.mcp.conftest import until

FORM = {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
PROMPT = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}], "maxTokens": 9}


async def _asked(bench: Any, method: str, params: dict[str, Any]) -> Any:
    return json.loads((await bench.call("ask", method=method, params=params)).full)


def _inside(bench: Any) -> ServerInside:
    return overview(bench.host.server("fix"), bench.host.catalogue)


def _notes(bench: Any) -> dict[str, tuple[bool, str]]:
    return {one.name: (one.declared, one.note) for one in _inside(bench).capabilities if one.side == "hel"}


@pytest.fixture
def answered(bench: Any) -> list[Question]:
    """The person says yes to every form; what they were asked."""
    asked: list[Question] = []

    async def person(question: Question) -> FormAnswer:
        asked.append(question)
        return FormAnswer("accept", ())

    bench.options |= {"ask": person, "answerable": True}
    return asked


async def test_what_is_switched_off_is_refused_at_once_as_the_specification_says(
    bench: Any, answered: list[Question]
) -> None:
    await bench.start("asks:asks")
    assert (await _asked(bench, "elicitation/create", FORM))["action"] == "accept"
    for what in ("roots", "elicitation"):
        bench.host.server("fix").contact.allow(what, False)
    assert (await _asked(bench, "roots/list", {}))["code"] == -32601
    assert await _asked(bench, "elicitation/create", FORM) == {"action": "decline"}
    assert len(answered) == 1
    assert _notes(bench)["roots"] == (True, "refused now; declared until the next start")
    bench.host.server("fix").contact.allow("roots", True)
    assert "roots" in await _asked(bench, "roots/list", {})


async def test_what_was_not_declared_works_from_the_next_start_on(
    bench: Any, answered: list[Question]
) -> None:
    await bench.start("asks:asks", elicitation=False)
    bench.host.server("fix").contact.allow("elicitation", True)
    assert (await _asked(bench, "elicitation/create", FORM))["code"] == -32601
    assert _notes(bench)["elicitation.form"] == (False, "declared from the next start on")
    bench.host.restart("fix")
    await until(lambda: bench.methods().count("initialize") == 2)
    await until(lambda: bench.status().phase == "ready")
    assert (await _asked(bench, "elicitation/create", FORM))["action"] == "accept"
    assert len(answered) == 1 and _notes(bench)["elicitation.form"] == (True, "")


async def test_sampling_that_is_switched_off_is_rejected(bench: Any, answered: list[Question]) -> None:
    await bench.start("asks:asks", sampling=True)
    bench.host.server("fix").contact.allow("sampling", False)
    assert (await _asked(bench, "sampling/createMessage", PROMPT))["code"] == -1
    assert answered == []


async def test_a_stateless_server_hears_of_it_with_the_next_request(
    bench: Any, answered: list[Question]
) -> None:
    await bench.start("asks:rounds", elicitation=False)
    bench.host.server("fix").contact.allow("elicitation", True)
    assert (await _asked(bench, "elicitation/create", FORM))["a"]["action"] == "accept"
    said = bench.received()[-1]["message"]["params"]["_meta"]
    assert "elicitation" in said["io.modelcontextprotocol/clientCapabilities"]
    bench.host.server("fix").contact.allow("elicitation", False)
    outcome = await bench.call("ask", method="elicitation/create", params=FORM)
    assert outcome.failed and len(answered) == 1


async def test_the_overview_tells_what_was_negotiated_and_how_requests_went(bench: Any) -> None:
    await bench.start("lists:list-changed")
    await bench.call("storm")
    await bench.call("storm")
    bench.host.catalogue.load(["mcp__fix__storm"])
    inside = _inside(bench)
    assert (inside.era, inside.breaker) == ("handshake", "") and inside.server_name
    declared = {one.name: one.declared for one in inside.capabilities if one.side == "server"}
    assert declared["tools.listChanged"] and not declared["resources"] and not declared["prompts.listChanged"]
    calls = next(one for one in inside.methods if one.method == "tools/call")
    assert (calls.count, calls.errors, calls.direction, len(calls.recent)) == (2, 0, "out", 2)
    assert 0 < calls.median <= calls.p95
    assert 0 < inside.loaded_tokens < inside.tokens
    assert dict(inside.switches) == {"roots": True, "elicitation": True, "sampling": False}


@pytest.mark.parametrize(("mode", "version"), [("lists:spoken-names", "2.0 beta"), ("lists:no-version", "")])
async def test_the_name_and_the_version_of_a_server_are_told_apart(
    bench: Any, mode: str, version: str
) -> None:
    await bench.start(mode)
    inside = _inside(bench)
    assert (inside.server_name, inside.server_version) == ("My weather server", version)
    assert f"ready: {f'My weather server {version}'.strip()}, protocol" in bench.log()


def test_what_a_server_says_of_itself_is_cut_when_secrets_are_out() -> None:
    secret = "Zq7wLp2xVb9nRt4k"
    for offset in (190, 19_990):
        said = "." * offset + secret + "." * 9000
        hello = Hello("2025-11-25", "handshake", {}, name=said, release=said, instructions=said)
        masked = hello.masked(Redactor([secret]))
        assert secret[:6] not in repr(masked)
        assert masked.name == masked.release and 180 < len(masked.name) <= 200
        assert offset < len(masked.instructions) <= 20_000


async def test_a_server_that_is_known_and_gone_still_shows_what_it_was(bench: Any) -> None:
    await bench.start("wire:ok")
    bench.host.switch("fix", False)
    await until(lambda: bench.status().phase == "off")
    assert _inside(bench).era == "handshake"
