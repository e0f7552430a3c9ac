"""One look at the processes of the machine for all who ask, and never one that began too early."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.guard import SERVER
from hel_tui.core.mcp import leftovers
from hel_tui.core.mcp.census import Shared, descendants, marked
from hel_tui.core.mcp.leftovers import RunRecord, find_leftovers
from tests.core.mcp.conftest import until

PARENT = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-S', '-c', {child!r}]); p.wait()"
CHILD = "import sys; print('up', flush=True); sys.stdin.read()"


async def test_all_who_ask_at_once_share_a_look_and_who_asks_later_gets_a_newer_one() -> None:
    looks, go = 0, threading.Event()

    def look() -> int:
        nonlocal looks
        looks += 1
        go.wait(30)
        return looks

    shared = Shared(look)
    first = [asyncio.create_task(shared.now()) for _ in range(20)]
    await until(lambda: looks)
    later = [asyncio.create_task(shared.now()) for _ in range(20)]
    await asyncio.sleep(0)
    later[0].cancel()
    go.set()
    assert await asyncio.gather(*first) == [1] * 20
    assert await asyncio.gather(*later[1:]) == [2] * 19
    assert await shared.now() == 3


async def test_a_look_that_fails_fails_those_who_waited_and_no_one_after() -> None:
    answers: list[Any] = [OSError("no"), "fine"]

    def look() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    shared = Shared(look)
    with pytest.raises(OSError, match="no"):
        await shared.now()
    assert await shared.now() == "fine"


async def test_processes_are_found_by_family_and_by_mark() -> None:
    mark = f"{os.urandom(12).hex()}/1/fix"
    parent = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-S", "-c", PARENT.format(child=CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, SERVER: mark},
    )
    assert parent.stdin is not None and parent.stdout is not None
    try:
        parent.stdout.readline()
        children = await descendants(parent.pid)
        assert len(children) == 1 and parent.pid not in children
        assert sorted(await marked(mark)) == sorted([parent.pid, *children])
        assert await marked(f"{mark}ed") == []
    finally:
        parent.stdin.close()
        parent.stdout.close()
        parent.wait()


def test_many_servers_that_start_together_are_written_down_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    first, original = threading.Event(), leftovers.write_atomic

    def write(path: Path, data: bytes) -> Any:
        writes.append(len(json.loads(data)["servers"]))
        first.wait(30)
        return original(path, data)

    monkeypatch.setattr(leftovers, "write_atomic", write)
    record = RunRecord(tmp_path, "run/")
    with ThreadPoolExecutor(40) as pool:
        begun = [pool.submit(record.begin) for _ in range(20)]
        while not writes:
            time.sleep(0.005)
        added = [pool.submit(record.add, f"s{n}", 10_000_000 + n, "x") for n in range(19)]
        while len(record._running) < 19:
            time.sleep(0.005)
        first.set()
        for one in (*begun, *added):
            one.result()
    assert writes[0] == 0 and writes[-1] == 19 and len(writes) < 10
    file = next((tmp_path / "servers").glob("*.json"))
    assert len(json.loads(file.read_text())["servers"]) == 19
    for number in range(19):
        record.remove(10_000_000 + number)
    assert not file.exists()
    assert find_leftovers(tmp_path) == ()
