"""Hostile strings from everywhere at once: none of them reaches the terminal as anything but text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import decide, hel, submit
from tests.e2e.terminal import Terminal
from tests.fixtures.hostile import FORBIDDEN, HOSTILE
from tests.fixtures.models.endpoint import ScriptedModel, call, fail, say
from tests.rig import SERVERS

SAY, FAIL = "mcp__fix__say", "mcp__fix__fail"
CTRL_Q = "\x11"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as endpoint:
        yield endpoint


def entry(mode: str, *more: str) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-E", str(SERVERS / "hostile.py"), mode, *more]}


def lay(folder: Path) -> None:
    """A project every string of which is hostile."""
    project = folder / "project"
    (project / ".hel").mkdir(parents=True)
    servers = {
        "fix": {**entry("hostile", HOSTILE.replace("\0", "")), "env": {"A": HOSTILE.replace("\0", "")}},
        HOSTILE: {"command": "true"},
        "dead": entry("dies"),
        "gone": {"command": HOSTILE.replace("\0", "")},
    }
    (project / ".hel" / "mcp.json").write_text(json.dumps({"mcpServers": servers, HOSTILE: 1}))
    (project / ".hel" / "config.toml").write_text(f"{json.dumps(HOSTILE[:20])} = 1\n")
    (project / "AGENTS.md").write_text(HOSTILE)
    (project / "notes.md").write_text(HOSTILE.replace("\0", "") + "\n")
    (project / "\x1b]0;PWNED\x07name.txt").write_text(HOSTILE)


def assert_harmless(terminal: Terminal) -> None:
    found = [
        bytes(terminal.raw[max(at - 60, 0) : at + 40])
        for bad in FORBIDDEN
        if (at := terminal.raw.find(bad)) >= 0
    ]
    assert not found
    assert terminal.process.poll() is None


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["120x40", "80x24"])
def test_nothing_foreign_reaches_the_terminal_but_as_text(
    tmp_path: Path, model: ScriptedModel, size: tuple[int, int]
) -> None:
    model.replies[:] = [
        say(HOSTILE, reasoning=HOSTILE),
        call("load_mcp_tool", {"names": [SAY, FAIL, HOSTILE]}),
        call(SAY, {"text": HOSTILE, HOSTILE: HOSTILE}),
        call(FAIL, {"text": HOSTILE}),
        call(HOSTILE, {"x": HOSTILE}),
        call("glob", {"pattern": "*"}),
        call("search_replace", {"path": "notes.md", "search": "begin", "replace": HOSTILE}),
        call("bash", {"command": f"printf '%s' '{HOSTILE[:40]}'"}),
        say(
            "## "
            + HOSTILE
            + "\n\n```"
            + HOSTILE
            + "\n"
            + HOSTILE
            + "\n```\n\n| "
            + HOSTILE
            + " |\n|-|\n| x |\n"
        ),
        fail(400, HOSTILE),
    ]
    lay(tmp_path)
    with hel(tmp_path, url=model.url, size=size) as terminal:
        decide(terminal, "y remember", "y")
        terminal.wait("●")
        assert_harmless(terminal)
        submit(terminal, "talk")
        terminal.wait_for(lambda: len(model.requests) == 1)
        terminal.wait("CLICK")
        submit(terminal, "work")
        for tool in (r"fix · say", r"fix · fail"):
            decide(terminal, rf"{tool}.*y once", "y")
            assert_harmless(terminal)
        decide(terminal, r"search_replace.*y once", "y")
        decide(terminal, r"bash.*y once", "y")
        terminal.wait_for(lambda: len(model.requests) == 9)
        terminal.wait("CLICK")
        submit(terminal, "fail")
        asked = lambda: sum(body.get("max_tokens") != 1 for body in model.requests)  # noqa: E731 - without probes
        terminal.wait_for(lambda: asked() >= 10)
        for key in ("f2", "enter", "escape", "f4", "\x0f", "f1", "escape", "ctrl+t", "ctrl+p", "escape"):
            terminal.press(key)
            terminal.wait_idle(0.15)
        terminal.resize(100, 30)
        terminal.wait_idle(0.3)
        assert_harmless(terminal)
        terminal.press(CTRL_Q)
        assert terminal.wait_end() == 0
        assert terminal.is_restored()


def test_a_trust_question_draws_every_hidden_character(tmp_path: Path) -> None:
    lay(tmp_path)
    with hel(tmp_path) as terminal:
        shown = terminal.wait("y remember")
        assert "U+001B" in shown
        assert_harmless(terminal)
        decide(terminal, "y remember", "n")
        terminal.wait_for(lambda: "y remember" not in terminal.text)
        assert_harmless(terminal)
        terminal.press(CTRL_Q)
        assert terminal.wait_end() == 0
