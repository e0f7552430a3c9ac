"""Ends in the middle of things: signals, impatience, servers that do not want to go."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.program import assert_gone, decide, descendants, hel, runs, submit
from tests.fixtures.models.endpoint import ScriptedModel, call, mode, say
from tests.rig import called, heard, servers_file


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_to_the_idle_app_ends_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with hel(tmp_path, "--no-mcp") as terminal:
        terminal.wait("ask, /command")
        terminal.wait_idle(0.5)
        terminal.kill(number)
        assert terminal.wait_end(limit=20) == 128 + number, terminal.text
        assert terminal.is_restored()
        assert "NoActiveAppError" not in terminal.text


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_after_a_turn_ends_in_order(
    tmp_path: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    model.replies[:] = [say("all done")]
    with hel(tmp_path, "--mcp-config", servers_file(tmp_path, fix="wire:ok"), url=model.url) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        submit(terminal, "talk")
        terminal.wait("all done")
        terminal.wait_idle(0.5)
        terminal.kill(number)
        assert terminal.wait_end(limit=20) == 128 + number, terminal.text
        assert terminal.is_restored()
        assert_gone(processes)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_stream_ends_in_order(
    tmp_path: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    model.replies[:] = [mode("flood-endless")]
    servers = servers_file(tmp_path, fix="wire:ok")
    with hel(tmp_path, "--mcp-config", servers, url=model.url) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        submit(terminal, "talk")
        terminal.wait("word word word")
        terminal.kill(number)
        assert terminal.wait_end(limit=20) == 128 + number, terminal.text
        assert terminal.is_restored()
        assert_gone(processes)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_call_ends_in_order(
    tmp_path: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    model.replies[:] = [call("load_mcp_tool", {"names": ["mcp__fix__slow"]}), call("mcp__fix__slow")]
    servers = servers_file(tmp_path, fix="life:slow")
    with hel(tmp_path, "--mcp-config", servers, "--access", "auto", url=model.url) as terminal:
        terminal.wait(r"●")
        processes = descendants(terminal)
        submit(terminal, "wait")
        terminal.wait_for(lambda: bool(called(tmp_path, "fix")))
        terminal.kill(number)
        assert terminal.wait_end(limit=20) == 128 + number, terminal.text
        assert terminal.is_restored()
        assert_gone(processes)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_a_decision_executes_nothing(
    tmp_path: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    model.replies[:] = [call("write_file", {"path": "made.txt", "content": "x"})]
    with hel(tmp_path, url=model.url) as terminal:
        submit(terminal, "write")
        terminal.wait("y once")
        terminal.kill(number)
        assert terminal.wait_end(limit=20) == 128 + number, terminal.text
        assert terminal.is_restored()
    assert not (tmp_path / "project" / "made.txt").exists()


def stubborn(folder: Path) -> Path:
    return servers_file(folder, mule="life:stubborn")


def family(folder: Path) -> list[psutil.Process]:
    """The stubborn server and its child."""
    child = next(note for note in heard(folder, "mule") if "child" in note)
    return [psutil.Process(child["pid"]), psutil.Process(child["child"])]


def test_a_stubborn_server_and_its_child_are_gone_after_the_steps_of_the_end(tmp_path: Path) -> None:
    with hel(tmp_path, "--mcp-config", stubborn(tmp_path)) as terminal:
        terminal.wait(r"●")
        processes = family(tmp_path)
        terminal.press("ctrl+d")
        terminal.wait("mule")
        assert terminal.wait_end(limit=30) == 0
        assert terminal.is_restored()
        assert not [process for process in processes if runs(process)]
    assert {"end", "signal"} <= {key for note in heard(tmp_path, "mule") for key in note}


def test_a_second_ctrl_c_kills_a_stubborn_server_at_once(tmp_path: Path) -> None:
    with hel(tmp_path, "--mcp-config", stubborn(tmp_path)) as terminal:
        terminal.wait(r"●")
        processes = family(tmp_path)
        terminal.press("ctrl+d")
        terminal.wait("Ctrl\\+C")
        terminal.press("ctrl+c")
        terminal.wait_end(limit=20)
        assert terminal.is_restored()
        assert_gone(processes)
    assert "signal" not in {key for note in heard(tmp_path, "mule") for key in note}


def test_a_server_that_never_answers_does_not_hold_the_end(tmp_path: Path) -> None:
    servers = servers_file(
        tmp_path, mute="life:silent", slow={"mode": "life:slow-start", "env": {"DELAY": "60"}}
    )
    with hel(tmp_path, "--mcp-config", servers) as terminal:
        terminal.wait("mute")
        terminal.wait_for(lambda: len(descendants(terminal)) >= 2)
        processes = descendants(terminal)
        terminal.press("ctrl+d")
        began = time.monotonic()
        assert terminal.wait_end(limit=30) == 0
        assert time.monotonic() - began < 30
        assert_gone(processes)


def test_kill_9_in_the_middle_of_a_call_leaves_no_process(tmp_path: Path, model: ScriptedModel) -> None:
    model.replies[:] = [call("bash", {"command": "sleep 300"})]
    with hel(tmp_path, "--mcp-config", stubborn(tmp_path), url=model.url) as terminal:
        terminal.wait(r"●")
        submit(terminal, "sleep")
        decide(terminal, "y once", "y")
        terminal.wait_for(
            lambda: any("sleep" in " ".join(p.cmdline()) for p in descendants(terminal) if p.is_running())
        )
        processes = [*descendants(terminal), *family(tmp_path)]
        terminal.kill(signal.SIGKILL)
        terminal.wait_end()
        assert_gone(processes)
