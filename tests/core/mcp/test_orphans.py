"""No server outlives hel: the reaper, and what a next start finds."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from hel_tui.core.guard import SERVER, Guard
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.leftovers import FOLDER
from hel_tui.core.reaper import find_marked
from tests.core.mcp.conftest import SERVERS, runs, until

HOST = """
import asyncio, os, sys
from pathlib import Path
from hel_tui.core.mcp.entries import ServerEntry
from hel_tui.core.mcp.host import Host

async def main(folder, events):
    host = Host(folder, os.environ, lambda: None, folder / "state", lambda event: None)
    servers = Path(sys.argv[2])
    for name, mode in (("a", "stubborn"), ("b", "grandchild")):
        env = (("EVENTS", str(folder / f"{name}.events")),)
        host.start([ServerEntry(name, "user", folder / "x", "stdio", {}, command=sys.executable, env=env,
            args=("-S", str(servers / "life.py"), mode), default_cwd=folder)])
    await host.settled()
    await asyncio.sleep(0.3)
    print("ready", flush=True)
    await asyncio.sleep(300)

asyncio.run(main(Path(sys.argv[1]), None))
"""


def noted(folder: Path, name: str, key: str) -> Any:
    lines = (folder / f"{name}.events").read_text().splitlines()
    return next(value[key] for value in map(json.loads, lines) if key in value)


def run_hel(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", HOST, str(folder), str(SERVERS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path.cwd())


async def test_servers_and_helpers_end_when_hel_is_killed(tmp_path: Path) -> None:
    hel = run_hel(tmp_path)
    assert hel.stdout is not None
    assert hel.stdout.readline() == b"ready\n"
    children = psutil.Process(hel.pid).children()
    pids = [
        *(child.pid for child in children),
        noted(tmp_path, "a", "child"),
        *noted(tmp_path, "b", "children"),
    ]
    assert len(pids) == 6
    record = json.loads(next((tmp_path / "state" / FOLDER).glob("*.json")).read_text())
    assert {one["server"] for one in record["servers"]} == {"a", "b"}
    hel.kill()
    hel.wait()
    hel.stdout.close()
    await until(lambda: not [pid for pid in pids if runs(pid)])


def run_to_its_end(program: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *args], stdout=subprocess.PIPE, text=True, check=False
    )
    return done.stdout.strip()


def sleep_marked(mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], env={**os.environ, SERVER: mark}, start_new_session=True)


async def test_a_process_of_which_the_reaper_was_never_told_ends_when_hel_is_killed() -> None:
    program = (
        "import os, signal, subprocess, sys\n"
        "from hel_tui.core.guard import Guard\n"
        "guard = Guard()\n"
        "env = {**os.environ, guard.variable: guard.mark()}\n"
        "subprocess.Popen(['sleep', '60'], env=env, start_new_session=True, stdout=subprocess.DEVNULL)\n"
        "print(guard.run, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run = run_to_its_end(program)
    assert run
    await until(lambda: not find_marked(SERVER, run))


async def test_a_daemon_of_a_server_ends_with_it(bench: Any) -> None:
    noted = bench.folder / "daemon"
    program = (
        "import os, sys\n"
        "if not os.fork():\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    null = os.open('/dev/null', os.O_RDWR)\n"
        "    for n in (0, 1, 2): os.dup2(null, n)\n"
        f"    with open({str(noted) + '.new'!r}, 'w') as file: file.write(str(os.getpid()))\n"
        f"    os.rename({str(noted) + '.new'!r}, {str(noted)!r})\n"
        "    os.execv('/bin/sleep', ['sleep', '60'])\n"
        "os.wait()\n"
        "sys.stdin.read()\n"
    )
    entry = ServerEntry(
        "daemon",
        "user",
        bench.folder / "x",
        "stdio",
        {},
        command=sys.executable,
        args=("-S", "-c", program),
        default_cwd=bench.folder,
    )
    bench.host.start([entry])
    await until(noted.exists)
    pid = int(noted.read_text())
    assert runs(pid)
    await bench.host.aclose()
    assert not runs(pid)
    assert list((bench.folder / "state" / FOLDER).iterdir()) == []


async def test_the_next_start_finds_a_marked_process_nobody_noted(bench: Any) -> None:
    run = secrets.token_hex(12) + "/"
    left = sleep_marked(run + "1/old")
    folder = bench.folder / "state" / FOLDER
    folder.mkdir(parents=True)
    (folder / "1.json").write_text(json.dumps({"hel": {"pid": 1, "created": 5.0}, "run": run, "servers": []}))
    await until(lambda: find_marked(SERVER, run))
    (found,) = await bench.host.leftovers()
    assert (found.server, found.pid, found.command_line) == ("old", left.pid, "sleep 60")
    await bench.host.end_leftovers((found,))
    left.wait(5)


async def test_unfinished_records_of_the_dead_are_swept(bench: Any) -> None:
    gone = sleep_for_ever()
    gone.kill()
    gone.wait()
    folder = bench.folder / "state" / FOLDER
    folder.mkdir(parents=True)
    mine, dead, old = (
        folder / f".{name}.part" for name in (f"{os.getpid()}.json.a", f"{gone.pid}.json.b", "c")
    )
    for path in (mine, dead, old):
        path.touch()
    long_ago = time.time() - 7200
    os.utime(old, (long_ago, long_ago))
    await bench.host.leftovers()
    assert list(folder.iterdir()) == [mine]


async def test_an_empty_folder_that_hel_answers_for_goes_when_hel_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "a b\n"
    folder.mkdir()
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from hel_tui.core.guard import Guard\n"
        "Guard().watch_folder(Path(sys.argv[1]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    run_to_its_end(program, str(folder))
    await until(lambda: not folder.exists())


def sleep_for_ever() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True
    )


async def test_a_guard_that_is_closed_in_order_kills_nothing() -> None:
    guard = Guard()
    sleeper = sleep_for_ever()
    guard.watch(sleeper.pid)
    reaper = guard.pid
    guard.forget(sleeper.pid)
    await guard.close()
    assert not runs(reaper)
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


async def test_leftovers_of_a_hel_that_is_gone_are_found_and_ended(bench: Any) -> None:
    gone = sleep_for_ever()
    gone.kill()
    gone.wait()
    left = sleep_for_ever()
    folder = bench.folder / "state" / FOLDER
    folder.mkdir(parents=True)
    server: dict[str, Any] = {
        "server": "old",
        "pid": left.pid,
        "created": psutil.Process(left.pid).create_time(),
        "command_line": "sleep",
    }
    reused = {**server, "server": "reused", "created": server["created"] - 5000}
    (folder / "1.json").write_text(
        json.dumps({"hel": {"pid": gone.pid, "created": 5.0}, "servers": [server, reused]})
    )
    mine = {"pid": os.getpid(), "created": psutil.Process().create_time()}
    (folder / "2.json").write_text(json.dumps({"hel": mine, "servers": [server]}))
    (folder / "3.json").write_text("{broken")
    (found,) = await bench.host.leftovers()
    assert (found.server, found.pid) == ("old", left.pid)
    await bench.host.end_leftovers((found,))
    left.wait(5)
    assert await bench.host.leftovers() == ()
    assert sorted(path.name for path in folder.iterdir()) == ["2.json"]
