"""Servers that misbehave on the wire, through the whole host: the next call must work."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from hel_tui.core.vocabulary import Invocation


async def test_a_call_reaches_the_server_under_the_raw_name_and_comes_back(bench: Any) -> None:
    await bench.start("wire:ok")
    outcome = await bench.call(text="hello")
    assert (outcome.full, outcome.failed) == ("hello", False)
    assert bench.methods() == [
        *("server/discover", "initialize", "notifications/initialized", "tools/list", "tools/call")
    ]
    hello = bench.received()[1]["message"]["params"]
    assert hello["clientInfo"]["name"] == "hel"
    assert set(hello["capabilities"]) == {"roots", "elicitation"}
    assert bench.status().protocol == "2025-11-25"
    assert bench.status().latency > 0


@pytest.mark.parametrize(
    "mode",
    [
        *(
            "banner",
            "log-between",
            "split-utf8",
            "invalid-utf8",
            "lone-surrogate",
            "crlf",
            "bom",
            "string-ids",
        ),
        *("unknown-notification", "late-progress", "null-error", "batch", "glued", "early-traffic"),
        *("duplicate-response", "chatty"),
    ],
)
async def test_two_calls_in_a_row_are_answered_in_mode(bench: Any, mode: str) -> None:
    await bench.start(f"wire:{mode}")
    for words in ("one", "two"):
        outcome = await bench.call(text=words)
        assert not outcome.failed
        if mode not in ("split-utf8", "invalid-utf8", "lone-surrogate"):
            assert outcome.full == words
    assert bench.status().phase == "ready"
    assert bench.methods().count("initialize") == 1


async def test_noise_on_stdout_is_counted_shown_once_and_restarts_nothing(bench: Any) -> None:
    await bench.start("wire:banner")
    assert bench.status().noise == 3
    (notice,) = bench.notices()
    assert "stdout" in notice.text and "╔══════╗" in notice.text
    assert "stdout: 🚀 listening" in bench.log()
    assert bench.status().restarts == 0


async def test_unknown_notifications_are_remarked_on_once_for_each_name(bench: Any) -> None:
    await bench.start("wire:unknown-notification")
    await bench.call(text="one")
    await bench.call(text="two")
    assert bench.log().count("notifications named 'notifications/vendor/thing' are ignored") == 1


async def test_a_second_answer_is_dropped_and_said(bench: Any) -> None:
    await bench.start("wire:duplicate-response")
    assert (await bench.call(text="first")).full == "first"
    assert (await bench.call(text="next")).full == "next"
    assert "was dropped" in bench.log() and bench.status().restarts == 0


async def test_bad_bytes_are_replaced_and_the_result_is_kept(bench: Any) -> None:
    await bench.start("wire:invalid-utf8")
    assert (await bench.call()).full == "bad: \ufffd"


async def test_lone_surrogates_never_get_further_than_the_border(bench: Any) -> None:
    await bench.start("wire:lone-surrogate")
    assert (await bench.call(text="\ud83d")).full == "cut \ufffd here"


async def test_a_result_of_two_megabytes_arrives_whole_and_goes_to_a_file(bench: Any) -> None:
    await bench.start("wire:big-line", env={"BAD_SIZE": "2000000"})
    outcome = await bench.call()
    assert len(outcome.full) == 2_000_000
    assert len(outcome.text) < 10_000
    assert outcome.saved[0].stat().st_size == 2_000_000


async def test_an_answer_over_the_limit_fails_its_call_only(bench: Any) -> None:
    await bench.start("wire:over-the-cap")
    outcome = await bench.call()
    assert outcome.failed and "limit" in outcome.text
    assert (await bench.call(text="next")).full == "next"


async def test_answers_of_no_valid_shape_end_their_calls(bench: Any) -> None:
    await bench.start("wire:odd-answers")
    said = {}
    async with asyncio.timeout(20):
        for raw in ("null", "string", "nothing", "odd_error", "string_error", "broken", "no_id"):
            said[raw] = await bench.call(raw)
    assert said.pop("null").full == "(no output)"
    assert all(outcome.failed for outcome in said.values())
    assert "it broke" in said["string_error"].text
    assert "cannot parse" in said["no_id"].text


async def test_an_answer_with_an_unknown_id_is_remarked_on(bench: Any) -> None:
    await bench.start("wire:unknown-id", timeout=0.3)
    assert (await bench.call()).failed
    assert "hel: an answer with the unknown id 987654 was dropped" in bench.log()


async def test_a_server_that_asks_is_answered_during_its_call(bench: Any) -> None:
    await bench.start("wire:server-requests")
    replies = json.loads((await bench.call()).full)
    assert replies["ping"] == {}
    assert replies["roots/list"]["roots"][0]["uri"] == bench.folder.as_uri()
    assert replies["sampling/createMessage"]["code"] == replies["vendor/thing"]["code"] == -32601


async def test_without_roots_in_the_entry_they_are_neither_declared_nor_served(bench: Any) -> None:
    await bench.start("wire:server-requests", roots=False)
    assert bench.received()[1]["message"]["params"]["capabilities"].keys() == {"elicitation"}
    assert json.loads((await bench.call()).full)["roots/list"]["code"] == -32601


async def test_progress_is_told_and_resets_the_idle_limit(bench: Any) -> None:
    await bench.start("wire:long-progress", env={"STEPS": "12"}, timeout=0.6)
    told: list[float] = []
    invocation = Invocation("id", lambda progress, _total, _message: told.append(progress))
    outcome = await bench.tool().run({"text": "made it"}, invocation)
    assert outcome.full == "made it"
    assert told and told == sorted(told)


async def test_odd_notifications_never_end_a_connection(bench: Any) -> None:
    await bench.start("wire:odd-notes")
    told: list[float] = []
    invocation = Invocation("id", lambda progress, _total, _message: told.append(progress))
    outcome = await bench.tool().run({"text": "made it"}, invocation)
    assert outcome.full == "made it"
    assert all(abs(number) <= 1 for number in told)
    assert (await bench.call(text="again")).full == "again"


async def test_progress_never_gets_a_call_past_its_hard_limit(bench: Any) -> None:
    await bench.start("wire:long-progress", env={"STEPS": "60"}, timeout=0.3)
    outcome = await bench.call()
    assert outcome.failed and "1.2 s in all" in outcome.text


async def test_twenty_thousand_log_messages_leave_the_loop_alive_and_the_log_bounded(bench: Any) -> None:
    await bench.start("wire:chatty")
    assert (await bench.call(text="through")).full == "through"
    log = bench.host.log("fix")
    assert log.end - log.first <= 50_000
    assert "message: x" in bench.log()


async def test_arguments_that_do_not_fit_are_not_sent(bench: Any) -> None:
    await bench.start("wire:ok")
    outcome = await bench.call(text=5)
    assert outcome.failed and "arguments.text" in outcome.text and "Not executed" in outcome.text
    assert "tools/call" not in bench.methods()


async def test_the_models_keys_do_not_reach_a_server(bench: Any) -> None:
    bench.environ.update(OPENAI_API_KEY="k", HEL_API_KEY="k", https_proxy="http://p", LC_ALL="C", FOO="x")
    await bench.start("life:report", env={"X": "1"})
    facts = json.loads((await bench.call("report")).full)
    assert not {"OPENAI_API_KEY", "HEL_API_KEY", "FOO"} & set(facts["env"])
    assert facts["env"]["X"] == "1"
    assert facts["env"]["https_proxy"] == "http://p"
    assert facts["env"]["PATH"] == os.environ["PATH"]
    assert facts["leader"] and facts["terminals"] == [False, False, False]


@pytest.mark.parametrize("name", ["big-integer", "deep"])
async def test_an_answer_hel_cannot_read_is_no_refusal_of_the_server(bench: Any, name: str) -> None:
    await bench.start("wire:odd-answers")
    outcome = await bench.call(name)
    if name == "big-integer":
        assert "(5,000 digits)" in outcome.full and not outcome.failed
    else:
        assert outcome.failed
        assert "cannot read the answer" in outcome.text and "refused" not in outcome.text
