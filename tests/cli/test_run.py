"""`hel run` from a shell: one prompt, one answer, one exit status."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import HEL, ROOT, Ran, hel
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, fail, mode, say
from tests.rig import KOREAN, LIST, LOOKUP, PORT_TASK, calls_received, environment, received, sample

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return sample(tmp_path)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, HEL_API_KEY=KEY)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


@pytest.fixture
def run(project: Path, env: dict[str, str], model: ScriptedModel):
    def go(*arguments: str, stdin: str = "") -> Ran:
        chosen = ("--model", "scripted/scripted", "--base-url", model.url)
        return hel("run", *arguments, *chosen, env=env, cwd=project, stdin=stdin)

    return go


def test_the_port_task_runs_without_a_screen(run, project: Path, env, model: ScriptedModel) -> None:
    assert hel("mcp", "trust", "--yes", env=env, cwd=project).status == 0
    model.replies[:] = PORT_TASK
    ran = run(KOREAN, "--json", "--access", "auto", "--tools", "read_file,search_replace", "--max-steps", "8")
    assert ran.status == 0, ran.err
    assert (project / "config.ini").read_bytes() == b"port=8437\n"
    assert calls_received(project) == [("list_services", {}), ("lookup_port", {"service": "api"})]
    kinds = [line["type"] for line in ran.lines]
    assert kinds[0] == "session"
    assert kinds[-2:] == ["usage", "result"]
    allowed = {
        "session",
        "server",
        "text",
        "tool_call",
        "approval",
        "tool_result",
        "usage",
        "error",
        "result",
    }
    assert set(kinds) <= allowed
    assert [line["tool"] for line in ran.of("tool_call")][2:4] == ["list_services", "lookup_port"]
    assert ran.of("server")[-1]["state"] == "ready"
    result = ran.of("result")[0]
    assert (result["status"], result["exit"], result["steps"], result["tool_calls"]) == ("done", 0, 5, 5)
    assert result["text"] == "config.ini now says port=8437."


def test_the_result_of_one_call_stands_below_it_and_those_of_several_say_whose_they_are(run, model) -> None:
    several = calls(call("read_file", {"path": "config.ini"}), call("read_file", {"path": "nosuch.ini"}))
    model.replies[:] = [several, call("glob", {"pattern": "*.ini"}), say("done")]
    ran = run("look", "--no-mcp")
    assert ran.status == 0, ran.err
    first, second, *results, third, last = [line for line in ran.err.splitlines() if line[0] in "→ "]
    assert (first, second) == ("→ read_file  config.ini", "→ read_file  nosuch.ini")
    said = [re.sub(r" \(.*", "", line) for line in results]
    assert said in (
        ["  read_file  config.ini: ok", "  read_file  nosuch.ini: failed"],
        ["  failed", "  read_file  config.ini: ok"],  # the second was over first: it stands below its line
    )
    assert third == "→ glob  *.ini" and last.startswith("  ok (")


def test_a_model_that_stands_in_is_told_in_words_and_in_json(run, model: ScriptedModel) -> None:
    down = fail(429, "overloaded", headers={"Retry-After": "600"})
    model.replies[:] = [down, say("from the other one")] * 2
    ran = run("hi", "--no-mcp", "--fallback-model", "scripted/other")
    assert (ran.status, ran.out.strip()) == (0, "from the other one"), ran.err
    assert "scripted/other answers the rest of this turn." in ran.err
    ran = run("hi", "--no-mcp", "--json", "--fallback-model", "scripted/other")
    assert ran.status == 0
    assert "scripted/other answers the rest of this turn." in ran.of("error")[-1]["message"]
    assert [body["model"] for body in model.requests] == ["scripted", "other"] * 2


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("cut-text", 3, "The answer reached the model's output limit"),
        ("filtered", 1, "content filter ended the answer"),
        ("refusal", 1, "The model refused to answer"),
    ],
)
def test_every_ending_has_its_own_sentence_and_status(run, model, name: str, status: int, words: str) -> None:
    model.replies[:] = [mode(name)]
    ran = run("go", "--json", "--no-mcp")
    result = ran.of("result")[0]
    assert (ran.status, words in result["message"]) == (status, True)


def test_a_model_that_repeats_itself_is_stopped_by_the_step_limit(run, model) -> None:
    model.replies[:] = [mode("endless-tools")] * 20
    ran = run("go", "--json", "--no-mcp", "--max-steps", "9")
    result = ran.of("result")[0]
    assert (ran.status, result["steps"], "step limit" in result["message"]) == (3, 9, True)
    assert any("made the same call 8 times" in line["message"] for line in ran.of("error"))


def test_usage_counts_what_was_written_cached_and_thought(run, model) -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 70,
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 50},
    }
    model.replies[:] = [say("hello", usage=usage)]
    (told,) = run("hi", "--json", "--no-mcp").of("usage")
    assert (told["requests"], told["input_tokens"], told["cached_tokens"]) == (1, 900, 800)
    assert (told["output_tokens"], told["reasoning_tokens"], told["cost"]) == (70, 50, None)
    assert (told["unpriced"], told["compactions"], told["window"]) == (1, 0, 0)


def test_a_conversation_that_is_shortened_says_so(run, project, env, model) -> None:
    settings = Path(env["HEL_HOME"]) / "config" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("context_window = 8192\n")
    (project / "long.txt").write_text("a line of a long file\n" * 400)
    look = call("read_file", {"path": "long.txt"})

    def answer(body):
        asked = "What the person wants" in str(body["messages"][-1]["content"])
        return say("a summary") if asked else look if len(model.requests) < 5 else say("read")

    model.replies[:] = [answer] * 12
    ran = run("read it", "--json", "--no-mcp", "--tools", "read_file")
    assert ran.status == 0
    told = [line for line in ran.of("error") if line["source"] == "conversation"]
    assert {line["severity"] for line in told} == {"info"}
    assert "long results cut" in told[0]["message"] and "a summary stands for" in told[-1]["message"]
    usage = ran.of("usage")[0]
    assert (usage["compactions"], usage["window"]) == (len(told), 8192)


def test_an_untrusted_server_stays_off_and_the_way_to_approve_is_named(run, project, model) -> None:
    model.replies[:] = [say("I have no tool for that.")]
    ran = run(KOREAN)
    assert ran.status == 4
    assert ran.out == "I have no tool for that.\n"
    assert "hel mcp trust" in ran.err
    assert received(project) == []
    assert [tool["function"]["name"] for tool in model.requests[0]["tools"]] == [
        "read_file",
        "write_file",
        "search_replace",
        "glob",
        "grep",
        "bash",
        "todo_write",
        "task",
    ]


def test_what_would_ask_is_refused_and_says_what_would_allow_it(run, model, project) -> None:
    model.replies[:] = [call("write_file", {"path": "a.txt", "content": "x"}), say("I may not.")]
    ran = run("write a file", "--json", "--no-mcp")
    assert ran.status == 4
    assert not (project / "a.txt").exists()
    approval = ran.of("approval")[0]
    assert approval["decision"] == "refused"
    assert "auto" in approval["reason"]
    assert ran.of("result")[0]["status"] == "refused"
    assert model.requests[1]["messages"][-1]["content"].count("write_file")


def test_the_prompt_can_come_from_stdin(run, model) -> None:
    model.replies[:] = [say("hi")]
    ran = run("-", "--no-mcp", stdin="from a pipe")
    assert (ran.status, ran.out) == (0, "hi\n")
    assert model.requests[0]["messages"][-1]["content"] == "from a pipe"


def test_the_step_limit_ends_with_status_3(run, model) -> None:
    model.replies[:] = [call("glob", {"pattern": f"*{n}"}) for n in range(9)]
    ran = run("go on for ever", "--json", "--no-mcp", "--max-steps", "3")
    assert ran.status == 3
    assert ran.of("result")[0]["status"] == "limit"
    assert len(model.requests) == 3


def test_a_model_that_cannot_be_used_ends_with_status_1_and_one_sentence(run, model) -> None:
    model.replies[:] = [fail(401, "bad key")]
    ran = run("hi", "--json", "--no-mcp")
    assert ran.status == 1
    assert ran.of("error")
    assert KEY not in ran.out + ran.err


def test_without_a_model_it_says_how_to_get_one(project, env) -> None:
    env.pop("HEL_API_KEY")
    ran = hel("run", "hi", "--no-mcp", env=env, cwd=project)
    assert ran.status == 1
    assert "--model" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", ""),
        ("run", "hi", "--access", "root"),
        ("run", "hi", "--model", "nonsense"),
        ("run", "hi", "--max-steps", "0"),
        ("run", "hi", "--tools", "teleport"),
        ("run", "hi", "--mcp-config", "nowhere.json"),
        ("run", "hi", "--dir", "nowhere"),
        ("mcp",),
        ("mcp", "dance"),
        ("help", "dancing"),
        ("nowhere-to-be-found",),
    ],
)
def test_wrong_words_end_with_status_2_and_a_sentence(arguments, project, env) -> None:
    ran = hel(*arguments, env=env, cwd=project)
    assert ran.status == 2
    assert ran.out == ""
    assert 0 < len(ran.err.splitlines()) <= 3
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_130_and_a_result_and_no_server_is_left(
    project, env, model, number: signal.Signals
) -> None:
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    model.replies[:] = [mode("hang")]
    command = [*HEL, "run", "hi", "--json", "--model", "scripted/scripted", "--base-url", model.url]
    process = subprocess.Popen(
        command, env={**env, "PYTHONPATH": str(ROOT)}, cwd=project, stdout=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60
    while not model.requests and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert '"status": "interrupted"' in out.splitlines()[-1]
    log = (project / ".hel" / "mcp" / "events.jsonl").read_text()
    assert "initialize" in log
    assert not [p for p in os.listdir("/proc") if p.isdigit() and _runs(p, str(project))]


def _runs(pid: str, project: str) -> bool:
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return cwd == project and b"inventory.py" in command


def test_a_reader_that_leaves_early_is_no_traceback(project, env, model) -> None:
    model.replies[:] = [say("word " * 20_000)]
    command = " ".join(
        [*HEL, "run", "hi", "--no-mcp", "--model", "s/s", "--base-url", model.url, "| head -c 5"]
    )
    done = subprocess.run(
        command,
        shell=True,
        env={**env, "PYTHONPATH": str(ROOT)},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "word "
    assert "Traceback" not in done.stderr


def test_names_loaded_by_the_model_are_the_public_ones(run, project, env, model) -> None:
    hel("mcp", "trust", "--yes", env=env, cwd=project)
    model.replies[:] = [call("load_mcp_tool", {"names": [LIST, "mcp__inventory__nothing"]}), say("ok")]
    ran = run("load", "--json")
    text = ran.of("tool_result")[0]["text"]
    assert f"{LIST}: loaded" in text
    assert LOOKUP not in text or "unknown" in text


def test_a_terminal_that_is_not_utf_8_gets_escapes_instead_of_a_traceback(
    project: Path, env, model: ScriptedModel
) -> None:
    model.replies[:] = [call("read_file", {"path": "없다 ✓"}), say("다 됐다 ✓")]
    plain = {**env, "PYTHONIOENCODING": "ascii"}
    chosen = ("--model", "scripted/scripted", "--base-url", model.url)
    ran = hel("run", "hi", "--no-mcp", *chosen, env=plain, cwd=project)
    assert ran.status == 0, ran.err
    assert "\\u2713" in ran.out and "\\uc5c6" in ran.err
    assert "Traceback" not in ran.err
