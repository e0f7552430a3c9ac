"""The processes of a server: its tree while somebody looks, and what nobody owns any more."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hel_tui.core.guard import SERVER
from hel_tui.core.mcp import processes
from hel_tui.core.mcp.processes import Sampler
from tests.core.mcp.conftest import runs, until


@pytest.fixture
def stray(bench: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries the mark of an earlier life of the server `fix`."""
    mark = f"{bench.host._ground.guard.run}99/fix"
    words = [sys.executable, "-S", "-c", "import time; time.sleep(300)", "--token=abcdef123456"]
    with subprocess.Popen(words, env={**os.environ, SERVER: mark}) as process:
        yield process
        process.kill()


async def test_the_tree_is_seen_while_it_is_watched_with_what_each_takes(bench: Any) -> None:
    await bench.start("life:grandchild")
    watched = bench.host.processes
    assert watched.rows("fix") == ()
    watched.watch("fix", True)
    rows = await until(lambda: found if len(found := watched.rows("fix")) == 3 else None)
    root = rows[0]
    assert (root.pid, root.depth, root.leftover) == (bench.status().pid, 0, False)
    assert {(row.depth, row.parent, row.leftover) for row in rows[1:]} == {(1, root.pid, False)}
    assert root.memory > 1_000_000 and root.threads >= 1 and root.files > 2
    assert abs(root.since - bench.status().since) < 60 and "life.py" in root.command
    watched.watch("fix", False)
    assert watched.rows("fix") == ()


async def test_a_process_of_an_earlier_life_is_a_leftover_and_can_be_ended(
    bench: Any, stray: subprocess.Popen[bytes]
) -> None:
    await bench.start("wire:ok")
    bench.host.processes.watch("fix", True)

    def left() -> list[Any]:
        return [row for row in bench.host.processes.rows("fix") if row.leftover]

    (row,) = await until(left)
    assert row.pid == stray.pid and "abcdef" not in row.command
    assert await bench.host.processes.end("fix", row.pid) == ""
    assert stray.wait(10) is not None
    await until(lambda: not left())


async def test_nothing_else_is_ended(bench: Any, stray: subprocess.Popen[bytes]) -> None:
    await bench.start("wire:ok")
    await bench.host.processes.end("other", stray.pid)
    own = bench.status().pid
    for pid in (own, os.getppid(), os.getpid(), 1):
        assert "not" in await bench.host.processes.end("fix", pid)
    assert runs(stray.pid) and runs(own) and bench.status().phase == "ready"


async def test_a_look_that_fails_is_remarked_once_and_the_next_one_counts(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "EVERY", 0.01)
    failures: list[int] = []

    def broken(*_arguments: Any) -> None:
        failures.append(1)
        raise OSError(24, "Too many open files")

    await bench.start("wire:ok")
    with monkeypatch.context() as patched:
        patched.setattr(Sampler, "look", broken)
        bench.host.processes.watch("fix", True)
        await until(lambda: len(failures) > 2)
    assert (
        bench.log().count("its processes cannot be looked at: OSError: [Errno 24] Too many open files") == 1
    )
    await until(lambda: bench.host.processes.rows("fix"))
    bench.host.processes.watch("fix", False)


async def test_one_look_at_a_server_waits_for_another(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "EVERY", 0.01)
    inside: list[int] = []
    together: list[int] = []
    looks: list[int] = []
    held = threading.Event()
    really = Sampler._tree

    def slow(self: Sampler, *arguments: Any) -> None:
        inside.append(1)
        together.append(len(inside))
        looks.append(1)
        if len(looks) == 1:
            held.wait(30)
        really(self, *arguments)
        inside.pop()

    monkeypatch.setattr(Sampler, "_tree", slow)
    await bench.start("wire:ok")
    watched = bench.host.processes
    watched.watch("fix", True)
    await until(lambda: inside)
    watched.watch("fix", False)
    watched.watch("fix", True)
    ending = asyncio.ensure_future(watched.end("fix", 1))
    await until(
        lambda: sum(one.name.startswith(("hel-proc", "hel-end")) for one in threading.enumerate()) == 3
    )
    held.set()
    assert "not ended" in await ending
    await until(lambda: len(looks) > 2)
    assert max(together) == 1
    watched.watch("fix", False)
