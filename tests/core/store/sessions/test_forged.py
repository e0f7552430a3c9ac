"""Session files that somebody else wrote: records may name any file and any value; they get only what is the
session's own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.sessions.exporting import as_json, as_markdown
from hel_tui.core.store.sessions.folders import project_of
from hel_tui.core.store.sessions.journal import FILE
from hel_tui.core.store.sessions.jsonl import parsed
from hel_tui.core.store.sessions.reading import read_call, read_session, with_bytes
from hel_tui.core.vocabulary import UserMessage

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (3).to_bytes(4) + (5).to_bytes(4) + b"\x08\x06\0\0\0"
OUTSIDE = "what no session may tell"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session's folder with an image of its own, and around it what does not belong to it."""
    folder = tmp_path / "sessions" / "s1"
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "own.png").write_bytes(PNG)
    (folder / "files" / "text.png").write_text("no image")
    (tmp_path / "outside.png").write_bytes(PNG + OUTSIDE.encode())
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    os.mkfifo(folder / "pipe.png")
    return folder


def write(folder: Path, *records: dict[str, Any]) -> None:
    (folder / FILE).write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records))


ELSEWHERE = ("../../outside.png", "{tmp}/outside.png", "link.png", "pipe.png", "/dev/zero", "files", "a\0b")


def test_only_images_of_the_session_s_own_come_back_as_what_they_are(folder: Path, tmp_path: Path) -> None:
    names = [name.format(tmp=tmp_path) for name in (*ELSEWHERE, "files/text.png")]
    images = [["image/png", name, 1, 1] for name in names]
    own = ["text/html", "files/own.png", -1, 10**9]
    write(folder, {"k": "message", "role": "user", "text": "look", "images": [*images, own]})
    message = with_bytes(read_session(folder).messages[0], folder)
    assert isinstance(message, UserMessage)
    assert [(one.mime, one.data, one.width, one.height) for one in message.images] == [
        ("image/png", PNG, 3, 5)
    ]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_result_is_read_from_no_file_but_the_session_s_own(folder: Path, tmp_path: Path, name: str) -> None:
    call = {"k": "call", "of": "c1", "call_id": "c1", "server": "", "tool": "bash", "arguments": "{}"}
    started = {"k": "CallStarted", "turn": 1, "call_id": "c1", "server": "", "tool": "bash"}
    write(
        folder,
        {"k": "TurnStarted", "turn": 1, "text": "go"},
        {**call, "result": "what it said", "state": "ok", "whole": name.format(tmp=tmp_path)},
        started,
    )
    detail = read_call(folder, read_session(folder).calls["c1"])
    assert detail is not None and detail.result == "what it said"
    assert OUTSIDE not in as_json(folder) + as_markdown(folder)


@pytest.mark.parametrize("odd", [None, [], {}, 5, [[]], True, "x", 1e15])
def test_records_with_values_of_any_kind_are_read_and_exported(folder: Path, odd: object) -> None:
    kinds = ("session", "title", "tool", "model", "call", "text", "message", "amend", "shorten", "compact")
    events = ("TurnStarted", "Joined", "CallStarted", "CallChanged", "TurnEnded", "Compacted", "UsageChanged")
    names = ("t", "turn", "item", "text", "call_id", "server", "tool", "calls", "images", "message", "role")
    write(
        folder,
        {"k": "TurnStarted", "turn": 1, "text": "go"},
        *({"k": kind, **dict.fromkeys(names, odd)} for kind in kinds + events),
        {"k": "CallStarted", "turn": 1, "call_id": "c1", "server": odd, "tool": odd},
        {"k": "TurnEnded", "turn": 1, "reason": "done", "message": odd},
    )
    assert read_session(folder).turns[0][0] == 1
    assert "go" in as_markdown(folder) and json.loads(as_json(folder))["turns"]


@pytest.mark.parametrize("number", ["1e400", "-1e300", "NaN", "Infinity", "9" * 17, "-" + "9" * 4000])
def test_a_line_with_a_number_that_is_none_is_damaged(number: str) -> None:
    assert parsed(b'{"k":"title","t":%b}' % number.encode()) is None
    assert parsed(b'{"k":"title","t":-9007199254740992}') == {"k": "title", "t": -(2**53)}


def test_whose_a_session_is_is_not_asked_of_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "project")
    write(folder, {"k": "session", "project": "/p"})
    assert project_of(folder) == "/p"
