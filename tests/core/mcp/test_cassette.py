"""Cassettes: written as things happen, private, without secrets, and read even when torn."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.mcp.cassette import MAX_DEPTH, BadCassette, read_cassette, write_cassette
from hel_tui.core.store.redact import Redactor

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}

HEADER = '{"format": "hel-cassette", "version": 1}\n'
DEEP = '{"a":' * 900 + "%s" + "}" * 900


def frames(*messages: tuple[str, Any]) -> list[tuple[float, Any, str]]:
    return [
        (1000.0 + n, way, message if isinstance(message, str) else json.dumps(message))
        for n, (way, message) in enumerate(messages)
    ]


def test_what_is_written_is_read_with_times_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    assert write_cassette(path, "fix", frames(("out", HELLO), ("in", ANSWER), ("in", "no json"))) is None
    cassette = read_cassette(path)
    assert (cassette.server, cassette.protocol) == ("fix", "2025-06-18")
    assert [(one.time, one.way, one.message, one.text) for one in cassette.frames] == [
        (0.0, "out", HELLO, ""),
        (1.0, "in", ANSWER, ""),
        (2.0, "in", None, "no json"),
    ]


def test_it_is_private_and_never_written_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    assert write_cassette(path, "fix", []) is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    again = write_cassette(path, "fix", frames(("out", HELLO)))
    assert again is not None and "there is a file of that name" in again.sentence
    assert path.read_bytes() == before


def test_secrets_are_taken_out_and_what_ties_messages_together_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {
            "name": "x",
            "arguments": {"api_key": "abcdefgh1", "text": "it is hunter2-known"},
            "_meta": {"progressToken": "token-of-a-call"},
        },
    }
    text = json.dumps(call)
    noise = "Authorization: Bearer abcdefghijk123"
    write_cassette(path, "fix", [(0, "out", text), (1, "in", noise)], mask=Redactor(["hunter2-known"]))
    written = path.read_text()
    for secret in ("abcdefgh1", "hunter2", "abcdefghijk123"):
        assert secret not in written
    assert "token-of-a-call" in written


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    write_cassette(path, "fix", frames(("out", HELLO), ("in", ANSWER)))
    path.write_bytes(path.read_bytes()[:-20])
    assert [one.message for one in read_cassette(path).frames] == [HELLO]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "no cassette"),
        ("{}\n", "no cassette"),
        ("hello\n", "no cassette"),
        ('{"format": "hel-cassette", "version": 9}\n', "version 9"),
        ('{"format": "hel-cassette", "version": 1}\nx\n{}\n', "line 2 is no JSON"),
        ('{"format": "hel-cassette", "version": 1}\n[]\n', "line 2 is no object"),
        ('{"format": "hel-cassette", "version": 1}\n{"t": 1}\n', "line 2 is no frame"),
        (HEADER + '{"t": 1' + "0" * 400 + ', "dir": "in", "msg": {}}\n', "line 2 is no frame"),
        (HEADER + '{"t": NaN, "dir": "in", "msg": {}}\n', "line 2 is no frame"),
        (HEADER + '{"t": Infinity, "dir": "in", "msg": {}}\n', "line 2 is no frame"),
        (HEADER + '{"t": -1, "dir": "in", "msg": {}}\n', "line 2 is no frame"),
        (HEADER + '{"t": 0, "dir": "in", "msg": ' + DEEP % "1" + "}\n", "line 2 is nested more than 200"),
        ('{"format": "hel-cassette", "version": ' + DEEP % "1" + "}\n", "line 1 is nested more than 200"),
    ],
)
def test_what_is_no_cassette_is_said(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "a.cassette"
    path.write_text(text)
    with pytest.raises(BadCassette, match=part):
        read_cassette(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadCassette, match="cannot be read"):
        read_cassette(tmp_path / "none")


def test_a_message_that_is_nested_too_deeply_is_told_and_what_follows_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette"
    very_deep = DEEP % '"hunter2-known"'
    deep, kept = ("[" * levels + "]" * levels for levels in (MAX_DEPTH + 1, MAX_DEPTH))
    said = frames(("in", very_deep), ("in", deep), ("in", kept), ("in", ANSWER))
    assert write_cassette(path, "fix", said) is None
    *told, third, fourth = read_cassette(path).frames
    for one in told:
        assert one.message is None
        assert "nested too deeply" in one.text
    assert third.message == json.loads(kept)
    assert fourth.message == ANSWER
