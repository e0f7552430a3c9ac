"""`hel mcp replay` and what nobody sends or records in good faith: no word of Python's is ever seen."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from hel_tui.core.mcp.cassette import MAX_DEPTH
from tests.cli.shell import HEL, ROOT, hel
from tests.rig import LIMIT, environment

HEADER = '{"format": "hel-cassette", "version": 1}\n'
ASKED = '{"t": 0, "dir": "out", "msg": {"id": 1, "method": "tools/call", "params": {"name": "a"}}}\n'
ANSWERED = '{"t": 1, "dir": "in", "msg": {"id": 1, "result": %s}}\n'


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**environment(tmp_path), "PYTHONPATH": str(ROOT)}


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    ("frame", "part"),
    [
        ('{"t": 1%s, "dir": "in", "msg": {}}\n' % ("0" * 400), "no time of a recording"),
        (ANSWERED % nested(900), "nested more than 200 levels deep"),
    ],
)
def test_a_cassette_that_cannot_be_played_is_said_in_a_line(
    tmp_path: Path, env: dict[str, str], frame: str, part: str
) -> None:
    (tmp_path / "a.cassette").write_text(HEADER + ASKED + frame)
    ran = hel("mcp", "replay", "a.cassette", env=env, cwd=tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert f"line 3 is {part}" in ran.err or f"line 3 is no frame: its `t` is {part}" in ran.err
    assert ran.err.count("\n") == 1


def test_a_client_hears_what_was_no_request_and_is_answered_afterwards(
    tmp_path: Path, env: dict[str, str]
) -> None:
    deepest = nested(MAX_DEPTH - 2)  # an answer and its message are around it
    (tmp_path / "a.cassette").write_text(HEADER + ASKED + ANSWERED % f'{{"a": {deepest}}}')
    lines = (
        '{"id": [1], "method": "tools/list"}',
        '{"method": "notifications/cancelled", "params": {"requestId": {}}}',
        f'{{"id": 2, "method": "tools/call", "params": {{"name": "a", "arguments": {nested(900)}}}}}',
        f'{{"id": 3, "method": "tools/call", "params": {nested(100_000)}}}',
        "nonsense",
        '{"id": 5, "method": "tools/call", "params": {"name": "a", "_meta": {"progressToken": {}}}}',
    )
    ran = subprocess.run(
        [*HEL, "mcp", "replay", "a.cassette"],
        env=env,
        cwd=tmp_path,
        input="\n".join(lines).encode() + b"\n",
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    codes = [one["error"]["code"] for one in said if "error" in one]
    assert codes == [-32600, -32600, -32600, -32700]
    assert [one for one in said if one["id"] == 5] == [{"id": 5, "result": {"a": json.loads(deepest)}}]


def replaying(env: dict[str, str], cwd: Path, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    (cwd / "a.cassette").write_text(HEADER + ASKED + ANSWERED % "{}")
    return subprocess.Popen(
        [*HEL, "mcp", "replay", "a.cassette"],
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("method", ["ping", "tools/call"])
def test_a_client_that_reads_no_more_ends_it_without_a_word(
    tmp_path: Path, env: dict[str, str], method: str
) -> None:
    popen = replaying(env, tmp_path)
    assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
    popen.stdout.close()
    popen.stdin.write(json.dumps({"id": 1, "method": method, "params": {"name": "a"}}).encode() + b"\n")
    popen.stdin.flush()
    assert popen.wait(LIMIT) == 1  # although its stdin is still open
    assert popen.stderr.read() == b""


def test_ctrl_c_ends_it_in_order(tmp_path: Path, env: dict[str, str]) -> None:
    popen = replaying(env, tmp_path)
    assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
    popen.stdin.write(b'{"id": 1, "method": "ping"}\n')
    popen.stdin.flush()
    assert json.loads(popen.stdout.readline())["id"] == 1
    popen.send_signal(signal.SIGINT)
    assert (popen.wait(LIMIT), popen.stderr.read()) == (130, b"\n")


def test_a_client_that_asks_much_and_reads_late_hears_everything(tmp_path: Path, env: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # the end that is given away may be set so
    popen = replaying(env, tmp_path, writing)
    os.close(writing)
    assert popen.stdin is not None and popen.stderr is not None
    popen.stdin.write(b'{"id": 1, "method": "ping"}\n' * 20_000)  # more than pipes hold
    popen.stdin.close()
    with open(reading, "rb") as file:
        select.select([file], [], [], LIMIT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(1)  # it must not end: nobody reads
        assert len(file.read().splitlines()) == 20_000
    assert (popen.wait(LIMIT), popen.stderr.read()) == (0, b"")
