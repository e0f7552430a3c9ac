"""Trust in a project's servers: asked before anything starts, remembered for exactly these bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from tests.fixtures.models.endpoint import ScriptedModel, say
from tests.rig import Driver, heard, servers_file

Open = Callable[..., Driver]


@pytest.fixture
def file(project: Path, tmp_path: Path) -> Path:
    """The project's server file, with one server that notes what it hears."""
    path = project / ".hel" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(servers_file(tmp_path, fix="wire:ok").read_bytes())
    return path


def started(folder: Path) -> bool:
    return bool(heard(folder, "fix"))


def open_with(play: Open, **more: Any) -> Driver:
    return play(say("hello"), say("hello"), servers={}, **more)


def test_a_refused_server_never_starts_and_the_model_knows_nothing_of_it(
    play: Open, model: ScriptedModel, file: Path, tmp_path: Path
) -> None:
    for _ in range(2):  # a refusal is not remembered: the next run asks again
        with open_with(play) as driver:
            driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
            driver.phase("fix", "untrusted")
            driver.ask("hi")
        assert "load_mcp_tool" not in str(model.requests[-1])
    assert not started(tmp_path)


def test_a_turn_does_not_wait_for_the_question(play: Open, file: Path, tmp_path: Path) -> None:
    with open_with(play) as driver:
        driver.question(p.TrustQuestion)
        assert driver.ask("hi").reason == "done"
    assert not started(tmp_path)


def test_allowed_once_starts_now_and_asks_again_next_time(play: Open, file: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with open_with(play) as driver:
            driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"fix"})))
            driver.phase("fix", "ready")
    assert started(tmp_path)


def test_remembered_starts_unasked_next_time(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
    with open_with(play) as driver:
        driver.phase("fix", "ready")
        assert not driver.of(p.Asked)


def test_an_unchecked_server_stays_off_beside_a_checked_one(
    play: Open, file: Path, project: Path, tmp_path: Path
) -> None:
    file.write_bytes(servers_file(tmp_path, fix="wire:ok", other="wire:ok").read_bytes())
    with open_with(play) as driver:
        question = driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"other"})))
        assert [claim.name for claim in question.servers] == ["fix", "other"]
        driver.phase("other", "ready")
        driver.phase("fix", "untrusted")
        driver.send(p.RestartServer("fix"))
        driver.wait(lambda _: any("fix cannot be started" in n.text for n in driver.of(p.Notice)), "a notice")
        driver.send(p.ReviewTrust())
        again = driver.question(p.TrustQuestion)
        assert [claim.name for claim in again.servers] == ["fix"]
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"fix"})))
        driver.phase("fix", "ready")


def test_asking_for_the_question_while_it_is_open_opens_no_second_one(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.question(p.TrustQuestion)
        driver.send(p.ReviewTrust())
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"fix"})))
        driver.phase("fix", "ready")
        driver.ask("hi")
        assert len(driver.of(p.Asked)) == 1


def test_one_added_newline_asks_again_and_says_that_the_definition_is_the_same(
    play: Open, file: Path
) -> None:
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
    file.write_bytes(file.read_bytes() + b"\n")
    with open_with(play) as driver:
        claim = driver.question(p.TrustQuestion).servers[0]
        assert "the definition of this server did not" in claim.changed


