"""`hel mcp record` and `hel mcp replay`: real clients, real servers, real processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from hel_tui.cli.mcp.between import LINGER, Waiting
from hel_tui.core.mcp.cassette import read_cassette
from tests.cli.shell import HEL, ROOT, hel
from tests.rig import LIMIT, SERVERS, environment, sample, servers_file

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"text": "hi"}},
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**environment(tmp_path), "PYTHONPATH": str(ROOT)}


def recorder(
    env: dict[str, str], cwd: Path, *command: str, output: str = "a.cassette"
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*HEL, "mcp", "record", "fix", "-o", output, "--", *command],
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def server(file: str = "wire", mode: str = "ok") -> tuple[str, ...]:
    return (sys.executable, "-S", "-E", str(SERVERS / f"{file}.py"), mode)


def say(popen: subprocess.Popen[bytes], message: Any) -> bytes:
    """Send a message and return the next line of the answer."""
    assert popen.stdin is not None and popen.stdout is not None
    popen.stdin.write(json.dumps(message).encode() + b"\n")
    popen.stdin.flush()
    return popen.stdout.readline()


def until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_what_is_recorded_is_replayed(tmp_path: Path, env: dict[str, str]) -> None:
    project = sample(tmp_path)
    assert hel("mcp", "trust", "--yes", env=env, cwd=project).status == 0
    cassette = tmp_path / "a.cassette"

    def entry(*words: str) -> dict[str, Any]:
        args = [*HEL[1:], "mcp", *words]
        keys = {key: env[key] for key in ("HEL_HOME", "PYTHONPATH")}
        return {"command": HEL[0], "args": args, "env": keys}

    file = tmp_path / "servers.json"
    record = entry("record", "inventory", "-C", str(project), "-o", str(cassette))
    file.write_text(json.dumps({"mcpServers": {"record": record, "replay": entry("replay", str(cassette))}}))
    arguments = ("lookup_port", '{"service": "api"}', "--mcp-config", str(file))
    recorded = hel("mcp", "call", "record", *arguments, env=env, cwd=tmp_path)
    assert (recorded.status, recorded.out) == (0, "api: 8437\n")
    (project / ".hel" / "mcp" / "inventory.py").unlink()  # the server is gone: only the cassette is left
    replayed = hel("mcp", "call", "replay", *arguments, env=env, cwd=tmp_path)
    assert (replayed.status, replayed.out) == (0, "api: 8437\n")
    other = hel(
        "mcp",
        "call",
        "replay",
        "lookup_port",
        '{"service": "x"}',
        "--mcp-config",
        str(file),
        env=env,
        cwd=tmp_path,
    )
    assert other.status == 1
    assert "nearest is tools/call lookup_port" in other.err


def test_bytes_pass_unchanged_and_stderr_and_the_exit_status_too(tmp_path: Path, env: dict[str, str]) -> None:
    program = tmp_path / "odd.py"
    program.write_text(
        "import sys\nline = sys.stdin.buffer.readline()\nsys.stdout.buffer.write(b'\\xff odd \\r\\n' + line)\n"
        "sys.stdout.flush()\nprint('on stderr', file=sys.stderr)\nsys.exit(7)\n"
    )
    popen = recorder(env, tmp_path, sys.executable, str(program))
    out, err = popen.communicate(b'{"jsonrpc": "2.0",   "id": 1}\n', timeout=LIMIT)
    assert out == b'\xff odd \r\n{"jsonrpc": "2.0",   "id": 1}\n'
    assert err == b"on stderr\n"
    assert popen.returncode == 7
    frames = read_cassette(tmp_path / "a.cassette").frames
    assert [(one.way, one.message, one.text) for one in frames] == [
        ("out", {"jsonrpc": "2.0", "id": 1}, ""),
        ("in", None, "\ufffd odd "),
        ("in", {"jsonrpc": "2.0", "id": 1}, ""),
    ]


def test_a_signal_reaches_the_server_and_its_end_is_the_recorders(
    tmp_path: Path, env: dict[str, str]
) -> None:
    popen = recorder(env, tmp_path, *server())
    assert b'"hi"' in say(popen, CALL)
    popen.send_signal(signal.SIGTERM)
    assert popen.wait(LIMIT) == -signal.SIGTERM


@pytest.mark.parametrize("name", ["KILL", "SEGV", "TERM"])
def test_a_server_that_a_signal_ended_ends_the_recorder_likewise(
    tmp_path: Path, env: dict[str, str], name: str
) -> None:
    popen = recorder(env, tmp_path, "sh", "-c", f"ulimit -c 0; kill -{name} $$")
    _, err = popen.communicate(timeout=LIMIT)
    assert popen.returncode == -signal.Signals[f"SIG{name}"]
    assert err == b""


def test_a_command_that_cannot_be_started_leaves_what_was_there(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "a.cassette").write_text("mine")
    words = ("mcp", "record", "fix", "-f", "-o")
    ran = hel(*words, "a.cassette", "--", "/no/such", env=env, cwd=tmp_path)
    assert ran.status == 1
    assert "/no/such could not be started" in ran.err
    assert (tmp_path / "a.cassette").read_text() == "mine"
    assert hel(*words, "b.cassette", "--", "/no/such", env=env, cwd=tmp_path).status == 1
    assert not (tmp_path / "b.cassette").exists()


def test_a_flood_is_passed_on_and_written_to_its_end(tmp_path: Path, env: dict[str, str]) -> None:
    program = "import sys\nfor n in range(20_000): sys.stdout.write('{\"n\": %d}\\n' % n)"
    popen = recorder(env, tmp_path, sys.executable, "-c", program)
    out, _ = popen.communicate(timeout=LIMIT)
    assert out.count(b"\n") == 20_000
    frames = read_cassette(tmp_path / "a.cassette").frames
    assert [one.message["n"] for one in frames] == list(range(20_000))


def started(popen: subprocess.Popen[bytes], word: str) -> list[psutil.Process]:
    """What a recorder's server is and started, by the end of a word of its command line."""
    found = psutil.Process(popen.pid).children(recursive=True)
    return [one for one in found if any(part.endswith(word) for part in one.cmdline())]


