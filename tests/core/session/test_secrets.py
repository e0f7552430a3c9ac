"""Keys and tokens: where they may be, and all the places where they must not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, call, calls, mode, say
from tests.rig import KEY, SERVERS, Driver, environment

REPORT = "mcp__fix__report"
TELL, FAIL = "mcp__fix__tell", "mcp__fix__fail"
TOKEN = "zq plain words 77"
"""A secret that no shape gives away: only where it stands says what it is."""

Open = Callable[..., Driver]


def kept(folder: Path) -> str:
    """Everything hel wrote to its folders."""
    files = [path for path in (folder / "hel").rglob("*") if path.is_file()]
    assert files
    return "\n".join(path.read_text(errors="replace") for path in files)


def log(driver: Driver, server: str) -> str:
    window = driver.core.log(server)
    assert window is not None
    return "\n".join(line.text for line in window.lines(window.first, window.end))


def test_the_models_key_is_in_one_header_and_nowhere_else(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    shell = call("bash", {"command": "env; echo [$HEL_API_KEY]"})
    script = (call("load_mcp_tool", {"names": [REPORT]}), call(REPORT), shell, mode("401-echoes-key"))
    with play(*script, servers={"fix": "life:report"}, access="auto") as driver:
        end = driver.ask("look around")
        assert end.reason == "failed"
        text = log(driver, "fix")
        details = [driver.core.call(event.call_id) for event in driver.of(p.CallStarted)]
    assert all(exchange.headers["authorization"] == f"Bearer {KEY}" for exchange in model.exchanges)
    assert all(KEY not in exchange.body.decode() for exchange in model.exchanges)
    facts = json.loads(details[1].result)
    assert "PATH" in facts["env"]
    assert not [name for name in facts["env"] if "KEY" in name]
    assert KEY not in repr(driver.events) + repr(details) + text + kept(tmp_path)


def test_a_secret_of_a_servers_entry_is_hidden_in_logs_records_and_events(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    server = {"mode": "work:leak", "env": {"TOKEN": TOKEN}}
    script = (call("load_mcp_tool", {"names": [TELL, FAIL]}), call(TELL), call(FAIL), say("done"))
    with play(*script, servers={"fix": server}, access="auto") as driver:
        driver.phase("fix", "ready")
        driver.ask("go")
        assert "using" in log(driver, "fix")
        assert TOKEN not in log(driver, "fix")
        notices = driver.of(p.Notice)
        assert any("config loaded" in notice.text for notice in notices)
    assert TOKEN not in repr(notices)
    assert "using ‹redacted›" in kept(tmp_path), "stderr is in the session's folder"
    assert TOKEN not in kept(tmp_path)


def test_a_secret_taken_from_the_environment_by_reference_is_hidden_too(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    server = {"mode": "work:leak", "env": {"TOKEN": "${FIXTURE_VALUE}"}}
    environ = environment(tmp_path, FIXTURE_VALUE=TOKEN)
    with play(say("done"), servers={"fix": server}, environ=environ) as driver:
        driver.phase("fix", "ready")
        driver.ask("go")
        assert TOKEN not in log(driver, "fix") + repr(driver.events)
    assert TOKEN not in kept(tmp_path)


def test_a_trust_question_masks_what_its_environment_holds(play: Open, project: Path, tmp_path: Path) -> None:
    token = TOKEN.replace(" ", "-")
    entry = {"command": "true", "args": ["--token", "ghp_0123456789abcdefghij01"], "env": {"TOKEN": token}}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": entry}}))
    with play(servers={}) as driver:
        claim = driver.trust().servers[0]
        driver.phase("x", "failed")
    assert [name for name, _ in claim.env] == ["TOKEN"]
    assert token not in repr(claim) and "ghp_" not in repr(claim)
    assert token not in kept(tmp_path) and "ghp_0123" not in kept(tmp_path)


def test_a_secret_among_a_servers_arguments_is_hidden_everywhere(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    mine = ["-S", "-E", str(SERVERS / "work.py"), "leak", "--token", TOKEN]
    server = {"mode": "work:leak", "args": mine, "env": {"TOKEN": "not to be found"}}
    with play(say("done"), servers={"fix": server}) as driver:
        driver.phase("fix", "ready")
        assert "--token" in log(driver, "fix")
        assert TOKEN not in log(driver, "fix") + repr(driver.events)
        running = kept(tmp_path)  # the list of running servers among it
        driver.send(p.SwitchServer("fix", False))
    assert TOKEN not in running + kept(tmp_path)


def test_a_command_cannot_read_credentials_and_no_result_carries_one_to_the_model(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    environ = environment(tmp_path, GITHUB_TOKEN=TOKEN, DB_PASSWORD="another plain word 5", HEL_API_KEY=KEY)
    (project / ".env").write_text("DB_PASSWORD=another plain word 5\nsample = 'password=example-only'\n")
    read, shell = call("read_file", {"path": ".env"}), call("bash", {"command": "env"})
    script = (
        calls(read, shell),
        call("load_mcp_tool", {"names": [TELL, FAIL]}),
        call(TELL),
        call(FAIL),
        say("done"),
    )
    server = {"mode": "work:leak", "env": {"TOKEN": "a third plain word 6"}}
    with play(*script, servers={"fix": server}, environ=environ, access="auto") as driver:
        driver.ask("look around")
        assert [event.state for event in driver.results()] == ["ok", "ok", "ok", "ok", "failed"]
        details = [driver.core.call(event.call_id) for event in driver.of(p.CallStarted)]
    sent = "".join(exchange.body.decode() for exchange in model.exchanges) + repr(details)
    for secret in (TOKEN, "another plain word 5", "a third plain word 6"):
        assert secret not in sent
    assert "GITHUB_TOKEN" not in sent
    assert "sample = 'password=example-only'" in sent, "shapes are left alone: source code must stay intact"


def test_a_key_in_the_instructions_of_a_project_does_not_go_to_the_model(
    play: Open, model: ScriptedModel, project: Path
) -> None:
    (project / "AGENTS.md").write_text(f"Call the service with {KEY}, always.")
    with play(say("hello"), servers={}) as driver:
        driver.ask("hi")
    (body,) = model.requests
    assert KEY not in json.dumps(body)
    assert "Call the service with" in body["messages"][0]["content"]


def test_a_large_result_is_saved_without_the_secrets_in_it(
    play: Open, model: ScriptedModel, project: Path, tmp_path: Path
) -> None:
    """And none is parted where the result is cut for the model."""
    (project / "log.txt").write_text("x" * 4080 + KEY + "\n" + ("y" * 79 + "\n") * 1000 + KEY)
    script = (call("bash", {"command": "cat log.txt"}), say("done"))
    with play(*script, servers={}, access="auto") as driver:
        driver.ask("read it")
        (detail,) = [driver.core.call(event.call_id) for event in driver.of(p.CallStarted)]
    assert detail is not None
    (saved,) = map(Path, detail.saved)
    assert saved.read_text().count("‹redacted›") == 2
    assert KEY not in kept(tmp_path)
    assert KEY[:12] not in json.dumps(model.requests)


def test_a_key_that_the_person_pastes_does_not_go_to_the_model(
    play: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    """Neither with a message nor with a command of theirs."""
    with play(say("hello"), say("well"), servers={}) as driver:
        driver.ask(f"why is {KEY} refused?")
        driver.send(p.RunShell(f"echo {KEY}"))
        driver.turn_end(1)
        driver.ask("and now?")
    sent = json.dumps(model.requests, ensure_ascii=False)
    assert KEY not in sent
    assert "why is ‹redacted› refused?" in sent and "$ echo ‹redacted›" in sent
    assert KEY not in kept(tmp_path)
