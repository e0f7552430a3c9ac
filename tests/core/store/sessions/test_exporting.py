"""A session as a file for people or programs, and a copy of one: nothing is missing without a word."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.exporting import as_json, as_markdown
from hel_tui.core.store.sessions.forking import Fork, fork_session
from hel_tui.core.store.sessions.journal import FILE, LIVE, Journal
from hel_tui.core.store.sessions.locking import Lock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session of one whole turn and one whose answer hel did not live to see the end of."""
    folder = tmp_path / "s"
    journal = Journal(folder, Redactor(), Lock(folder))
    journal.write({"k": "session", "v": 1, "id": "s", "project": "/p"})
    journal.write({"k": "TurnStarted", "turn": 1, "text": "first"})
    journal.piece("answer-1", {"turn": 1}, "one")
    journal.end("answer-1")
    journal.write({"k": "TurnEnded", "turn": 1, "reason": "done"})
    journal.write({"k": "TurnStarted", "turn": 2, "text": "second"})
    for piece in ("half ", "of an answer"):
        journal.piece("answer-2", {"turn": 2}, piece)
    files = {name: (folder / name).read_bytes() for name in (FILE, LIVE)}
    journal.close()
    for name, data in files.items():  # as a kill left them
        (folder / name).write_bytes(data)
    return folder


def test_what_had_arrived_when_hel_was_killed_is_in_an_export(folder: Path) -> None:
    (_, last) = json.loads(as_json(folder))["turns"]
    assert [(step["kind"], step["text"]) for step in last["steps"]] == [
        ("user", "second"),
        ("answer", "half of an answer"),
    ]
    assert as_markdown(folder).count("half of an answer") == 1


def test_it_is_in_a_fork_with_that_turn_and_in_no_other(folder: Path) -> None:
    before = {name: (folder / name).read_bytes() for name in (FILE, LIVE)}
    for turn, whether in ((2, True), (1, False), (None, False)):
        fork = fork_session(folder, turn)
        assert isinstance(fork, Fork)
        assert ("half of an answer" in (fork.folder / FILE).read_text()) is whether
    assert {name: (folder / name).read_bytes() for name in (FILE, LIVE)} == before


def test_lines_that_could_not_be_read_are_said(folder: Path) -> None:
    with (folder / FILE).open("ab") as file:
        file.write(b"\0\0\0\n")
    assert "> Missing here, for it could not be read: 1 line of this session." in as_markdown(folder)
    assert json.loads(as_json(folder))["damaged_lines"] == 1


def test_no_result_ends_the_block_it_stands_in(tmp_path: Path) -> None:
    """However many backticks it has: each of them is looked at once."""
    journal = Journal(tmp_path, Redactor(), Lock(tmp_path))
    journal.write({"k": "session", "v": 1, "id": "s"})
    journal.write({"k": "TurnStarted", "turn": 1, "text": "go"})
    journal.write({"k": "CallStarted", "turn": 1, "call_id": "c", "server": "", "tool": "bash"})
    result, arguments = "````\n# not a heading", json.dumps({"command": "`" * 300_000})
    call = {"call_id": "c", "server": "", "tool": "bash", "arguments": arguments, "result": result}
    journal.write({"k": "call", "of": "c", **call, "state": "ok"})
    journal.close()
    text = as_markdown(tmp_path)
    assert re.search(r"^`````\n````\n# not a heading\n`````$", text, re.M)
