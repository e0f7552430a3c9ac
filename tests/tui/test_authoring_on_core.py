"""Checks on the real core by keys: found as files, agreed to once, run, and shown with their difference."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.authoring.checks import ChecksScreen
from tests.rig import calls_received, options, sample
from tests.tui.live import Live, living

CHECK = 'server = "inventory"\ntool = "lookup_port"\narguments = { service = "api" }\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = sample(tmp_path)
    checks = folder / ".hel" / "checks"
    checks.mkdir()
    (checks / "good.toml").write_text(f'name = "good"\n{CHECK}expect = {{ text = "api: 8437" }}\n')
    return folder


@pytest.fixture
async def live(project: Path, tmp_path: Path) -> AsyncIterator[Live]:
    """A workbench on the sample project with one check, its server allowed and ready."""
    async with living(options(project, tmp_path, None)) as live:
        await live.decision("inventory.py", "remember")
        await live.decide("y")
        await live.until(lambda: live.app.bridge.state.servers["inventory"].phase == "ready", "the server")
        yield live


async def test_checks_are_run_by_key_once_the_person_agreed(live: Live, project: Path) -> None:
    await live.submit("/checks")
    await live.until(lambda: isinstance(live.app.screen, ChecksScreen), "the checks")
    await live.sees("1 saved", "· not run    good")
    await live.press("R", after=0.5)
    assert "lookup_port" in await live.decision("checks", "inventory.lookup_port")
    assert calls_received(project) == []
    await live.decide("y")
    await live.sees("✓ passed     good", "what was expected")
    await live.press("R", after=0.5)  # agreed to: no question
    await live.until(lambda: len(calls_received(project)) == 2, "the second run")


async def test_a_file_that_comes_while_the_checks_are_shown_is_listed_and_its_failure_shown(
    live: Live, project: Path
) -> None:
    live.app.bridge.core.send(p.SetAccess("auto"))
    await live.submit("/checks")
    await live.until(lambda: isinstance(live.app.screen, ChecksScreen), "the checks")
    await live.sees("1 saved")
    bad = project / ".hel" / "checks" / "bad.toml"
    bad.write_text(f'name = "bad"\n{CHECK}expect = {{ text = "api: 1" }}\n')
    await live.sees("2 saved", "· not run    bad")
    await live.press("g", "r", after=0.5)
    await live.sees("✗ failed     bad", "-api: 1", "+api: 8437")
    assert calls_received(project) == [("lookup_port", {"service": "api"})]
