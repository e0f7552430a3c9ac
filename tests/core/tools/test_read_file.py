"""read_file: ranges, continuation, what is no text."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from hel_tui.core.tools.paths import Workspace
from hel_tui.core.tools.read import MAX_BYTES, MAX_CURSORS, ReadFile
from hel_tui.core.vocabulary import Invocation, Json, Outcome

CURSOR = re.compile(r'\n\[[^\n]*Continue with cursor "([0-9a-f-]{36})"\.\]$')


async def read(tool: ReadFile, **arguments: object) -> Outcome:
    return await tool.run(arguments, Invocation("1"))


async def read_on(tool: ReadFile, first: Json) -> list[str]:
    """The texts of a file read to its end, without their notices."""
    pieces = []
    outcome = await read(tool, **first)
    while True:
        assert not outcome.failed, outcome.text
        assert len(outcome.text.encode()) <= MAX_BYTES
        found = CURSOR.search(outcome.text)
        if found is None:
            return [*pieces, outcome.text]
        pieces.append(outcome.text[: found.start() + 1])
        outcome = await read(tool, cursor=found[1])


@pytest.fixture
def tool(tmp_path: Path) -> ReadFile:
    return ReadFile(Workspace(tmp_path))


async def test_a_small_file_is_read_exactly(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\r\nb\ttab\n\nend".encode())
    assert await read(tool, path="a") == Outcome("é\r\nb\ttab\n\nend")


@pytest.mark.parametrize("size", [MAX_BYTES - 1, MAX_BYTES])
async def test_a_file_that_just_fits_needs_no_continuation(tool: ReadFile, tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_text("x" * size)
    assert await read(tool, path="a") == Outcome("x" * size)


async def test_a_long_file_is_read_to_its_end_by_cursor_in_whole_lines(
    tool: ReadFile, tmp_path: Path
) -> None:
    lines = [f"{number} " + "é" * (number % 90) + "\n" for number in range(2_000)]
    (tmp_path / "a").write_text("".join(lines))
    pieces = await read_on(tool, {"path": "a"})
    assert "".join(pieces) == "".join(lines)
    assert len(pieces) > 5
    assert all(piece.endswith("\n") for piece in pieces)


async def test_a_line_longer_than_a_piece_is_read_in_parts_of_whole_characters(
    tool: ReadFile, tmp_path: Path
) -> None:
    text = "한글😀é" * 4_000
    (tmp_path / "a").write_text("first\n" + text)
    pieces = await read_on(tool, {"path": "a", "start_line": 2})
    assert "".join(piece.removesuffix("\n") for piece in pieces) == text


async def test_lines_and_counts_select_a_range(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    outcome = await read(tool, path="a", start_line=4, max_lines=2)
    assert outcome.text.startswith("line 4\nline 5\n[Not the end: lines 4 to 5; ")
    found = CURSOR.search(outcome.text)
    assert found is not None
    following = await read(tool, cursor=found[1])
    assert following.text.startswith("line 6\nline 7\n[Not the end: lines 6 to 7; ")
    assert (await read(tool, path="a", start_line=10, max_lines=5)).text == "line 10\n"


async def test_a_start_behind_the_end_names_the_number_of_lines(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "ended").write_text("1\n2\n")
    (tmp_path / "open").write_text("1\n2")
    for name in ("ended", "open"):
        outcome = await read(tool, path=name, start_line=3)
        assert outcome.failed
        assert "has 2 lines; line 3 is past its end" in outcome.text


async def test_a_start_far_into_a_large_file_is_found(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"{number}\n" for number in range(1, 200_001)))
    outcome = await read(tool, path="a", start_line=150_000, max_lines=1)
    assert outcome.text.startswith("150000\n[")


async def test_an_empty_file_is_told(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert await read(tool, path="a") == Outcome("(empty file)")


async def test_a_cursor_is_void_once_the_file_has_changed(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 20_000)
    found = CURSOR.search((await read(tool, path="a")).text)
    assert found is not None
    (tmp_path / "a").write_text("y\n" * 20_000)
    outcome = await read(tool, cursor=found[1])
    assert outcome.failed
    assert "has changed" in outcome.text


async def test_a_cursor_works_in_its_own_session_only(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 20_000)
    found = CURSOR.search((await read(tool, path="a")).text)
    assert found is not None
    outcome = await read(ReadFile(Workspace(tmp_path)), cursor=found[1])
    assert outcome.failed
    assert "not known in this session" in outcome.text


async def test_a_cursor_does_not_follow_a_link_put_in_place_of_the_file(
    tool: ReadFile, tmp_path: Path
) -> None:
    (tmp_path / ".hel").mkdir()
    (tmp_path / ".hel" / "secret").write_text("s\n" * 20_000)
    (tmp_path / "a").write_text("x\n" * 20_000)
    found = CURSOR.search((await read(tool, path="a")).text)
    assert found is not None
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to(".hel/secret")
    outcome = await read(tool, cursor=found[1])
    assert outcome.failed
    assert "s\n" not in outcome.text


async def test_only_so_many_cursors_are_kept(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n2\n")
    cursors = []
    for _ in range(MAX_CURSORS + 1):
        found = CURSOR.search((await read(tool, path="a", max_lines=1)).text)
        assert found is not None
        cursors.append(found[1])
    assert (await read(tool, cursor=cursors[0])).failed
    assert (await read(tool, cursor=cursors[1])).text == "2\n"


async def test_a_cursor_comes_alone_and_one_of_both_is_needed(tool: ReadFile, tmp_path: Path) -> None:
    assert "alone" in (await read(tool, path="a", cursor="x")).text
    assert "needs a path" in (await read(tool)).text


async def test_bytes_that_are_no_utf8_are_marked(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9\n" * 3_000)
    outcome = await read(tool, path="a")
    assert outcome.text.startswith("caf�\n")
    assert "not valid UTF-8" in outcome.text
    assert len(outcome.text.encode()) <= MAX_BYTES


async def test_a_byte_order_mark_is_left_out(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx\n")
    assert (await read(tool, path="a")).text == "x\n"


async def test_binary_files_are_refused_with_their_kind(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "u").write_bytes("x".encode("utf-16"))
    assert "binary file of 6 bytes" in (await read(tool, path="b")).text
    assert "UTF-16" in (await read(tool, path="u")).text


async def test_folders_pipes_and_unreadable_files_are_sentences(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert "Use glob" in (await read(tool, path="folder")).text
    assert "pipe" in (await read(tool, path="pipe")).text
    assert (await read(tool, path="folder/no")).failed


async def test_arguments_that_do_not_fit_are_named_with_their_place(tool: ReadFile) -> None:
    for arguments, words in (
        ({"path": 5}, "at `path`: expected a string, got a number"),
        ({"path": "a", "start_line": 0}, "at `start_line`: 0 is less than 1"),
        ({"path": "a", "start_line": True}, "at `start_line`: expected an integer, got a boolean"),
        ({"file_path": "a"}, "at `file_path`: there is no such argument; did you mean `path`"),
    ):
        outcome = await tool.run(arguments, Invocation("1"))
        assert outcome.failed
        assert words in outcome.text
        assert "not executed" in outcome.text


async def test_null_counts_as_not_given(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    outcome = await read(tool, path="a", start_line=None, max_lines=2.0, cursor=None)
    assert outcome == Outcome("x")


async def test_the_subject_is_where_the_path_leads(tool: ReadFile, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "src" / "a").write_text("1\n2\n")
    assert tool.subject({"path": "link/../link/a"}) == "src/a"
    assert tool.subject({"path": "/etc/passwd"}) == "/etc/passwd"
    assert tool.subject({"path": 3}) == ""
    found = CURSOR.search((await read(tool, path="src/a", max_lines=1)).text)
    assert found is not None
    assert tool.subject({"cursor": found[1]}) == "src/a"
    assert tool.summary({"path": "src/a", "start_line": 3, "max_lines": 4}) == "src/a 3–6"
