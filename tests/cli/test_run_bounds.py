"""`hel run` with a shape for its answer and bounds on cost, steps and time, in every API there is."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, mode, say
from tests.fixtures.models.provider import Proxy
from tests.rig import KEY, environment

DIALECTS = {
    "chat": "openai-chat/gpt-4o-mini",
    "responses": "openai-responses/gpt-4o-mini",
    "messages": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
}
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), KEY)
HOSTS = {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"}
SCHEMA = {
    "type": "object",
    "properties": {"port": {"type": "integer"}},
    "required": ["port"],
    "additionalProperties": False,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def run(project: Path, env: dict[str, str], model: ScriptedModel):
    def go(*arguments: str, label: str = "scripted/scripted", stdin: str = "") -> Ran:
        chosen = ("--no-mcp", "--model", label, "--base-url", model.url)
        return hel("run", *arguments, *chosen, env=env, cwd=project, stdin=stdin)

    return go


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_that_does_not_fit_is_asked_for_again_and_the_value_stands_alone_on_stdout(
    run, model, dialect: str
) -> None:
    model.replies[:] = [say("It is 8437."), say('{"port": "8437"}'), say('```json\n{"port": 8437}\n```')]
    ran = run("which port?", "--output-schema", "schema.json", label=DIALECTS[dialect])
    assert (ran.status, ran.out) == (0, '{"port": 8437}\n'), ran.err
    assert len(model.requests) == 3
    first, second, third = (json.dumps(body) for body in model.requests)
    assert "fit this JSON schema" in first
    assert "it is not JSON" in second
    assert "is not of type 'integer'" in third
    assert "asked again (2 of 3)" in ran.err and "asked again (3 of 3)" in ran.err


@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_may_come_before_the_answer_that_fits(run, model, project, dialect: str) -> None:
    (project / "config.ini").write_text("port=8437\n")
    model.replies[:] = [call("read_file", {"path": "config.ini"}), say('{"port": 8437}')]
    ran = run("which port?", "--json", "--output-schema", "schema.json", label=DIALECTS[dialect])
    (result,) = ran.of("result")
    assert (ran.status, result["data"], result["steps"]) == (0, {"port": 8437}, 2)


def test_an_answer_that_never_fits_is_status_1_with_its_errors_and_nothing_on_stdout(run, model) -> None:
    model.replies[:] = [say("no"), say("no"), say('{"port": 1, "host": 2}')]
    ran = run("which port?", "--output-schema", "schema.json")
    assert (ran.status, ran.out) == (1, "")
    assert "No answer of 3 fits the schema" in ran.err and "'host' was unexpected" in ran.err
    assert model.replies == []


@pytest.mark.parametrize(
    ("schema", "answer", "sentence"),
    [
        ({"pattern": "^(a|a)*$"}, json.dumps("a" * 60 + "!"), "takes too long"),
        ({"patternProperties": {"^(a|a)*$": {}}}, json.dumps({"a" * 60 + "!": 1}), "takes too long"),
        ({"$ref": "#/nowhere"}, "1", "the schema cannot be used"),
        ({"$ref": "#"}, "1", "too deep"),
        ({"format": "date"}, json.dumps("yesterday"), "is not a 'date'"),
        (
            {"$id": "http://127.0.0.1:1/a", "$schema": "http://127.0.0.1:1/b", "type": "string"},
            "1",
            "of type",
        ),
    ],
)
def test_no_schema_holds_the_run_up_or_asks_anybody(
    run, model, project, schema: dict[str, Any], answer: str, sentence: str
) -> None:
    (project / "odd.json").write_text(json.dumps(schema))
    model.replies[:] = [say(answer)] * 3
    ran = run("hi", "--output-schema", "odd.json")
    assert (ran.status, ran.out) == (1, "")
    assert sentence in ran.err


def test_without_a_schema_there_is_no_data(run, model) -> None:
    model.replies[:] = [say('{"port": 1}')]
    (result,) = run("hi", "--json").of("result")
    assert result["data"] is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON"),
        ("[]", "the schema is no JSON object"),
        ('{"type": "nonsense"}', "the schema is none"),
        ('{"$ref": "https://example.com/x"}', "refers to https://example.com/x"),
        (None, "No such file"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_before_anything_is_sent(
    run, model, project, text: str | None, sentence: str
) -> None:
    if text is not None:
        (project / "bad.json").write_text(text)
    ran = run("hi", "--output-schema", "bad.json")
    assert (ran.status, ran.out, model.requests) == (2, "", [])
    assert sentence in ran.err


@pytest.fixture
def paid(project: Path, env: dict[str, str], model: ScriptedModel, tmp_path: Path):
    """Runs at the provider's own address: what a request costs is known there."""

    def go(*arguments: str, label: str) -> Ran:
        with Proxy(model.url, tmp_path) as proxy:
            there = {**env, **proxy.variables, **KEYS}
            ran = hel("run", *arguments, "--no-mcp", "--model", label, env=there, cwd=project)
            assert set(proxy.hosts) <= HOSTS
        return ran

    return go


