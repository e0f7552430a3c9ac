"""A damaged file of a session loses only what is damaged, says so, and keeps the originals."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from hel_tui.core.store.redact import Redactor
from hel_tui.core.store.sessions import mending
from hel_tui.core.store.sessions.journal import FILE, LIVE, MAX_LINE, Journal
from hel_tui.core.store.sessions.locking import Lock
from hel_tui.core.store.sessions.reading import read_session
from hel_tui.core.vocabulary import UserMessage


def write(folder: Path, *texts: str) -> None:
    journal = Journal(folder, Redactor(), Lock(folder))
    for text in texts:
        journal.write({"k": "message", "role": "user", "text": text})
    journal.close()


def texts(folder: Path) -> list[str]:
    return [message.text for message in read_session(folder).messages]


def test_a_file_cut_at_any_byte_of_its_last_line_loses_no_other_line(tmp_path: Path) -> None:
    """And neither does the next append, nor a second crash."""
    write(tmp_path, "one", "two", "drei 세 \N{SNOWMAN}")
    whole = (tmp_path / FILE).read_bytes()
    begin = whole[:-1].rindex(b"\n") + 1
    for cut in range(begin, len(whole) + 1):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / FILE).write_bytes(whole[:cut])
        torn = mending.mend_end(folder)
        write(folder, "four")
        kept = ["drei 세 \N{SNOWMAN}"] if cut >= len(whole) - 1 else []
        assert texts(folder) == ["one", "two", *kept, "four"], cut
        assert torn == (cut - begin if cut < len(whole) - 1 else 0)
        if torn:
            assert (folder / mending.DAMAGED).read_bytes() == whole[begin:cut] + b"\n"
        again = (folder / FILE).read_bytes()
        (folder / FILE).write_bytes(again[:-3])
        assert mending.mend_end(folder) > 0
        assert texts(folder) == ["one", "two", *kept]


BAD = (
    b"\0" * 500,
    b'{"a":',
    b'{"k":"message","role":"user","text":"\xff\xfe"}',
    b'{"k":"message","role":"user","te',
    b'{"k":"message","role":"nobody","text":"x"}',
    b'{"k":"message","role":"user","text":7}',
    b'{"k":"compact","kept":"many"}',
)


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_in_the_middle_hides_nothing_behind_it(tmp_path: Path, bad: bytes) -> None:
    write(tmp_path, "one")
    with (tmp_path / FILE).open("ab") as file:
        file.write(bad + b"\n")
    write(tmp_path, "two")
    kept = read_session(tmp_path)
    assert kept.messages == [UserMessage("one"), UserMessage("two")]
    assert len(kept.damaged) == 1
    mending.keep_damaged(tmp_path, kept.damaged)
    mending.keep_damaged(tmp_path, kept.damaged)
    assert (tmp_path / mending.DAMAGED).read_bytes() == bad + b"\n"


def test_a_bad_line_that_is_the_end_of_another_is_kept_too(tmp_path: Path) -> None:
    mending.keep_aside(tmp_path, [b"{broken and more\n", b"and more\n", b"\n"])
    mending.keep_aside(tmp_path, [b"and more", b"more"])
    assert (tmp_path / mending.DAMAGED).read_bytes() == b"{broken and more\nand more\n\nmore\n"


def test_a_bad_line_whose_copy_was_cut_off_is_copied_again_and_whole(tmp_path: Path) -> None:
    (tmp_path / mending.DAMAGED).write_bytes(b"{first\n{seco")
    mending.keep_aside(tmp_path, [b"{first\n", b"{second\n"])
    assert (tmp_path / mending.DAMAGED).read_bytes() == b"{first\n{seco\n{second\n"


def test_each_of_many_bad_lines_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And they are not held together in memory."""
    looked = 0

    def counted(line: bytes) -> bytes:
        nonlocal looked
        looked += len(line)
        return digest(line)

    digest = mending._digest
    monkeypatch.setattr(mending, "_digest", counted)
    count, length = 4_000, 1_000

    def bad() -> Iterator[bytes]:
        yield from (b"%0999d\n" % number for number in range(count))

    for round_ in (1, 2, 3):  # the first writes them, the others find them all there
        looked = 0
        tracemalloc.start()
        mending.keep_aside(tmp_path, bad())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert looked == count * length * min(round_, 2)
        assert most < count * length / 4
        assert (tmp_path / mending.DAMAGED).read_bytes() == b"".join(bad())


