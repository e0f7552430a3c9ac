"""A new generation of a server beside the one that answers: swapped when ready, never before."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.protocol import ListChanged, ServerFailed
from tests.core.mcp.conftest import SERVERS, runs, until

PROGRAM = """
import sys, time, threading
sys.path.insert(0, {servers!r})
from stdio_server import Server, text, tool

class Mine(Server):
    tools = [{tools}]

    def begin(self):
        {begin}

    def call(self, identity, name, arguments, params):
        if name == "wait":
            threading.Thread(target=lambda: (open({gate!r}).read(), self.answer(identity, text("late"))), daemon=True).start()
        else:
            self.answer(identity, text({says!r} + ":" + arguments.get("text", "")))

Mine().run()
"""


class Author:
    """Writes the program of one server, over and over."""

    def __init__(self, bench: Any, folder: Path) -> None:
        self.bench = bench
        self.file = folder / "server.py"
        self.gate = folder / "gate"
        self.entry = bench.entry("x:y", command=sys.executable, args=("-S", "-E", str(self.file)))

    def write(self, says: str, tools: str = 'tool("echo"), tool("wait")', begin: str = "pass") -> None:
        self.file.write_text(
            PROGRAM.format(servers=str(SERVERS), says=says, tools=tools, begin=begin, gate=str(self.gate))
        )

    async def start(self) -> None:
        self.bench.host.start([self.entry])
        await self.bench.host.settled()

    async def renew(self) -> Any:
        return await self.bench.host.server("fix").renew()

    async def said(self) -> str | None:
        return (await self.bench.call(text="hi")).full


@pytest.fixture
def author(bench: Any, tmp_path: Path) -> Author:
    return Author(bench, tmp_path)


async def test_calls_go_to_the_new_one_at_once_and_the_old_process_ends(author: Author, bench: Any) -> None:
    author.write("one")
    await author.start()
    old = bench.status().pid
    assert await author.said() == "one:hi"
    author.write("two", tools='tool("echo"), tool("more")')
    renewed = await author.renew()
    assert (renewed.failure, renewed.refused) == (None, "")
    assert await author.said() == "two:hi"
    assert bench.tool("more")
    changes = [one for one in bench.events if isinstance(one, ListChanged)]
    assert [(one.added, one.removed, one.changed) for one in changes] == [(1, 1, 0)]
    status = bench.status()
    assert status.phase == "ready"
    assert status.pid != old
    await until(lambda: not runs(old), "the end of the old process")
    assert bench.phases() == ["starting", "ready"]
    assert bench.status().pid == status.pid


async def test_a_broken_one_leaves_the_old_one_callable_and_the_next_save_tries_again(
    author: Author, bench: Any
) -> None:
    author.write("one")
    await author.start()
    old = bench.status().pid
    author.write("two", begin='raise SystemExit("syntax of my own")')
    renewed = await author.renew()
    assert renewed.still_up
    assert "ended" in renewed.failure.sentence
    assert "syntax of my own" in "\n".join(renewed.failure.stderr)
    assert not [one for one in bench.events if isinstance(one, ServerFailed)]  # who saved has a card for it
    assert await author.said() == "one:hi"
    assert (bench.status().phase, bench.status().pid) == ("ready", old)
    author.write("three")
    assert (await author.renew()).failure is None
    assert await author.said() == "three:hi"


async def test_a_running_call_is_finished_by_the_old_one(author: Author, bench: Any) -> None:
    import os

    os.mkfifo(author.gate)
    author.write("one")
    await author.start()
    old = bench.status().pid
    waiting = asyncio.create_task(bench.call("wait"))
    await until(lambda: bench.methods().count("tools/call") == 1)
    author.write("two")
    assert (await author.renew()).failure is None
    assert await author.said() == "two:hi"
    assert runs(old)
    author.gate.write_text("now")
    assert (await waiting).full == "late"
    await until(lambda: not runs(old), "the end of the old process")


async def test_a_candidate_that_is_not_wanted_any_more_is_ended(
    author: Author, bench: Any, tmp_path: Path
) -> None:
    author.write("one")
    await author.start()
    author.write("hangs", begin=f"open({str(tmp_path / 'there')!r}, 'w').close(); time.sleep(999)")
    first = asyncio.create_task(author.renew())
    await until((tmp_path / "there").exists)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    supervisor = bench.host.server("fix")
    assert supervisor.is_alive
    author.write("two")
    assert (await author.renew()).failure is None
    assert await author.said() == "two:hi"


async def test_giving_up_a_start_where_none_answered_ends_what_was_started(author: Author) -> None:
    author.write("one", begin="sys.exit(3)")
    await author.start()
    assert author.bench.status().phase == "failed"
    author.write("two", begin="time.sleep(300)")
    renewing = asyncio.ensure_future(author.renew())
    pid = await until(lambda: author.bench.status().pid)
    renewing.cancel()
    await until(lambda: not runs(pid))
    await until(lambda: author.bench.status().phase == "failed")
    assert "given up" in author.bench.status().reason
    author.write("three")
    assert (await author.renew()).failure is None and await author.said() == "three:hi"


async def test_a_newer_save_takes_the_place_of_a_start_without_a_word_of_failure(author: Author) -> None:
    author.write("one", begin="time.sleep(300)")
    author.bench.host.start([author.entry])
    first = asyncio.ensure_future(author.renew())
    await until(lambda: author.bench.status().pid)
    author.write("two")
    first.cancel()
    assert (await author.renew()).failure is None and await author.said() == "two:hi"
    assert not [one for one in author.bench.events if isinstance(one, ServerFailed)]


async def test_a_server_that_did_not_start_is_started(author: Author, bench: Any) -> None:
    author.write("one", begin="raise SystemExit(3)")
    await author.start()
    assert bench.status().phase == "failed"
    failed = await author.renew()
    assert "exit 3" in failed.failure.exit
    assert failed.failure.number
    assert not failed.still_up
    author.write("two")
    assert (await author.renew()).failure is None
    assert bench.status().phase == "ready"
    assert await author.said() == "two:hi"


async def test_one_that_is_switched_off_stays_off(author: Author, bench: Any) -> None:
    author.write("one")
    await author.start()
    bench.host.switch("fix", False)
    assert "switched off" in (await author.renew()).refused
    assert bench.status().phase == "off"


async def test_the_new_one_that_dies_later_is_brought_back_like_any_other(author: Author, bench: Any) -> None:
    import os
    import signal

    author.write("one")
    await author.start()
    author.write("two")
    await author.renew()
    pid = bench.status().pid
    os.kill(pid, signal.SIGKILL)
    await until(lambda: bench.status().phase == "ready" and bench.status().pid not in (0, pid))
    assert await author.said() == "two:hi"


async def test_nothing_is_left_when_hel_closes_in_the_middle(author: Author, bench: Any) -> None:
    import os

    os.mkfifo(author.gate)
    author.write("one")
    await author.start()
    old = bench.status().pid
    waiting = asyncio.create_task(bench.call("wait"))
    await until(lambda: bench.methods().count("tools/call") == 1)
    author.write("two")
    await author.renew()
    new = bench.status().pid
    await bench.host.aclose()
    assert not runs(old) and not runs(new)
    assert (await waiting).failed


async def test_a_restart_by_hand_ends_what_was_to_follow(author: Author, bench: Any, tmp_path: Path) -> None:
    author.write("one")
    await author.start()
    there = tmp_path / "there"
    hangs = f"time.sleep(999) if not __import__('os').path.exists({str(there)!r}) and not open({str(there)!r}, 'w').close() else None"
    author.write("two", begin=hangs)
    renewing = asyncio.create_task(author.renew())
    await until(there.exists)
    bench.host.restart("fix")
    assert "restarted" in (await renewing).refused
    await until(lambda: bench.status().phase == "ready")
    assert await author.said() == "two:hi"


async def test_closing_in_the_middle_of_a_start_leaves_nothing(
    author: Author, bench: Any, tmp_path: Path
) -> None:
    author.write("one")
    await author.start()
    there = tmp_path / "there"
    author.write(
        "two", begin=f"open({str(there)!r}, 'w').write(str(__import__('os').getpid())); time.sleep(999)"
    )
    renewing = asyncio.create_task(author.renew())
    pid = int(await until(lambda: there.exists() and there.read_text()))
    await bench.host.aclose()
    assert not runs(pid)
    assert (await renewing).refused


async def test_calls_that_go_on_while_generations_change_never_fail(author: Author, bench: Any) -> None:
    author.write("0")
    await author.start()
    made: list[bool] = []
    is_over = asyncio.Event()

    async def call_on() -> None:
        while not is_over.is_set():
            made.append((await bench.call(text="x")).failed)

    callers = [asyncio.create_task(call_on()) for _ in range(4)]
    pids = set()
    for number in range(1, 6):
        before = len(made)
        pids.add(bench.status().pid)
        author.write(str(number))
        assert (await author.renew()).failure is None
        await until(lambda before=before: len(made) > before)
    is_over.set()
    await asyncio.gather(*callers)
    assert not any(made)
    await until(lambda: not any(map(runs, pids)), "the end of all earlier ones")
