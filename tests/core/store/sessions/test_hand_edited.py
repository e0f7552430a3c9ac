"""A session's file that an editor or a script has written anew says the same to everyone who reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import glancing, jsonl
from hel_tui.core.store.sessions.activity import last_activity
from hel_tui.core.store.sessions.exporting import as_json, as_markdown
from hel_tui.core.store.sessions.folders import project_of
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.index import Index
from hel_tui.core.store.sessions.journal import FILE, Journal
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.naming import told
from hel_tui.core.store.sessions.reading import events_of, read_call, read_session, records_between

CALL = {
    "of": "p1",
    "call_id": "c1",
    "server": "",
    "tool": "bash",
    "arguments": '{"call_id":"x"}',
    "state": "ok",
}
TIMES = iter(range(1_700_000_000, 1_800_000_000))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "state", tmp_path / "cache")


@pytest.fixture
def folder(places: Places) -> Path:
    """A session with a record of every kind."""
    folder = places.session_dir("s1")
    journal = Journal(folder, Redactor(), Lock(folder), now=lambda: float(next(TIMES)))
    for record in (
        {"k": "session", "v": 1, "id": "s1", "project": "/p"},
        {"k": "model", "label": "a/b"},
        {"k": "TurnStarted", "turn": 1, "text": "Wo ist 포트 €?"},
        {"k": "message", "role": "user", "text": "Wo ist 포트 €?"},
        {"k": "StepStarted", "turn": 1, "step": 1},
        {"k": "text", "turn": 1, "item": "a1", "text": "I look."},
        {"k": "message", "role": "assistant", "text": "I look.", "calls": [["p1", "bash", "{}"]]},
        {"k": "CallStarted", "turn": 1, "call_id": "c1", "server": "", "tool": "bash", "summary": "ls"},
        {"k": "CallChanged", "call_id": "c1", "state": "ok", "preview": "8437"},
        {"k": "call", **CALL, "result": f"saved as {folder}/files/x.txt."},
        {
            "k": "message",
            "role": "tool",
            "of": "p1",
            "name": "bash",
            "text": f"saved as {folder}/files/x.txt.",
        },
        {"k": "queued", "n": 1, "what": "message", "text": "and this"},
        {"k": "queued", "n": 2, "what": "message", "text": "later"},
        {"k": "unqueued", "n": 1, "for": "Joined"},
        {"k": "Joined", "turn": 1, "text": "and this"},
        {"k": "UsageChanged", "context_tokens": 1, "messages_tokens": 1, "tools_tokens": 1, "window": 9}
        | {"input_tokens": 7, "output_tokens": 3, "cost": 0.5, "requests": 1},
        {"k": "TodosChanged", "items": [["open", "look"]]},
        {"k": "TurnEnded", "turn": 1, "reason": "done"},
        {"k": "title", "title": "Ports"},
        {"k": "Notice", "severity": "info", "text": "noted"},
        {"k": "TurnStarted", "turn": 2, "text": "again"},
        {"k": "text", "turn": 2, "item": "a2", "text": "8437"},
        {"k": "CallStarted", "turn": 2, "call_id": "hand-1", "server": "", "tool": "bash", "summary": "ls"},
        {"k": "untold", "role": "user", "text": "I called a tool myself"},
        {"k": "TurnEnded", "turn": 2, "reason": "done"},
    ):
        journal.write(record)
    journal.close()
    return folder


def spaced(line: str) -> str:
    return json.dumps(json.loads(line), ensure_ascii=False)


def in_order(line: str) -> str:
    return json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def kind_last(line: str) -> str:
    record = json.loads(line)
    record["k"] = record.pop("k")
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def escaped(line: str) -> str:
    """Letters as `\\u0041`, slashes as `\\/`."""
    text = json.dumps(json.loads(line), separators=(",", ":")).replace("/", "\\/")
    return text.replace('"TurnStarted"', '"Turn\\u0053tarted"').replace('"call"', '"c\\u0061ll"')


def half(line: str) -> str:
    """As hel spells it up to the kind, and otherwise behind it."""
    return spaced(line).replace('{"k": ', '{"k":', 1)


def between_ends(line: str) -> str:
    return f"  \t{line}\t \r\n\r"


WAYS: list[Callable[[str], str]] = [spaced, in_order, kind_last, escaped, half, between_ends]


def all_that_is_read(places: Places, folder: Path) -> dict[str, Any]:
    """What every reader makes of a session; places in the file as what is found there."""
    kept = read_session(folder)
    with closing(Index(places)) as index:
        rows = [replace(row, size=0) for row in index.sessions() if row.session_id == folder.name]
        words = ("포트", "8437", "look", "this", "noted", "ls")
        hits = {word: [hit for hit in index.search(word) if hit.session_id == folder.name] for word in words}
    began = [next(records_between(folder, at, None)) for _, at in kept.turns]
    return {
        "kept": replace(kept, turns=[], calls={}, size=0),
        "turns": [record["turn"] for record in began],
        "calls": {name: read_call(folder, at) for name, at in kept.calls.items()},
        "events": [event for one in records_between(folder, 0, None) for event in events_of(one)],
        "rows": rows,
        "hits": hits,
        "json": as_json(folder),
        "markdown": as_markdown(folder),
        "glance": (glancing.newest(folder), glancing.turns(folder), glancing.turn(folder, 1)),
        "told": told(folder),
        "activity": last_activity(folder),
        "project": project_of(folder),
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", ["every line", "every other line"])
def test_all_readers_agree_on_lines_that_are_spelt_otherwise(
    places: Places, folder: Path, way: Callable[[str], str], which: str
) -> None:
    before = all_that_is_read(places, folder)
    assert before["kept"].waiting and before["calls"]["c1"] is not None and all(before["hits"].values())
    lines = (folder / FILE).read_text().splitlines()
    steps = 1 if which == "every line" else 2
    lines = [line if n % steps else way(line) for n, line in enumerate(lines)]
    (folder / FILE).write_text("".join(f"{line}\n" for line in lines), newline="")
    after = all_that_is_read(places, folder)
    for what, value in before.items():
        assert after[what] == value, what


@pytest.mark.parametrize("way", WAYS)
def test_a_fork_of_it_is_the_same_and_names_its_own_files(
    places: Places, folder: Path, way: Callable[[str], str]
) -> None:
    lines = (folder / FILE).read_text().splitlines()
    (folder / FILE).write_text("".join(f"{way(line)}\n" for line in lines), newline="")
    fork = fork_session(folder)
    assert not isinstance(fork, str) and fork.damaged == 0
    text = (fork.folder / FILE).read_text()
    assert f"{fork.folder}/files/x.txt" in text and f"{folder}/" not in text
    before, after = (as_markdown(one).partition("## 1.")[2] for one in (folder, fork.folder))
    assert after == before.replace(str(folder), str(fork.folder))


def test_a_mark_before_the_first_line_and_empty_lines_are_no_damage(places: Places, folder: Path) -> None:
    before = all_that_is_read(places, folder)
    data = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\n\n"))
    after = all_that_is_read(places, folder)
    for what, value in before.items():
        assert after[what] == value, what


def test_a_line_as_hel_writes_it_is_told_without_being_parsed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What makes a long session quick to open."""
    lines = (folder / FILE).read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["k"] for line in lines]
    monkeypatch.setattr(jsonl, "parsed", None)
    assert [jsonl.kind_of(line) for line in lines] == kinds
    assert [jsonl.call_of(line) for line in lines if b'"k":"call"' in line] == ["c1"]
