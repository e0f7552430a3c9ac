"""Saved checks of a project: what of them is run, and what the person is asked before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from hel_tui.core import protocol as p
from tests.core.session.authored import Source
from tests.rig import SERVERS, Driver

GROWS = """
import os, sys, threading, time
sys.path.insert(0, {servers!r})
from stdio_server import Server, text, tool

class Mine(Server):
    capabilities = {{"tools": {{"listChanged": True}}}}
    tools = [tool("grow"), tool("echo")]

    def call(self, identity, name, arguments, params):
        self.note(made=name)
        if name == "grow":
            self.tools = [*self.tools, tool("late")]
            self.notify("notifications/tools/list_changed")
            threading.Thread(target=self.later, args=(identity,)).start()
        else:
            self.answer(identity, text(name))

    def later(self, identity):
        while not os.path.exists({release!r}):
            time.sleep(0.01)
        self.answer(identity, text("grow"))

Mine().run()
"""
"""Its tool `grow` brings the tool `late`, and answers once a file is there."""


class Checks:
    """The files of checks of a project; each expects the name of its tool."""

    def __init__(self, project: Path) -> None:
        self.folder = project / ".hel" / "checks"
        self.folder.mkdir(parents=True)

    def write(self, file: str, *tools: str) -> None:
        lines = [
            f'[[check]]\nname = "{tool}"\nserver = "mine"\ntool = "{tool}"\nexpect = {{ text = "{tool}" }}\n'
            for tool in tools
        ]
        (self.folder / f"{file}.toml").write_text("\n".join(lines))


@pytest.fixture
def checks(project: Path) -> Checks:
    return Checks(project)


@pytest.fixture
def release(source: Source, tmp_path: Path) -> Path:
    """The server grows; the file that lets it answer."""
    path = tmp_path / "release"
    source.file.write_text(GROWS.format(servers=str(SERVERS), release=str(path)))
    return path


def asked(driver: Driver, decision: Literal["once", "deny"] = "once") -> list[str]:
    """Answer the next question; returns the checks it was about."""
    question = driver.answer(p.ApprovalQuestion, p.ApprovalAnswer(decision))
    return [one["check"] for one in json.loads(question.arguments)]


def ran(driver: Driver, count: int = 1) -> dict[str, str]:
    """Wait until checks were run so many times; returns the state of each."""
    driver.wait(lambda _: driver.of(p.ChecksRan)[count - 1 : count], f"run {count}")
    return {one.check.name: one.state for one in driver.core.check_results()}


def test_agreeing_to_one_check_does_not_agree_to_the_others_of_its_file(
    opened: Callable[[], Driver], source: Source, checks: Checks
) -> None:
    source.save("x", tools='tool("echo"), tool("other")')
    checks.write("two", "echo", "other")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.RunChecks("mine", "echo"))
        assert asked(driver) == ["echo"]
        ran(driver)
        source.save("y", tools='tool("echo"), tool("other")')
        driver.wait(lambda _: driver.of(p.ServerRenewed))
        driver.send(p.RunChecks())
        assert asked(driver, "deny") == ["other"]
        assert set(source.made) == {"echo"}


def test_a_check_whose_tool_is_not_there_yet_stands_in_the_question(
    opened: Callable[[], Driver], source: Source, checks: Checks, release: Path
) -> None:
    checks.write("all", "grow", "late")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.RunChecks())
        assert asked(driver) == ["grow", "late"]
        driver.wait(lambda _: driver.of(p.ListChanged), "the tool that comes")
        release.touch()
        assert ran(driver) == {"grow": "passed", "late": "passed"}


def test_a_check_of_a_tool_that_may_come_is_not_run_when_the_person_says_no(
    opened: Callable[[], Driver], source: Source, checks: Checks, release: Path
) -> None:
    checks.write("all", "grow", "late")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.SetAccess("auto"))
        driver.wait(lambda _: [e for e in driver.of(p.AccessChanged) if e.level == "auto"])
        driver.send(p.RunChecks())
        assert asked(driver, "deny") == ["late"]
        assert source.made == []


def test_a_call_that_needs_approval_by_the_time_it_is_made_is_skipped(
    opened: Callable[[], Driver], source: Source, checks: Checks, release: Path
) -> None:
    checks.write("all", "grow", "echo")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.SetAccess("auto"))
        driver.wait(lambda _: [e for e in driver.of(p.AccessChanged) if e.level == "auto"])
        driver.send(p.RunChecks())
        driver.wait(lambda _: source.made, "the first call")
        driver.send(p.SetAccess("confirm"))
        driver.wait(lambda _: [e for e in driver.of(p.AccessChanged) if e.level == "confirm"])
        release.touch()
        assert ran(driver) == {"grow": "passed", "echo": "skipped"}
        assert source.made == ["grow"]
        skipped = driver.core.check_results()[1]
        assert "needs approval" in skipped.message


def test_checks_that_ran_without_a_question_are_run_with_each_save_too(
    opened: Callable[[], Driver], source: Source, checks: Checks
) -> None:
    source.save("x")
    checks.write("one", "echo")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.SetAccess("auto"))
        driver.send(p.RunChecks())
        ran(driver)
        source.save("y")
        event = driver.wait(lambda _: driver.of(p.ServerRenewed))[0]
        driver.wait(lambda _: source.made == ["echo", "echo"], "the check after the save")
        assert event.state == "renewed"