def test_a_changed_definition_asks_again_with_a_diff(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
    changed = json.loads(file.read_text())
    changed["mcpServers"]["fix"]["args"].append("--evil")
    file.write_text(json.dumps(changed))
    with open_with(play) as driver:
        claim = driver.question(p.TrustQuestion).servers[0]
        assert any(line.startswith("+") and "--evil" in line for line in claim.changed.splitlines())
        assert claim.command_line.endswith("--evil")
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        driver.phase("fix", "untrusted")


def test_a_change_while_the_question_is_open_does_not_ride_on_the_answer(
    play: Open, file: Path, tmp_path: Path
) -> None:
    with open_with(play) as driver:
        driver.question(p.TrustQuestion)
        changed = json.loads(file.read_text())
        changed["mcpServers"]["fix"]["args"][-1] = "banner"
        file.write_text(json.dumps(changed))
        driver.trust()
        assert driver.phase("fix", "ready").noise == 0
    with open_with(play) as driver:
        driver.question(p.TrustQuestion)


def test_headless_an_untrusted_server_stays_off_with_a_pointer(
    play: Open, file: Path, tmp_path: Path
) -> None:
    with open_with(play, answerable=False) as driver:
        assert driver.ask("hi").reason == "done"
        driver.phase("fix", "untrusted")
        assert not driver.of(p.Asked)
        assert any("hel mcp trust" in notice.text for notice in driver.of(p.Notice))
    assert not started(tmp_path)


def test_servers_of_the_person_and_of_the_command_line_are_not_asked_about(
    play: Open, file: Path, tmp_path: Path
) -> None:
    own = tmp_path / "hel" / "config" / "mcp.json"
    own.parent.mkdir(parents=True)
    own.write_bytes(file.read_bytes())
    file.unlink()
    with open_with(play) as driver:
        assert driver.phase("fix", "ready").scope == "user"
        assert not driver.of(p.Asked)


def test_no_mcp_reads_no_file_and_asks_nothing(play: Open, file: Path, tmp_path: Path) -> None:
    with open_with(play, mcp=False) as driver:
        driver.ask("hi")
        assert not driver.of(p.Asked) and not driver.of(p.ServerChanged)
    assert not started(tmp_path)


def test_a_file_that_points_out_of_the_project_is_never_asked_about(
    play: Open, file: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(file.read_bytes())
    file.unlink()
    os.symlink(outside, file)
    with open_with(play) as driver:
        assert driver.ask("hi").reason == "done"
        assert not driver.of(p.Asked)
        assert any("mcp.json" in notice.source for notice in driver.of(p.Notice))
    assert not started(tmp_path)


def test_asking_again_reads_the_files_as_they_are_now(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
        entries = json.loads(file.read_text())
        key = next(iter(entries))
        entries[key]["late"] = entries[key]["fix"]
        file.write_text(json.dumps(entries))
        driver.send(p.ReviewTrust())
        question = driver.question(p.TrustQuestion)
        assert "late" in [claim.name for claim in question.servers]
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({"late"})))
        driver.phase("late", "ready")
        assert driver.phase("fix", "ready").restarts == 0, "a refused change leaves the running server alone"


def rewritten(file: Path, **servers: Any) -> None:
    """The server file with these entries instead of those it has; None takes one out."""
    entries = json.loads(file.read_text())
    key = next(iter(entries))
    entries[key] = {name: each for name, each in {**entries[key], **servers}.items() if each is not None}
    file.write_text(json.dumps(entries))


def entry_of(file: Path, **more: Any) -> dict[str, Any]:
    return {**json.loads(file.read_text())["mcpServers"]["fix"], **more}


def goes_on(driver: Driver, why: str) -> None:
    driver.wait(
        lambda _: [n for n in driver.of(p.Notice) if "stays as it was started" in n.text and why in n.text],
        why,
    )


def test_an_approval_given_to_what_runs_does_not_count_for_a_definition_trusted_later(
    play: Open, file: Path
) -> None:
    with open_with(play, model=None, base_url=None) as driver:
        driver.trust()
        driver.phase("fix", "ready")
        rewritten(file, fix=entry_of(file, timeout=77))
        driver.send(p.ReviewTrust())
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        goes_on(driver, "refused")
        assert driver.phase("fix", "ready")
        driver.send(p.CallTool("fix.echo", '{"text": "x"}'))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("project"))
        driver.call_end(0)
        before = len(driver.of(p.ServerChanged))
        driver.send(p.ReviewTrust())
        driver.trust()
        driver.wait(
            lambda _: any(e.phase != "ready" for e in driver.of(p.ServerChanged)[before:]), "a restart"
        )
        driver.phase("fix", "ready")
        driver.send(p.CallTool("fix.echo", '{"text": "x"}'))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("deny"))
        driver.call_end(1)


