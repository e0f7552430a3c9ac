"""The doctor through the door: asked for by a key, once at a time, and again whatever became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.core.doctor import machine
from tests.rig import Driver

Open = Callable[..., Driver]


def _over(driver: Driver) -> list[p.Diagnosed]:
    return [one for one in driver.of(p.Diagnosed) if not one.running]


def test_a_look_at_hel_that_fails_says_so_and_can_be_asked_for_again(
    play: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: Any) -> Iterator[p.Finding]:
        raise OSError("the folder is away")

    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        with monkeypatch.context() as patched:
            patched.setattr(machine, "machine", broken)
            driver.send(p.Diagnose(""))
            driver.wait(lambda _events: len(_over(driver)) == 1)
        found = driver.core.diagnosis("")
        assert found is not None and "the folder is away" in found.findings[-1].sentence
        driver.send(p.Diagnose(""))
        driver.wait(lambda _events: len(_over(driver)) == 2)
        found = driver.core.diagnosis("")
        assert found is not None and any(one.sentence == "fix works" for one in found.findings)


def test_two_quick_keys_begin_one_look(play: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    go_on = threading.Event()
    really = machine.machine

    def counted(*arguments: Any) -> Iterator[p.Finding]:
        looks.append(1)
        assert go_on.wait(30)
        return really(*arguments)

    monkeypatch.setattr(machine, "machine", counted)
    with play(access="auto") as driver:
        driver.phase("fix", "ready")
        driver.send(p.Diagnose(""))
        driver.send(p.Diagnose(""))
        driver.send(p.CallTool("fix.echo", '{"text": "both keys are obeyed"}', key="1"))
        driver.call_end(0)
        go_on.set()
        driver.wait(lambda _events: len(_over(driver)) == 1)
    assert looks == [1] and len(_over(driver)) == 1
