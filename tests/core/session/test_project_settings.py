"""What a project's settings loosen holds only after the person's word, for exactly the bytes they saw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.permissions.settings_trust import NAME
from tests.fixtures.models.endpoint import call, calls, say
from tests.rig import Driver

Open = Callable[..., Driver]
LOOSE = 'access = "auto"\nmax_steps = 3\n[permissions]\nallow = ["mcp__fix"]\ndeny = ["bash"]\n'


@pytest.fixture
def file(project: Path) -> Path:
    path = project / ".hel" / "config.toml"
    path.parent.mkdir()
    path.write_text(LOOSE)
    return path


def access(driver: Driver) -> str:
    changed = driver.of(p.AccessChanged)
    return changed[-1].level if changed else driver.of(p.SessionStarted)[0].access


def test_the_lines_that_loosen_are_shown_and_hold_once_they_are_approved(play: Open, file: Path) -> None:
    with play(say("hello"), servers={}) as driver:
        (claim,) = driver.question(p.TrustQuestion).servers
        assert (claim.kind, claim.name, claim.file) == ("settings", NAME, str(file))
        assert claim.command_line.splitlines() == ['access = "auto"', 'permissions.allow = ["mcp__fix"]']
        assert any(risk.startswith("access: ") for risk in claim.risks)
        assert access(driver) == "confirm"
        driver.answer(p.TrustQuestion, p.TrustAnswer("remember", frozenset({NAME})))
        driver.wait(lambda _: access(driver) == "auto", "the access level")
    with play(say("hello"), servers={}) as later:
        assert later.ask("hi").reason == "done"
        assert not later.of(p.Asked) and access(later) == "auto"
        assert not [n for n in later.of(p.Notice) if "only tighten" in n.text]


def test_an_approved_rule_lets_calls_run(play: Open, file: Path) -> None:
    file.write_text('[permissions]\nallow = ["mcp__fix"]\n')
    replies = (
        calls(call("load_mcp_tool", {"names": ["mcp__fix__echo"]})),
        calls(call("mcp__fix__echo", {"text": "x"})),
        say("done"),
    )
    with play(*replies) as driver:
        driver.phase("fix", "ready")
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({NAME})))
        assert driver.ask("go").reason == "done"
        assert [type(e.question) for e in driver.of(p.Asked)] == [p.TrustQuestion]


def test_refused_settings_only_tighten(play: Open, file: Path) -> None:
    with play(say("hello"), servers={}) as driver:
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        assert driver.ask("hi").reason == "done"
        assert access(driver) == "confirm"


def test_other_bytes_are_asked_about_again_with_the_difference(play: Open, file: Path) -> None:
    with play(say("hello"), servers={}) as driver:
        driver.answer(p.TrustQuestion, p.TrustAnswer("remember", frozenset({NAME})))
        driver.wait(lambda _: access(driver) == "auto", "the access level")
    file.write_text(LOOSE.replace("mcp__fix", "mcp__fix*"))
    with play(say("hello"), servers={}) as driver:
        (claim,) = driver.question(p.TrustQuestion).servers
        assert '-permissions.allow = ["mcp__fix"]' in claim.changed
        assert '+permissions.allow = ["mcp__fix*"]' in claim.changed
        assert access(driver) == "confirm"
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))


def test_headless_they_are_left_out_with_the_command_that_approves_them(play: Open, file: Path) -> None:
    with play(say("hello"), servers={}, answerable=False) as driver:
        assert driver.ask("hi").reason == "done"
        assert not driver.of(p.Asked) and access(driver) == "confirm"
        assert any("hel mcp trust" in notice.text and NAME in notice.text for notice in driver.of(p.Notice))


def test_what_the_command_line_says_stays(play: Open, file: Path) -> None:
    with play(say("hello"), servers={}, access="read-only") as driver:
        driver.answer(p.TrustQuestion, p.TrustAnswer("once", frozenset({NAME})))
        assert driver.ask("hi").reason == "done"
        assert access(driver) == "read-only"