def test_an_entry_that_became_unusable_or_left_its_file_does_not_change_what_is_shown_of_what_runs(
    play: Open, file: Path
) -> None:
    good = entry_of(file)
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
        rewritten(file, fix={"command": 5})
        driver.send(p.ReviewTrust())
        goes_on(driver, "cannot be used")
        rewritten(file, fix=None, other={**good, "enabled": False})
        driver.send(p.ReviewTrust())
        driver.wait(lambda _: p.ServerRemoved("fix") in driver.events, "its end")
        driver.phase("other", "off")
        rewritten(file, fix={**good, "enabled": False})
        driver.send(p.ReviewTrust())
        driver.phase("fix", "off")


def test_a_server_that_changes_between_command_and_url_is_shown_as_what_it_is_now(
    play: Open, file: Path
) -> None:
    stdio = entry_of(file)
    with open_with(play) as driver:
        rewritten(file, web={"url": "http://127.0.0.1:9/a"})
        driver.trust()
        driver.phase("fix", "ready")
        driver.phase("web", "restarting")
        rewritten(file, fix={"url": "http://127.0.0.1:9/b"}, web={"url": "https://c.example/mcp"})
        driver.send(p.ReviewTrust())
        driver.trust()
        failed = driver.phase("fix", "restarting")
        assert (failed.transport, failed.pid, failed.tools) == ("http", 0, 0)
        assert not driver.core.tools()
        driver.phase("web", "restarting")
        rewritten(file, fix=stdio)
        driver.send(p.ReviewTrust())
        driver.trust()
        driver.phase("fix", "ready")
        assert driver.core.tools()


def test_reading_the_files_again_starts_the_persons_own_server_as_it_is_now(
    play: Open, file: Path, tmp_path: Path
) -> None:
    own = tmp_path / "hel" / "config" / "mcp.json"
    own.parent.mkdir(parents=True)
    own.write_bytes(file.read_bytes())
    file.unlink()
    with open_with(play) as driver:
        driver.phase("fix", "ready")
        rewritten(own, fix=entry_of(own, args=[*entry_of(own)["args"][:-1], "banner"]))
        driver.send(p.ReviewTrust())
        driver.wait(lambda _: any(e.noise for e in driver.of(p.ServerChanged)), "the other mode")
        driver.phase("fix", "ready")
        started = driver.of(p.ServerChanged)[-1].restarts
        driver.send(p.ReviewTrust())
        driver.wait(lambda _: any("is trusted" in n.text for n in driver.of(p.Notice)[-1:]), "nothing to ask")
        assert driver.of(p.ServerChanged)[-1].restarts == started


def test_a_changed_file_leaves_what_did_not_change_as_it_is(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.trust()
        pid = driver.phase("fix", "ready").pid
        file.write_text(file.read_text() + "\n")
        driver.send(p.ReviewTrust())
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        driver.send(p.ReviewTrust())
        driver.trust()
        driver.send(p.CallTool("fix.echo", '{"text": "x"}'))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.call_end(0)
        assert driver.phase("fix", "ready").pid == pid
        assert not [n for n in driver.of(p.Notice) if "stays as it was started" in n.text]


def test_trusting_again_does_not_start_what_the_person_switched_off(play: Open, file: Path) -> None:
    with open_with(play) as driver:
        driver.trust()
        driver.phase("fix", "ready")
        driver.send(p.SwitchServer("fix", on=False))
        driver.phase("fix", "off")
        rewritten(file, fix=entry_of(file, timeout=77), more=entry_of(file))
        driver.send(p.ReviewTrust())
        driver.trust()
        driver.phase("more", "ready")
        assert driver.phase("fix", "off")
        driver.send(p.SwitchServer("fix", on=True))
        driver.phase("fix", "ready")


def test_a_refusal_for_good_is_not_asked_about_at_the_next_start_and_trust_asks_again(
    play: Open, file: Path
) -> None:
    with open_with(play) as driver:
        driver.answer(p.TrustQuestion, p.TrustAnswer("never", frozenset({"fix"})))
        driver.phase("fix", "untrusted")
    with open_with(play) as later:
        assert "refused for good" in later.phase("fix", "untrusted").reason
        later.send(p.ReviewTrust())
        later.trust()
        later.phase("fix", "ready")
        assert len(later.of(p.Asked)) == 1
    with open_with(play) as again:
        again.phase("fix", "ready")
        assert not again.of(p.Asked)
