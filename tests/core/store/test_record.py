"""The record of a session."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from hel_tui.core.store.record import Record
from hel_tui.core.store.redact import MARK, Redactor

FULL_DISK = """
import resource, sys
from pathlib import Path
from hel_tui.core.store.record import Record
from hel_tui.core.store.redact import Redactor
said = []
record = Record(Path(sys.argv[1]), Redactor(), said.append)
record.write("note", text="first")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (70, hard))
for n in range(3):
    record.write("note", text="lost " + "x" * 100)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
record.write("note", text="again")
assert len(said) == 1 and "not saved since" in said[0], said
"""


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_records_are_lines_of_json_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "s" / "record.jsonl"
    before = os.umask(0)
    try:
        record = Record(path, Redactor(), now=lambda: 12.5)
        record.write("permission", tool="bash", verdict="ask")
        record.write("server", name="notes", path=Path("/x"))
    finally:
        os.umask(before)
    assert read(path) == [
        {"time": 12.5, "kind": "permission", "tool": "bash", "verdict": "ask"},
        {"time": 12.5, "kind": "server", "name": "notes", "path": "/x"},
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_credential_reaches_the_file_and_it_stays_json(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Record(path, Redactor(['k"nown\\value']))
    record.write("request", body={"text": 'a k"nown\\value b', "api_key": "abcdefgh"}, line="token=abcdefg\\")
    (line,) = read(path)
    assert line["body"] == {"text": f"a {MARK} b", "api_key": MARK} and line["line"] == f"token={MARK}"


def test_many_threads_never_tear_a_line(tmp_path: Path) -> None:
    record = Record(tmp_path / "r.jsonl", Redactor())
    threads = [
        threading.Thread(target=lambda n=n: [record.write("note", n=n, pad="x" * 500) for _ in range(50)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read(tmp_path / "r.jsonl")) == 200


def test_a_disk_that_fills_is_said_once_and_recording_goes_on_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], check=True)
    assert [each["text"] for each in read(path)] == ["first", "3 records were lost.", "again"]


def test_a_torn_last_line_of_an_earlier_run_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"kind": "note", "te')
    Record(path, Redactor()).write("note", text="whole")
    assert json.loads(path.read_text().splitlines()[-1])["text"] == "whole"


def test_a_record_is_bounded_and_says_where_it_ends(tmp_path: Path) -> None:
    record = Record(tmp_path / "r.jsonl", Redactor(), limit=500)
    for _ in range(50):
        record.write("note", text="x" * 60)
    lines = read(tmp_path / "r.jsonl")
    assert 2 < len(lines) < 8 and "full" in lines[-1]["text"]


def test_a_folder_that_cannot_be_made_does_not_disturb_the_caller(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said: list[str] = []
    record = Record(tmp_path / "file" / "r.jsonl", Redactor(), said.append)
    record.write("note", text="a")
    record.write("note", text="b")
    assert len(said) == 1
