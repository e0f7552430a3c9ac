"""The inside of servers through the door: what commands about it do, and what a screen reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.mcp.cassette import read_cassette
from hel_tui.core.mcp.frames import FrameStore
from tests.rig import Driver

Open = Callable[..., Driver]


def test_a_call_can_be_followed_from_its_card_to_the_wire_and_to_a_file(play: Open, tmp_path: Path) -> None:
    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        driver.send(p.CallTool("fix.echo", '{"text": "follow me"}', key="1"))
        driver.call_end(0)
        frames = driver.core.frames("fix")
        assert frames is not None
        asked, answered = (frames.frames(number, number + 1)[0] for number in frames.of_call("hand-1"))
        assert (asked.method, answered.pair) == ("tools/call", asked.number)
        target = tmp_path / "trace.jsonl"
        driver.send(p.ExportFrames("fix", str(target), "jsonl", p.FrameQuery(call="hand-1")))
        driver.wait(lambda _events: any(str(target) in one.text for one in driver.of(p.Notice)))
        rows = [json.loads(line) for line in target.read_text().splitlines()]
        assert rows[0]["body"]["params"]["arguments"] == {"text": "follow me"}
        tape = tmp_path / "call.cassette"
        driver.send(p.ExportFrames("fix", str(tape), "cassette"))
        driver.wait(lambda _events: any(str(tape) in one.text for one in driver.of(p.Notice)))
        kept = read_cassette(tape)
        said = [one.message.get("method") for one in kept.frames if one.way == "out"]
        assert kept.server == "fix" and said[-1] == "tools/call" and kept.protocol == "2025-11-25"


def test_the_log_of_all_servers_is_saved_beside_the_project(play: Open, tmp_path: Path) -> None:
    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        driver.send(p.SaveLog("", str(tmp_path / "all.log")))
        driver.send(p.SaveLog("", str(tmp_path / "all.log")))
        driver.wait(lambda _events: len([one for one in driver.of(p.Notice) if "all.log" in one.text]) == 2)
        assert any("already" in one.text for one in driver.of(p.Notice))
        assert " fix start started, pid " in (tmp_path / "all.log").read_text()


def test_switches_entry_and_processes_are_read_and_changed_through_the_door(play: Open) -> None:
    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        runtime = driver.core
        driver.send(p.SetSwitch("fix", "roots", False))
        driver.wait(lambda _events: (inside := runtime.inside("fix")) and not dict(inside.switches)["roots"])
        entry = runtime.entry("fix")
        assert entry is not None and (entry.trust, entry.server) == ("yours", "fix") and entry.resolved
        assert runtime.entry("nobody") is None and runtime.inside("nobody") is None
        driver.send(p.WatchProcesses("fix", True))
        driver.wait(lambda _events: len(runtime.processes("fix")) == 1)
        driver.send(p.EndProcess("fix", runtime.processes("fix")[0].pid))
        driver.wait(lambda _events: any("was not ended" in one.text for one in driver.of(p.Notice)))


def test_an_export_says_how_many_bodies_are_not_in_it(
    play: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        monkeypatch.setattr(FrameStore, "is_whole", lambda _store, frame: frame.method != "initialize")

        def told(name: str) -> p.Notice:
            form: Literal["jsonl", "cassette"] = "jsonl" if name.endswith("jsonl") else "cassette"
            driver.send(p.ExportFrames("fix", str(tmp_path / name), form))
            driver.wait(lambda _events: any(name in one.text for one in driver.of(p.Notice)))
            return next(one for one in driver.of(p.Notice) if name in one.text)

        assert told("a.jsonl").severity == "warning" and "body of 2 of the frames" in told("b.jsonl").text
        assert "will not replay whole" in told("a.cassette").text
        assert all(
            "initialize" not in str(one.message)
            for one in read_cassette(tmp_path / "a.cassette").frames
            if one.way == "out" and one.message.get("id") is not None
        )