FORMATS = {
    "chat": lambda body: body.get("response_format", {}).get("json_schema"),
    "responses": lambda body: body.get("text", {}).get("format"),
    "messages": lambda body: body.get("output_config", {}).get("format"),
}


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_provider_that_can_hold_answers_to_a_schema_is_asked_to(paid, model, dialect: str) -> None:
    model.replies[:] = [call("glob", {"pattern": "*"}), say('{"port": 8437}')]
    ran = paid("which port?", "--output-schema", "schema.json", label=DIALECTS[dialect])
    assert (ran.status, ran.out) == (0, '{"port": 8437}\n'), ran.err
    held = [FORMATS[dialect](body) for body in model.requests]
    assert [one["schema"] for one in held] == [SCHEMA, SCHEMA]
    assert held[0].get("strict") is (None if dialect == "messages" else True)


@pytest.mark.parametrize("dialect", FORMATS)
def test_where_that_is_refused_the_words_alone_have_to_do(paid, model, dialect: str) -> None:
    refusal = {
        "chat": "Invalid schema for response_format 'answer': schema must have a 'type' key.",
        "responses": "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
        "messages": "output_config.format: this model does not support structured outputs",
    }[dialect]
    model.replies[:] = [fail(400, refusal), say('{"port": 1.5}'), say('{"port": 8437}')]
    ran = paid("which port?", "--output-schema", "schema.json", label=DIALECTS[dialect])
    assert (ran.status, ran.out) == (0, '{"port": 8437}\n'), ran.err
    held = [FORMATS[dialect](body) is not None for body in model.requests]
    assert held == [True, False, False]
    assert "fit this JSON schema" in json.dumps(model.requests[1])


def test_engines_at_other_addresses_get_the_words_alone(run, model) -> None:
    model.replies[:] = [say('{"port": 8437}')] * 3
    for dialect, held in FORMATS.items():
        assert run("go", "--output-schema", "schema.json", label=DIALECTS[dialect]).status == 0
        assert held(model.requests[-1]) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_request_is_made_once_the_money_is_spent(paid, model, dialect: str) -> None:
    model.replies[:] = [call("glob", {"pattern": f"*{n}"}) for n in range(9)]
    ran = paid("go on", "--json", "--max-cost", "0.000001", label=DIALECTS[dialect])
    (result,) = ran.of("result")
    assert (ran.status, result["status"], len(model.requests)) == (3, "limit", 1), result
    assert "dollars, the limit on cost" in result["message"]
    assert ran.of("usage")[0]["cost"] > 0.000001


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_the_time_limit_cut_off_costs_what_it_is_estimated_to(paid, model, dialect: str) -> None:
    model.replies[:] = [mode("hang-before-headers")]
    ran = paid("go on", "--json", "--timeout", "5", label=DIALECTS[dialect])
    (usage,), (result,) = ran.of("usage"), ran.of("result")
    assert (ran.status, result["status"], len(model.requests)) == (3, "limit", 1), result
    assert (usage["requests"], usage["uncounted"], usage["input_tokens"] > 500) == (1, 1, True), usage
    assert usage["cost"] > 0


def test_money_that_suffices_bounds_nothing(paid, model) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    model.replies[:] = [call("glob", {"pattern": "*"}), say("done", usage=usage)]
    ran = paid("go", "--json", "--max-cost", "5", label=DIALECTS["chat"])
    assert (ran.status, ran.of("usage")[0]["cost"] > 0.1) == (0, True)


def test_answers_that_do_not_fit_are_not_asked_for_again_once_the_money_is_spent(paid, model) -> None:
    model.replies[:] = [say("no")] * 3
    bounds = ("--max-cost", "0.000001", "--output-schema", "schema.json")
    ran = paid("go", *bounds, label=DIALECTS["chat"])
    assert (ran.status, ran.out, len(model.requests)) == (3, "", 1)
    assert "the limit on cost" in ran.err


