"""The index of sessions: made from the files whenever it is not what it should be, and quick to follow them."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hel_tui.core.protocol import SessionHit, SessionRow
from hel_tui.core.store.places import Places
from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions.folders import LAST, delete_session, find_session, mark
from hel_tui.core.store.sessions.forking import fork_session
from hel_tui.core.store.sessions.index import NAME, Index
from hel_tui.core.store.sessions.journal import Journal
from hel_tui.core.store.sessions.locking import Lock


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "state", tmp_path / "cache")


def session(places: Places, name: str, *turns: tuple[str, str], project: str = "/p", first: int = 1) -> Path:
    """Write turns, each what a person said and what was answered."""
    folder = places.session_dir(name)
    journal = Journal(folder, Redactor(), Lock(folder))
    mark(folder, Path(project))
    if first == 1:
        journal.write({"k": "session", "v": 1, "id": name, "project": project})
    for number, (said, answer) in enumerate(turns, first):
        journal.write({"k": "TurnStarted", "turn": number, "text": said})
        journal.write({"k": "text", "turn": number, "item": f"answer-{number}", "text": answer})
        journal.write({"k": "TurnEnded", "turn": number, "reason": "done"})
    journal.close()
    return folder


def search(places: Places, text: str, project: str = "") -> list[SessionHit]:
    with closing(Index(places)) as index:
        return index.search(text, Path(project) if project else None)


def listed(places: Places, project: str = "") -> list[SessionRow]:
    with closing(Index(places)) as index:
        return index.sessions(Path(project) if project else None)


def found(places: Places, text: str) -> list[tuple[str, int]]:
    return [(hit.session_id, hit.turn) for hit in search(places, text)]


def test_turns_are_found_by_any_part_of_a_word_in_any_script(places: Places) -> None:
    session(places, "s1", ("Where is the Port?", "포트는 8437 입니다"), ("天气怎么样", "100% under_score"))
    assert found(places, "port") == [("s1", 1)]
    assert found(places, "포트") == [("s1", 1)]
    assert found(places, "트") == [("s1", 1)]
    assert found(places, "天气") == [("s1", 2)]
    assert found(places, "0% under_s") == [("s1", 2)]
    assert found(places, "0_ under") == []
    assert found(places, "port 843") == [("s1", 1)]
    assert found(places, "port 天气") == []
    assert found(places, "   ") == []


def test_a_hit_has_its_line_and_the_places_in_it(places: Places) -> None:
    session(places, "s1", ("hello", "x " * 200 + "the needle\nlies here" + " y" * 200))
    (hit,) = search(places, "NEEDLE")
    (place,) = hit.marks
    assert hit.excerpt[slice(*place)] == "needle"
    assert "the needle lies here" in hit.excerpt
    assert len(hit.excerpt) < 200
    assert hit.title == "hello"


def test_what_is_written_on_is_found_and_what_is_deleted_is_not(places: Places) -> None:
    one = session(places, "s1", ("first", "alpha"))
    session(places, "s2", ("other", "alpha"))
    assert sorted(found(places, "alpha")) == [("s1", 1), ("s2", 1)]
    session(places, "s1", ("second", "beta alpha"), first=2)
    assert sorted(found(places, "alpha")) == [("s1", 1), ("s1", 2), ("s2", 1)]
    assert [row.turns for row in listed(places) if row.session_id == "s1"] == [2]
    assert delete_session(one) == ""
    assert found(places, "alpha") == [("s2", 1)]
    assert [row.session_id for row in listed(places)] == ["s2"]


def test_a_turn_that_goes_on_is_not_found_twice(places: Places) -> None:
    folder = places.session_dir("s1")
    journal = Journal(folder, Redactor(), Lock(folder))
    journal.write({"k": "session", "v": 1, "id": "s1", "project": "/p"})
    journal.write({"k": "TurnStarted", "turn": 1, "text": "count"})
    assert found(places, "count") == [("s1", 1)]
    journal.write({"k": "text", "turn": 1, "item": "answer-1", "text": "count is five"})
    assert found(places, "count") == [("s1", 1)]
    assert found(places, "five") == [("s1", 1)]
    journal.close()
    assert [row.turns for row in listed(places)] == [1]


def test_sessions_are_listed_by_project_the_newest_first(places: Places) -> None:
    session(places, "a", ("one", ""), project="/p")
    session(places, "b", ("two", ""), project="/q")
    session(places, "c", ("three", ""), project="/p")
    os.utime(places.session_dir("a"))
    assert [row.session_id for row in listed(places, "/p")] == ["c", "a"]
    assert [row.title for row in listed(places)] == ["three", "two", "one"]


def test_the_newest_is_the_one_active_last_in_the_list_and_where_one_goes_on(places: Places) -> None:
    clock = [1_000.0]

    def add(name: str, *records: dict[str, object]) -> None:
        """Write these, a minute after the last ones."""
        clock[0] += 60
        folder = places.session_dir(name)
        journal = Journal(folder, Redactor(), Lock(folder), now=lambda: clock[0])
        mark(folder, Path("/p"))
        for record in records:
            journal.write(record)
        journal.close()
        os.utime(folder / "session.jsonl", (clock[0], clock[0]))

    def order() -> list[str]:
        """As it is listed; an index that is made anew and `find_session` have to agree."""
        rows = [row.session_id for row in listed(places)]
        (places.cache / NAME).unlink()
        assert [row.session_id for row in listed(places)] == rows
        assert find_session(places, Path("/p"), LAST) == places.session_dir(rows[0])
        return rows

    for name in ("a", "b", "c"):
        head = {"k": "session", "v": 1, "id": name, "project": "/p"}
        add(name, head, {"k": "TurnStarted", "turn": 1, "text": name}, {"k": "TurnEnded", "turn": 1})
    assert order() == ["c", "b", "a"]
    add("a", {"k": "title", "title": "renamed"})
    add("b", {"k": "Notice", "severity": "info", "text": "x" * 300_000}, {"k": "model", "label": "m"})
    assert order() == ["c", "b", "a"]
    add("b", {"k": "CallChanged", "call_id": "1", "state": "ok"})
    assert order() == ["b", "c", "a"]
    fork = fork_session(places.session_dir("a"), 1)
    assert not isinstance(fork, str)
    assert order() == [fork.folder.name, "b", "c", "a"]


def test_a_fork_knows_its_parent_and_has_only_the_turns_up_to_its_own(places: Places) -> None:
    parent = session(places, "s1", ("one", "alpha"), ("two", "beta"))
    fork = fork_session(parent, 1)
    assert not isinstance(fork, str)
    assert fork.turn == 1
    (row,) = [row for row in listed(places) if row.session_id == fork.folder.name]
    assert (row.parent, row.turns) == ("s1", 1)
    assert found(places, "beta") == [("s1", 2)]
    assert fork_session(parent, 3) == "s1 has no turn 3: its last is 2."


@pytest.mark.parametrize("damage", ["missing", "noise", "truncated", "other version", "no tables"])
def test_a_damaged_index_is_made_anew(places: Places, damage: str) -> None:
    session(places, "s1", *[(f"turn {n}", "alpha " * 50) for n in range(50)])
    assert len(found(places, "alpha")) == 50
    path = places.cache / NAME
    match damage:
        case "missing":
            path.unlink()
        case "noise":
            path.write_bytes(os.urandom(5000))
        case "truncated":
            os.truncate(path, path.stat().st_size // 2)
        case "other version":
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("DELETE FROM session")
                connection.execute("PRAGMA user_version = 99")
                connection.commit()
        case _:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("DROP TABLE turn")
                connection.commit()
    assert len(found(places, "alpha")) == 50
    assert len(listed(places)) == 1


def test_the_index_is_private_and_where_none_can_be_kept_the_search_works_all_the_same(
    places: Places,
) -> None:
    session(places, "s1", ("one", "alpha"))
    before = os.umask(0)
    try:
        assert found(places, "alpha") == [("s1", 1)]
    finally:
        os.umask(before)
    assert stat.S_IMODE((places.cache / NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(places.cache.stat().st_mode) == 0o700
    nowhere = Places(places.config, places.state, places.state / "sessions" / "s1" / "session.jsonl")
    with closing(Index(nowhere)) as index:
        assert [hit.turn for hit in index.search("alpha")] == [1]
        assert "not kept" in index.problem


def test_several_processes_bring_it_up_to_date_at_once(places: Places, tmp_path: Path) -> None:
    for n in range(120):
        session(places, f"s{n:03}", ("one", f"alpha {n}"))
    program = (
        "import sys; from pathlib import Path; from hel_tui.core.store.places import Places\n"
        "from hel_tui.core.store.sessions.index import Index\n"
        "root = Path(sys.argv[1]); index = Index(Places(root / 'config', root / 'state', root / 'cache'))\n"
        "print(len(index.search('alpha', None, 1000)), index.problem)"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [run.communicate() for run in runs]
    assert [out.strip() for out, _ in outputs] == ["120"] * 4, outputs
    assert len(found(places, "alpha")) == 100


def test_of_each_session_the_newest_turns_are_found_and_all_are_counted(places: Places) -> None:
    session(places, "s1", *[("the port", str(n)) for n in range(5)])
    session(places, "s2", ("the port", "x"))
    with closing(Index(places)) as index:
        hits = index.search("port", most=10, each=2)
        assert [(hit.session_id, hit.turn, hit.turns) for hit in hits if hit.session_id == "s1"] == [
            ("s1", 5, 5),
            ("s1", 4, 5),
        ]
        assert [(hit.turn, hit.turns) for hit in hits if hit.session_id == "s2"] == [(1, 1)]
        assert len(index.search("port", most=2, each=2)) == 2


def test_what_a_session_cost_and_what_of_it_is_damaged_is_known(places: Places) -> None:
    folder = session(places, "s1", ("first", "one"))
    (row,) = listed(places)
    assert (row.cost, row.damaged) == (None, 0)
    with (folder / "session.jsonl").open("ab") as file:
        file.write(b'{"k":"UsageChanged","t":2,"cost":0.25}\nnot a line\n\n{"k":"later","kind":1}\n')
        file.write(b'{"k":"TurnStarted","t":3,"turn":2,"text":"second"}\n{"k":"TurnStarted","turn":\n')
    for _ in range(2):  # read on, then known
        (row,) = listed(places)
        assert (row.cost, row.damaged, row.turns) == (0.25, 2, 2)
    with (folder / "session.jsonl").open("ab") as file:
        file.write(b'{"k":"UsageChanged","t":4,"cost":0.5}\n')
    (row,) = listed(places)
    assert (row.cost, row.damaged, row.turns) == (0.5, 2, 2)


def test_where_patience_ends_the_newest_sessions_are_told_and_reading_goes_on(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.store.sessions.index.BATCH", 2)
    for n in range(5):
        folder = session(places, f"s{n}", ("the port", "x"))
        os.utime(folder / "session.jsonl", (1_000 + n, 1_000 + n))
    seen = []
    for _ in range(4):
        with closing(Index(places, patience=0.0)) as index:
            rows = sorted(row.session_id for row in index.sessions())
            seen.append((rows, index.behind))
    assert seen == [
        (["s3", "s4"], 3),
        (["s1", "s2", "s3", "s4"], 1),
        (["s0", "s1", "s2", "s3", "s4"], 0),
        (["s0", "s1", "s2", "s3", "s4"], 0),
    ]


def test_an_index_in_memory_is_read_whole(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hel_tui.core.store.sessions.index.BATCH", 1)
    for n in range(3):
        session(places, f"s{n}", ("the port", "x"))
    places.cache.parent.mkdir(exist_ok=True)
    places.cache.write_text("in the way")
    with closing(Index(places, patience=0.0)) as index:
        assert len(index.sessions()) == 3
        assert index.problem
        assert index.behind == 0


def test_half_characters_and_odd_numbers_in_one_session_hide_no_session(places: Places) -> None:
    session(places, "s1", ("whole", "plain"))
    folder = session(
        places, "s2", ("half \ud83d said", "an answer with half \ud83d of one"), project="/p\udcff"
    )
    with (folder / "session.jsonl").open("ab") as file:
        for odd in ("9" * 30, "9" * 5000, "1e300", "1e999", "-Infinity", "NaN"):
            file.write(b'{"k":"TurnStarted","t":%b,"turn":2,"text":"odd"}\n' % odd.encode())
            file.write(b'{"k":"TurnStarted","t":1,"turn":%b,"text":"odd"}\n' % odd.encode())
        file.write(b'{"k":"session","t":"yesterday"}\n')
    rows = listed(places)
    assert {row.session_id: row.damaged for row in rows} == {"s1": 0, "s2": 12}
    assert [row.session_id for row in listed(places, "/p\udcff")] == ["s2"]
    assert found(places, "an answer") == [("s2", 1)] and found(places, "odd \udcff") == []


def test_a_folder_whose_name_would_act_on_a_terminal_is_no_session(places: Places) -> None:
    session(places, "s1", ("whole", "plain"))
    session(places, "s2\n\x1b[31m", ("whole", "plain"))
    assert [row.session_id for row in listed(places)] == ["s1"]