def has_said_all(popen: subprocess.Popen[bytes], cassette: Path) -> bool:
    """Whether the server said something and ended."""
    has_said = cassette.exists() and cassette.stat().st_size > 30_000
    return has_said and not started(popen, "range(100)]")


@pytest.mark.parametrize("waits", [True, False])
def test_a_client_that_reads_late_gets_everything(tmp_path: Path, env: dict[str, str], waits: bool) -> None:
    program = "[print('x' * 999) for _ in range(100)]"
    reading, writing = os.pipe()
    if not waits:  # the end that is given away may be set so
        os.set_blocking(writing, False)
    popen = subprocess.Popen(
        [*HEL, "mcp", "record", "fix", "-o", "a.cassette", "--", sys.executable, "-c", program],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=writing,
    )
    os.close(writing)
    until(lambda: has_said_all(popen, tmp_path / "a.cassette"))
    with contextlib.suppress(subprocess.TimeoutExpired):
        popen.wait(2 * LINGER)
    with open(reading, "rb") as file:
        assert len(file.read()) == 100_000
    assert popen.wait(LIMIT) == 0


def test_a_signal_ends_a_recorder_whose_client_reads_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    popen = recorder(env, tmp_path, sys.executable, "-c", "[print('x' * 999) for _ in range(100)]")
    until(lambda: has_said_all(popen, tmp_path / "a.cassette"))
    popen.send_signal(signal.SIGTERM)
    assert popen.wait(LIMIT) == 0


def test_whoever_brings_more_than_may_wait_waits() -> None:
    waiting = Waiting(100)

    def bring() -> None:
        for number in range(200):
            waiting.put((float(number), "in", b"x" * 30))
        waiting.put((200.0, "in", b"y" * 500))
        waiting.end()

    threading.Thread(target=bring, daemon=True).start()
    found = []
    until(lambda: waiting.is_full)
    assert waiting.size == 90
    while (one := waiting.get()) is not None:
        found.append(one[0])
        assert waiting.size <= 100 or found[-1] == 199.0  # the large one comes when nothing waits
    assert found == [float(number) for number in range(201)]


def test_a_killed_recorder_leaves_a_cassette_and_no_server(tmp_path: Path, env: dict[str, str]) -> None:
    popen = recorder(env, tmp_path, *server())
    assert b'"hi"' in say(popen, CALL)
    cassette = tmp_path / "a.cassette"
    until(lambda: cassette.read_bytes().count(b"\n") >= 3)
    (child,) = started(popen, "wire.py")
    popen.kill()
    popen.communicate(timeout=LIMIT)
    until(lambda: not child.is_running())
    first, second = read_cassette(cassette).frames
    assert first.message == CALL
    assert second.message["result"]["content"][0]["text"] == "hi"