def test_a_cost_that_cannot_be_told_is_refused_before_the_first_request(run, model) -> None:
    ran = run("go", "--max-cost", "1")
    assert (ran.status, model.requests) == (1, [])
    assert "The price of scripted/scripted is unknown" in ran.err


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_limit_on_steps_holds(run, model, dialect: str) -> None:
    model.replies[:] = [call("glob", {"pattern": f"*{n}"}) for n in range(9)]
    ran = run("go on", "--json", "--max-steps", "2", label=DIALECTS[dialect])
    assert (ran.status, ran.of("result")[0]["steps"], len(model.requests)) == (3, 2, 2)


def test_time_that_is_up_ends_the_run_in_order_with_what_it_has(run, model) -> None:
    model.replies[:] = [call("glob", {"pattern": "*"}), mode("hang")]
    ran = run("go", "--json", "--timeout", "1.5")
    (result,) = ran.of("result")
    assert (ran.status, result["status"], result["tool_calls"]) == (3, "limit", 1)
    assert result["message"] == "Stopped after 1.5 seconds, the time limit."
    assert ran.of("usage")[0]["requests"] >= 1


def test_the_model_is_told_what_cancelled_its_call(run, model) -> None:
    model.replies[:] = [call("bash", {"command": "sleep 100"}), say("never")]
    ran = run("go", "--json", "--timeout", "1.5", "--access", "auto")
    (result,) = [one for one in ran.of("tool_result") if one["state"] == "cancelled"]
    assert ran.status == 3
    assert "cancelled by the time limit of 1.5 seconds" in result["text"]


def test_time_that_suffices_bounds_nothing(run, model) -> None:
    model.replies[:] = [say("hi")]
    ran = run("go", "--timeout", "300")
    assert (ran.status, ran.out) == (0, "hi\n")


@pytest.mark.parametrize("flag", ["--timeout", "--max-cost"])
@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan", "inf"])
def test_a_bound_that_is_no_amount_is_a_usage_error(run, model, flag: str, value: str) -> None:
    ran = run("go", f"{flag}={value}")
    assert (ran.status, model.requests) == (2, [])
    assert "expected a number above 0" in ran.err


def sent(model: ScriptedModel) -> Any:
    return model.requests[0]["messages"][-1]["content"]


def test_what_is_piped_in_joins_the_prompt(run, model) -> None:
    model.replies[:] = [say("a list")]
    assert run("what is this?", stdin="one\ntwo\n").status == 0
    assert sent(model) == "what is this?\n\n<stdin>\none\ntwo\n\n</stdin>"


def test_without_a_prompt_what_is_piped_in_is_the_prompt(run, model) -> None:
    model.replies[:] = [say("hi")]
    assert run(stdin="say hi").status == 0
    assert sent(model) == "say hi"


def test_a_file_may_be_piped_in(project, env, model) -> None:
    model.replies[:] = [say("a schema")]
    chosen = ["--no-mcp", "--model", "scripted/scripted", "--base-url", model.url]
    with (project / "schema.json").open() as file:
        done = subprocess.run(
            [*HEL, "run", "what is this?", *chosen],
            env={**env, "PYTHONPATH": str(ROOT)},
            cwd=project,
            stdin=file,
            capture_output=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == b"a schema\n"
    assert '"required": ["port"]' in sent(model)


@pytest.fixture
def silent(project: Path, env: dict[str, str], model: ScriptedModel):
    """Runs a prompt with a pipe for stdin that nobody speaks into and nobody closes."""

    def go(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        chosen = ["--no-mcp", "--model", "scripted/scripted", "--base-url", model.url]
        read, write = os.pipe()
        try:
            return subprocess.run(
                [*HEL, "run", *arguments, *chosen],
                env={**env, "PYTHONPATH": str(ROOT)},
                cwd=project,
                stdin=read,
                capture_output=True,
                timeout=60,
                check=False,
            )
        finally:
            os.close(read)
            os.close(write)

    return go


def test_a_pipe_that_nobody_speaks_into_does_not_hold_it_up(silent, model) -> None:
    model.replies[:] = [say("hi")]
    done = silent("go")
    assert (done.returncode, done.stdout, sent(model)) == (0, b"hi\n", "go")


def test_time_that_is_over_before_the_prompt_is_known_makes_no_request(silent, model) -> None:
    """A pipe that nobody speaks into counts as empty only after a while; the time may be over before that."""
    model.replies[:] = [say("never")]
    done = silent("go", "--json", "--timeout", "1")
    last = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, last["type"], last["status"]) == (3, "result", "limit")
    assert not model.requests
