"""Server files that change while hel runs: told, and carried out when the person says so, only what differs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.store.places import find_places
from tests.rig import Driver, servers_file

Open = Callable[..., Driver]


@pytest.fixture
def file(project: Path, tmp_path: Path) -> Path:
    """The project's server file with three servers."""
    entries = json.loads(servers_file(tmp_path, stays="wire:ok", goes="wire:ok", turns="wire:ok").read_text())
    path = project / ".hel" / "mcp.json"
    path.parent.mkdir()
    path.write_text(json.dumps(entries))
    return path


def rewritten(file: Path, **servers: Any) -> None:
    """Replace the file as editors do; None takes a server out, a dict changes keys of its entry."""
    entries = json.loads(file.read_text())["mcpServers"]
    model = next(iter(entries.values()))
    for name, change in servers.items():
        if change is None:
            del entries[name]
        else:
            entries[name] = {**entries.get(name, model), **change}
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps({"mcpServers": entries}))
    beside.replace(file)


def told(driver: Driver, **expected: tuple[str, ...]) -> p.ConfigChanged:
    wanted = p.ConfigChanged(**expected)
    return driver.wait(lambda _: driver.of(p.ConfigChanged)[-1:] == [wanted] and wanted, f"{wanted}")


def pids(driver: Driver, *names: str) -> dict[str, int]:
    return {name: driver.phase(name, "ready").pid for name in names}


def opened(play: Open) -> Driver:
    return play(servers={}, model=None, base_url=None)


def test_a_change_is_told_and_nothing_else_happens_until_it_is_applied(play: Open, file: Path) -> None:
    with opened(play) as driver:
        driver.trust()
        before = pids(driver, "goes", "stays", "turns")
        rewritten(file, goes=None, comes={}, turns={"timeout": 77})
        told(driver, added=("comes",), removed=("goes",), changed=("turns",))
        assert pids(driver, "goes", "stays", "turns") == before
        assert not [e for e in driver.of(p.ServerChanged) if e.name == "comes"]
        driver.send(p.ApplyConfig())
        question = driver.question(p.TrustQuestion)
        claims = {claim.name: claim.changed for claim in question.servers}
        assert "+" in claims["turns"] and "77" in claims["turns"] and claims["comes"] == ""
        assert "the definition of this server did not" in claims["stays"]
        driver.trust()
        driver.phase("comes", "ready")
        driver.wait(lambda _: p.ServerRemoved("goes") in driver.events, "the end of the removed one")
        driver.wait(
            lambda _: (
                [e for e in driver.of(p.ServerChanged) if e.name == "turns"][-1].pid
                not in (0, before["turns"])
            ),
            "the changed one to start anew",
        )
        assert pids(driver, "stays")["stays"] == before["stays"]
        assert driver.of(p.ConfigChanged)[-1] == p.ConfigChanged()
        assert {row.server for row in driver.core.tools()} == {"comes", "stays", "turns"}
    assert not _alive(before["goes"])


def test_refusing_the_changed_file_changes_nothing(play: Open, file: Path) -> None:
    with opened(play) as driver:
        driver.trust()
        before = pids(driver, "goes", "stays", "turns")
        rewritten(file, goes=None, comes={}, turns={"timeout": 77})
        told(driver, added=("comes",), removed=("goes",), changed=("turns",))
        driver.send(p.ApplyConfig())
        driver.answer(p.TrustQuestion, p.TrustAnswer("refuse"))
        driver.wait(lambda _: any("was refused" in n.text for n in driver.of(p.Notice)), "a word")
        driver.phase("comes", "untrusted")
        assert pids(driver, "goes", "stays", "turns") == before
        assert not driver.of(p.ServerRemoved)


def test_a_change_that_is_undone_is_told_as_none(play: Open, file: Path) -> None:
    with opened(play) as driver:
        driver.trust()
        pids(driver, "goes", "stays", "turns")
        was = file.read_text()
        rewritten(file, comes={})
        told(driver, added=("comes",))
        file.write_text(was)
        told(driver)


def test_a_broken_file_is_told_with_its_place_and_servers_go_on(play: Open, file: Path) -> None:
    with opened(play) as driver:
        driver.trust()
        before = pids(driver, "goes", "stays", "turns")
        file.write_text(file.read_text()[:-4])
        change = driver.wait(lambda _: [e for e in driver.of(p.ConfigChanged) if e.problems], "the problem")[
            0
        ]
        assert "line 1, column" in change.problems[0]
        assert pids(driver, "goes", "stays", "turns") == before


def test_the_persons_own_files_are_applied_without_a_question(play: Open, file: Path, tmp_path: Path) -> None:
    entries = json.loads(file.read_text())["mcpServers"]
    file.unlink()
    places = find_places({"HEL_HOME": str(tmp_path / "hel")})
    places.config.mkdir(parents=True)
    places.user_servers.write_text(json.dumps({"servers": {"stays": entries["stays"]}}))
    own = places.local_servers(file.parents[1])  # neither the file nor its folder is there yet
    with opened(play) as driver:
        driver.phase("stays", "ready")
        for turn, added in enumerate(["first", "second"]):
            own.parent.mkdir(parents=True, exist_ok=True)
            servers = json.loads(own.read_text())["servers"] if turn else {}
            own.write_text(json.dumps({"servers": {**servers, added: entries["goes"]}}))
            told(driver, added=(added,))
            driver.send(p.ApplyConfig())
            driver.phase(added, "ready")
        assert not driver.of(p.Asked)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