def test_a_killed_recorder_leaves_no_server_that_nobody_asks_to_end(
    tmp_path: Path, env: dict[str, str]
) -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True)"
    program = (
        "import subprocess, sys\nif len(sys.argv) == 1:\n"
        "    subprocess.Popen([sys.executable, __file__, '2'], start_new_session=True)\n"
        f"{deaf}\nwhile True: time.sleep(1)"
    )
    (tmp_path / "deaf.py").write_text(program)
    popen = recorder(env, tmp_path, sys.executable, str(tmp_path / "deaf.py"))
    assert popen.stdout is not None
    assert [popen.stdout.readline() for _ in range(2)] == [b"1\n", b"1\n"]
    children = started(popen, "deaf.py")
    assert len(children) == 2
    popen.kill()
    popen.communicate(timeout=LIMIT)
    until(lambda: not any(child.is_running() for child in children))


def test_a_file_that_is_there_stays_unless_force_says_otherwise(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "a.cassette").write_text("mine")
    ran = hel("mcp", "record", "fix", "-o", "a.cassette", "--", "true", env=env, cwd=tmp_path)
    assert ran.status == 2
    assert "--force" in ran.err
    assert (tmp_path / "a.cassette").read_text() == "mine"
    assert (
        hel("mcp", "record", "fix", "-f", "-o", "a.cassette", "--", "true", env=env, cwd=tmp_path).status == 0
    )
    assert read_cassette(tmp_path / "a.cassette").server == "fix"


def test_no_cassette_is_written_through_a_link(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a.cassette").symlink_to("mine")
    ran = hel("mcp", "record", "fix", "-f", "-o", "a.cassette", "--", "true", env=env, cwd=tmp_path)
    assert (ran.status, ran.err) == (1, "hel mcp record: a.cassette: it is a link\n")
    assert (tmp_path / "mine").read_text() == "mine"


def test_without_a_name_each_start_has_a_file_of_its_own(tmp_path: Path, env: dict[str, str]) -> None:
    for _ in range(2):
        assert hel("mcp", "record", "fix", "--", "true", env=env, cwd=tmp_path).status == 0
    assert len(list(tmp_path.glob("fix-*.cassette"))) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (("record", "nobody"), 1, "no server named nobody"),
        (("record", "fix", "--"), 2, "must be a command"),
        (("record", "../fix", "--", "true"), 2, "may have only letters"),
        (("record", "a b", "-o", "x.cassette", "--", "true"), 2, "may have only letters"),
        (("record", "fix", "--", "/no/such/program"), 1, "could not be started"),
        (("replay", "nothing.cassette"), 2, "cannot be read: no such file"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, env: dict[str, str], arguments, status: int, part: str
) -> None:
    ran = hel("mcp", *arguments, env=env, cwd=tmp_path)
    assert (ran.status, ran.out) == (status, "")
    assert part in ran.err
    assert [*tmp_path.glob("*.cassette"), *tmp_path.parent.glob("fix*.cassette")] == []


def test_a_server_that_is_not_trusted_is_not_recorded(tmp_path: Path, env: dict[str, str]) -> None:
    ran = hel("mcp", "record", "inventory", env=env, cwd=sample(tmp_path))
    assert ran.status == 4


def test_known_secrets_are_not_on_the_cassette(tmp_path: Path, env: dict[str, str]) -> None:
    named = servers_file(tmp_path, fix={"mode": "wire:ok", "env": {"API_TOKEN": "swordfish-7"}})
    popen = subprocess.Popen(
        [*HEL, "mcp", "record", "fix", "-o", "a.cassette", "--mcp-config", str(named)],
        env=env,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    spoken = {**CALL, "params": {"name": "echo", "arguments": {"text": "it is swordfish-7"}}}
    assert b"swordfish-7" in say(popen, spoken)
    popen.communicate(timeout=LIMIT)
    written = (tmp_path / "a.cassette").read_text()
    assert "swordfish" not in written
    assert json.loads(written.splitlines()[1])["msg"]["params"]["arguments"]["text"] == "it is ‹redacted›"


async def test_the_official_client_is_served(tmp_path: Path, env: dict[str, str]) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    popen = recorder(env, tmp_path, *server())
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    say(popen, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
    say(popen, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    say(popen, CALL)
    popen.communicate(timeout=LIMIT)
    args = [*HEL[1:], "mcp", "replay", str(tmp_path / "a.cassette")]
    parameters = StdioServerParameters(command=HEL[0], args=args, env={**os.environ, **env})
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        assert [tool.name for tool in (await session.list_tools()).tools] == ["echo"]
        result = await session.call_tool("echo", {"text": "hi"})
        assert result.content[0].text == "hi"
