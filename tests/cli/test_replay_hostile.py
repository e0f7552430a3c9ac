"""`hel mcp replay` and what nobody sends or records in good faith: no word of Python's is ever seen."""

from __future__ import annotations

import json
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
