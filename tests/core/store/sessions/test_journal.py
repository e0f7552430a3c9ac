"""The file of a session: whole lines or nothing, private, without secrets, written on after every failure."""

import errno
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.redact import MARK, Redactor
from hel_tui.core.store.sessions.journal import FILE, LIVE, Journal
from hel_tui.core.store.sessions.locking import Lock, is_open
from hel_tui.core.store.sessions.mending import cut_off

FULL_DISK = """
import resource, sys, time
from pathlib import Path
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import journal
from hel_tui.core.store.sessions.locking import Lock
folder = Path(sys.argv[1])
said = []
journal.AGAIN_AFTER = 0.0
one = journal.Journal(folder, Redactor(), Lock(folder), lambda since, why: said.append((bool(since), why)))
one.write({"k": "Notice", "text": "first"})
before = (folder / "session.jsonl").read_bytes()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 30, hard))
for n in range(3):
    one.write({"k": "Notice", "text": f"lost {n} " + "x" * 100})
one.piece("answer-1", {"turn": 1}, "half ")
assert (folder / "session.jsonl").read_bytes() == before, "the old file is not intact"
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
one.piece("answer-1", {"turn": 1}, "an answer")
assert one.catch_up()
one.piece("answer-1", {"turn": 1}, ".")
assert [known for known, _ in said] == [True, False], said
"""


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def opened(folder: Path, redactor: Redactor | None = None, said: list[Any] | None = None) -> Journal:
    heard = said if said is not None else []
    return Journal(folder, redactor or Redactor(), Lock(folder), lambda *what: heard.append(what))