def test_a_line_of_twenty_megabytes_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "one")
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"k":"message","role":"user","text":"' + b"x" * (MAX_LINE + (4 << 20)) + b'"}\n')
    write(tmp_path, "two")
    kept = read_session(tmp_path)
    assert [message.text for message in kept.messages] == ["one", "two"]
    assert len(kept.damaged) == 1


@pytest.mark.parametrize("character", ["가", "\0"])
def test_no_text_makes_a_line_that_cannot_be_read_again(tmp_path: Path, character: str) -> None:
    each = len(json.dumps(character, ensure_ascii=False).encode()) - len('""')
    count = MAX_LINE // each + 1_000_000
    write(tmp_path, "one", f"begins{character * count}ends")
    kept = read_session(tmp_path)
    assert kept.damaged == []
    one, long = (message.text for message in kept.messages)
    assert one == "one" and long.startswith("begins") and long.endswith("ends")
    assert "characters are not kept" in long


def test_lines_of_kinds_that_are_not_known_are_no_damage(tmp_path: Path) -> None:
    write(tmp_path, "one")
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"k":"FromTheFuture","x":1}\n{"other": true}\n\n')
    write(tmp_path, "two")
    kept = read_session(tmp_path)
    assert [message.text for message in kept.messages] == ["one", "two"]
    assert kept.damaged == []


def test_a_text_that_was_cut_off_is_found_up_to_its_last_piece(tmp_path: Path) -> None:
    journal = Journal(tmp_path, Redactor(), Lock(tmp_path))
    for piece in ("one ", "two ", "three"):
        journal.piece("answer-3", {"turn": 2}, piece)
    live = (tmp_path / LIVE).read_bytes()
    for cut in range(len(live) + 1):
        (tmp_path / LIVE).write_bytes(live[:cut])
        found = "".join(str(one["text"]) for one in mending.cut_off(tmp_path))
        assert "one two three".startswith(found)
        whole_pieces = max(0, live[:cut].count(b"\n") - 1)
        assert found.count(" ") >= min(whole_pieces, 2)
    (tmp_path / LIVE).write_bytes(live)
    (text,) = mending.cut_off(tmp_path)
    assert text == {"k": "text", "item": "answer-3", "turn": 2, "text": "one two three"}


def test_a_result_that_was_cut_is_found_although_lines_before_it_are_missing(tmp_path: Path) -> None:
    """And no other message becomes its text."""
    journal = Journal(tmp_path, Redactor(), Lock(tmp_path))
    journal.write({"k": "message", "role": "user", "text": "lost"})
    journal.write({"k": "message", "role": "assistant", "text": "", "calls": [["c", "bash", "{}"]]})
    journal.write({"k": "message", "role": "tool", "of": "c", "name": "bash", "text": "x" * 1000})
    journal.write({"k": "message", "role": "user", "text": "must stay"})
    journal.write({"k": "shorten", "at": 2, "text": "x" * 300 + "[Cut here.]"})
    journal.write({"k": "shorten", "at": 3, "text": "y" * 300 + "[Cut here.]"})
    journal.close()
    first, *rest = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(b"".join([first[:20] + b"\n", *rest]))
    assert texts(tmp_path) == ["", "x" * 300 + "[Cut here.]", "must stay"]


def test_what_is_withdrawn_is_never_an_answer(tmp_path: Path) -> None:
    """The message that was withdrawn may be the line that is damaged."""
    journal = Journal(tmp_path, Redactor(), Lock(tmp_path))
    journal.write({"k": "message", "role": "assistant", "text": "must stay"})
    journal.write({"k": "message", "role": "user", "te": "damaged"} | {"text": 7})
    journal.write({"k": "withdraw"})
    journal.close()
    assert texts(tmp_path) == ["must stay"]


def test_several_messages_are_withdrawn_only_where_none_is_missing(tmp_path: Path) -> None:
    for damage in (b"", b"\0\0\n"):
        folder = tmp_path / str(len(damage))
        write(folder, "one")
        with (folder / FILE).open("ab") as file:
            file.write(damage)
        write(folder, "two", "three")
        journal = Journal(folder, Redactor(), Lock(folder))
        journal.write({"k": "withdraw", "count": 2})
        journal.close()
        assert texts(folder) == (["one", "two"] if damage else ["one"])
