"""The processes of a server: its tree while somebody looks, and what nobody owns any more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hel_tui.core.guard import SERVER
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
    processes = bench.host.processes
    assert processes.rows("fix") == ()
    processes.watch("fix", True)
    rows = await until(lambda: found if len(found := processes.rows("fix")) == 3 else None)
    root = rows[0]
    assert (root.pid, root.depth, root.leftover) == (bench.status().pid, 0, False)
    assert {(row.depth, row.parent, row.leftover) for row in rows[1:]} == {(1, root.pid, False)}
    assert root.memory > 1_000_000 and root.threads >= 1 and root.files > 2
    assert abs(root.since - bench.status().since) < 60 and "life.py" in root.command
    processes.watch("fix", False)
    assert processes.rows("fix") == ()


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