def test_lines_are_json_in_private_files_under_any_umask(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s1"
    before = os.umask(0)
    try:
        journal = opened(folder)
        journal.write({"k": "Notice", "text": "한글 \ud800"})
        journal.piece("answer-1", {"turn": 1}, "text")
        journal.close()
    finally:
        os.umask(before)
    first, second = lines(folder)
    assert first["text"] == "한글 \ud800"
    assert (second["k"], second["item"], second["text"]) == ("text", "answer-1", "text")
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nothing_is_there_before_the_first_line(tmp_path: Path) -> None:
    journal = opened(tmp_path / "s1")
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_pieces_of_a_text_become_one_line_when_it_ends(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.piece("answer-1", {"turn": 1}, "one ")
    journal.piece("answer-1", {"turn": 1}, "two")
    assert not (tmp_path / FILE).exists()
    assert [one["text"] for one in cut_off(tmp_path)] == ["one two"]
    journal.end("answer-1")
    assert [one["text"] for one in lines(tmp_path)] == ["one two"]
    assert (tmp_path / LIVE).read_bytes() == b""


def test_two_texts_at_once_are_kept_apart(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for piece in "abc":
        journal.piece("answer-1", {"turn": 1}, piece)
        journal.piece("answer-2", {"turn": 1, "reasoning": True}, piece.upper())
    assert [(one["item"], one["text"]) for one in cut_off(tmp_path)] == [
        ("answer-1", "abc"),
        ("answer-2", "ABC"),
    ]


def test_no_secret_is_in_a_line_and_arguments_stay_json(tmp_path: Path) -> None:
    redactor = Redactor(["12345678", "s3cret-value"])
    journal = opened(tmp_path, redactor)
    arguments = '{"number": 12345678, "text": "s3cret-value"}'
    extra = {"signature": "sk-abcdefghijklmnopqrstu", "note": "s3cret-value"}
    journal.write(
        {"k": "message", "role": "assistant", "text": "", "calls": [["c1", "t", arguments]], "extra": extra}
    )
    journal.piece("answer-1", {"turn": 1}, "it is s3cret-value")
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"12345678" not in data
    assert b"s3cret-value" not in data
    (line,) = lines(tmp_path)
    assert json.loads(line["calls"][0][2])["text"] == MARK
    assert line["extra"] == {"signature": "sk-abcdefghijklmnopqrstu", "note": MARK}


def test_a_credential_that_only_its_name_gives_away_is_taken_out_of_pieces_too(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for piece in ("so ", "pass", "word", "=", "hu", "nt", "er", "2-long", " is it. ", "x" * 900, " end"):
        journal.piece("answer-1", {"turn": 1}, piece)
    assert b"er2" not in (tmp_path / LIVE).read_bytes()
    assert b"hu" not in (tmp_path / LIVE).read_bytes()
    (text,) = cut_off(tmp_path)
    assert text["text"] == f"so password={MARK} is it. {'x' * 900} end"


def test_on_a_full_disk_the_file_stays_intact_and_the_gap_is_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "s1"
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(folder)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    kinds = [(line["k"], line.get("text", "")[:6]) for line in lines(folder)]
    assert kinds == [("Notice", "first"), *(("Notice", f"lost {n}") for n in range(3)), ("gap", "")]
    assert [one["text"] for one in cut_off(folder)] == ["half an answer."]


def test_a_folder_that_cannot_be_written_is_told_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "s1"
    folder.write_text("in the way")
    said: list[Any] = []
    journal = opened(folder, said=said)
    for n in range(5):
        journal.write({"k": "Notice", "text": str(n)})
    assert len(said) == 1
    since, why = said[0]
    assert abs(since - time.time()) < 3600
    assert why
    folder.unlink()
    assert journal.catch_up()
    assert said[1:] == [(0.0, "")]
    assert [line.get("text") for line in lines(folder)] == ["0", "1", "2", "3", "4", None]


def test_what_waits_is_bounded_and_what_is_lost_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.store.sessions.journal.MOST_WAITING", 1000)
    folder = tmp_path / "s1"
    folder.write_text("in the way")
    said: list[Any] = []
    journal = opened(folder, said=said)
    for n in range(20):
        journal.write({"k": "Notice", "text": f"{n} " + "x" * 100})
    folder.unlink()
    assert journal.catch_up()
    kept = lines(folder)
    gap = kept[-1]
    assert gap["k"] == "gap"
    assert gap["lost"] + len(kept) - 1 == 20
    assert gap["lost"] > 0
    assert "lost" in said[-1][1]


def test_one_process_holds_the_lock_until_it_ends(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from hel_tui.core.store.sessions.locking import Lock\n"
            "one = Lock(Path(sys.argv[1])); one.take(); print('held', flush=True); sys.stdin.read()",
            str(tmp_path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert is_open(tmp_path)
    with pytest.raises(BlockingIOError) as caught:
        Lock(tmp_path).take()
    assert caught.value.errno in (errno.EAGAIN, errno.EWOULDBLOCK)
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert holder.stdin is not None
    holder.stdin.close()
    assert not is_open(tmp_path)
    Lock(tmp_path).take()


def test_what_goes_back_to_a_provider_holds_no_secret_and_nothing_signed_is_changed(tmp_path: Path) -> None:
    token, known = "ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", "zq plain words 77"
    journal = Journal(tmp_path, Redactor([known]), Lock(tmp_path))
    blocks = [
        {"type": "thinking", "thinking": f"so {token} it is", "signature": "EqQB"},
        {"type": "thinking", "thinking": "hm", "signature": "ghp_EqQBEqQBEqQBEqQBEqQB"},
        {"type": "thinking", "thinking": known, "signature": "EqQB"},
        {"type": "text", "text": f"it is {token}"},
        {"type": "reasoning", "summary": [{"text": token}], "encrypted_content": "gAAA", "status": None},
    ]
    extra = {"provider": "p", "blocks": blocks}
    journal.write({"k": "message", "role": "assistant", "text": "", "extra": extra})
    journal.close()
    data = (tmp_path / FILE).read_text()
    assert token not in data and known not in data
    assert json.loads(data)["extra"] == {
        "provider": "p",
        "blocks": [
            blocks[1],
            {"type": "text", "text": "it is ‹redacted›"},
            {
                "type": "reasoning",
                "summary": [{"text": "‹redacted›"}],
                "encrypted_content": "gAAA",
                "status": None,
            },
        ],
    }
