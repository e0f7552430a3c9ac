"""A look into a kept session: its end, its turns, one of them; nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hel_tui.core.protocol import Said
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import glancing
from hel_tui.core.store.sessions.journal import FILE, Journal
from hel_tui.core.store.sessions.locking import Lock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session of three turns: a call and an answer in two pieces each."""
    journal = Journal(tmp_path / "s", Redactor(), Lock(tmp_path / "s"))
    journal.write({"k": "session", "v": 1, "id": "s", "project": "/p"})
    for n in (1, 2, 3):
        journal.write({"k": "TurnStarted", "turn": n, "text": f"question\n{n}"})
        journal.write({"k": "text", "turn": n, "item": f"r{n}", "text": "hm", "reasoning": True})
        journal.write({"k": "CallStarted", "turn": n, "call_id": f"c{n}", "server": "fix", "tool": "echo"})
        journal.write({"k": "text", "turn": n, "item": f"a{n}", "text": "one "})
        journal.write({"k": "text", "turn": n, "item": f"a{n}", "text": f"answer {n}"})
        journal.write({"k": "TurnEnded", "turn": n, "reason": "done"})
    journal.close()
    return tmp_path / "s"


def turn(n: int) -> list[Said]:
    return [
        Said(n, "person", f"question {n}"),
        Said(n, "call", "fix.echo"),
        Said(n, "model", f"one answer {n}"),
    ]


def test_the_end_is_told_turn_by_turn(folder: Path) -> None:
    before = (folder / FILE).read_bytes()
    assert list(glancing.newest(folder)) == [*turn(1), *turn(2), *turn(3)]
    assert (folder / FILE).read_bytes() == before


def test_of_a_long_file_only_the_end_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (folder / FILE).stat().st_size
    last = (folder / FILE).read_bytes().rindex(b'{"k":"TurnStarted"')
    monkeypatch.setattr(glancing, "TAIL", size - last + 10)
    assert list(glancing.newest(folder)) == turn(3)
    monkeypatch.setattr(glancing, "TAIL", 10)
    assert glancing.newest(folder) == ()


def test_turns_are_named_by_what_was_said(folder: Path) -> None:
    assert glancing.turns(folder) == ((1, "question 1"), (2, "question 2"), (3, "question 3"))


def test_one_turn_is_told_from_its_beginning(folder: Path) -> None:
    assert list(glancing.turn(folder, 2)) == turn(2)
    assert list(glancing.turn(folder, 3)) == turn(3)
    assert glancing.turn(folder, 9) == ()


def test_damaged_lines_are_left_out(folder: Path) -> None:
    with (folder / FILE).open("ab") as file:
        file.write(b'{"k":"TurnStarted","turn":4,\n\xff\xfe\n[]\n{"k":"text","turn":"x","text":7}\n{"k":"tex')
    assert list(glancing.newest(folder))[-3:] == turn(3)
    assert len(glancing.turns(folder)) == 3


def test_long_texts_are_cut(folder: Path) -> None:
    journal = Journal(folder, Redactor(), Lock(folder))
    journal.write({"k": "TurnStarted", "turn": 4, "text": "word " * 10_000})
    journal.write({"k": "text", "turn": 4, "item": "a4", "text": "x" * 100_000})
    journal.close()
    said = glancing.turn(folder, 4)
    assert [len(one.text) <= glancing.MOST_TEXT + 1 for one in said] == [True, True]
    assert len(glancing.turns(folder)[-1][1]) <= glancing.MOST_HEAD + 1


def test_a_session_that_is_gone_is_an_error_of_the_system(tmp_path: Path) -> None:
    for look in (glancing.newest, glancing.turns):
        with pytest.raises(OSError, match="No such file"):
            look(tmp_path / "gone")
