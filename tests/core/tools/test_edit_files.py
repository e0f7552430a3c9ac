"""write_file and search_replace: exact, atomic, shown before."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hel_tui.core.tools import edit
from hel_tui.core.tools.edit import EditTool, SearchReplace, WriteFile
from hel_tui.core.tools.opening import Content, read_whole, replace_file
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace
from hel_tui.core.vocabulary import Invocation, Outcome


async def run(tool: EditTool, **arguments: object) -> Outcome:
    return await tool.run(arguments, Invocation("1"))


@pytest.fixture
def write(tmp_path: Path) -> WriteFile:
    return WriteFile(Workspace(tmp_path))


@pytest.fixture
def swap(tmp_path: Path) -> SearchReplace:
    return SearchReplace(Workspace(tmp_path))


def leftovers(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".part")]


async def test_a_file_is_written_exactly_and_its_size_told(write: WriteFile, tmp_path: Path) -> None:
    outcome = await run(write, path="a", content="é\r\n\n\tx")
    assert outcome == Outcome("Wrote 7 bytes to a (new file).")
    assert (tmp_path / "a").read_bytes() == "é\r\n\n\tx".encode()
    assert await run(write, path="a", content="") == Outcome("Wrote 0 bytes to a.")
    assert leftovers(tmp_path) == []


async def test_the_folder_of_a_new_file_must_exist(write: WriteFile, tmp_path: Path) -> None:
    outcome = await run(write, path="no/a", content="x")
    assert outcome.failed
    assert "folder does not exist" in outcome.text
    assert not (tmp_path / "no").exists()


async def test_the_mode_of_a_replaced_file_stays(write: WriteFile, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o751)
    await run(write, path="run", content="new")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o751


async def test_a_new_file_gets_the_usual_mode(write: WriteFile, tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    await run(write, path="a", content="")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


async def test_a_link_inside_the_project_stays_a_link(write: WriteFile, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    await run(write, path="link", content="new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


async def test_a_file_linked_hard_from_outside_keeps_its_content_there(
    write: WriteFile, tmp_path: Path
) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (tmp_path / "outside").write_text("old")
    os.link(tmp_path / "outside", project / "a")
    await run(WriteFile(Workspace(project)), path="a", content="new")
    assert (tmp_path / "outside").read_text() == "old"


async def test_hels_folder_and_places_outside_are_not_written(write: WriteFile, tmp_path: Path) -> None:
    (tmp_path / ".hel").mkdir()
    (tmp_path / "l").symlink_to(".hel")
    for path in (".hel/mcp.json", ".HEL/x", "l/x", "../x", "/tmp/x", ".hel"):
        outcome = await run(write, path=path, content="x")
        assert outcome.failed, path
        assert await write.preview({"path": path, "content": "x"}) == ""
    assert list((tmp_path / ".hel").iterdir()) == []


async def test_a_lone_surrogate_is_refused(write: WriteFile, tmp_path: Path) -> None:
    assert "surrogate" in (await run(write, path="a", content="x\ud800")).text
    assert not (tmp_path / "a").exists()


async def test_one_match_is_replaced_and_all_else_stays_to_the_byte(
    swap: SearchReplace, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\n\ttwo \x0c\nthree" + "é".encode())
    outcome = await run(swap, path="a", search="two", replace="2\n")
    assert outcome == Outcome("Replaced one passage in a, line 2.")
    assert (tmp_path / "a").read_bytes() == b"\xef\xbb\xbfone\r\n\t2\n \x0c\nthree" + "é".encode()


@pytest.mark.parametrize(
    ("text", "search", "count"),
    [("a b a", "a", "2 times"), ("aaa", "aa", "2 times"), ("b", "a", "(0 times)")],
)
async def test_none_or_several_matches_are_an_error_with_the_count_and_no_change(
    swap: SearchReplace, tmp_path: Path, text: str, search: str, count: str
) -> None:
    (tmp_path / "a").write_text(text)
    outcome = await run(swap, path="a", search=search, replace="x")
    assert outcome.failed
    assert count in outcome.text
    assert (tmp_path / "a").read_text() == text


async def test_several_matches_are_told_with_their_lines(swap: SearchReplace, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\ny\nx\n" + "x\n" * 9)
    assert "(lines 1, 3, 4, 5, 6, …)" in (await run(swap, path="a", search="x", replace="")).text


async def test_a_passage_that_differs_in_spaces_is_pointed_out(swap: SearchReplace, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1\n\tif  x:\n\t\ty\n")
    outcome = await run(swap, path="a", search="    if x:\n        y", replace="")
    assert "Line 2 begins a passage that differs in spaces only" in outcome.text


async def test_line_ends_of_a_crlf_file_stay_crlf(swap: SearchReplace, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await run(swap, path="a", search="one\ntwo", replace="1\n2\n2b")
    assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"


async def test_mixed_line_ends_are_taken_as_they_are(swap: SearchReplace, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\nthree\n")
    assert (await run(swap, path="a", search="one\ntwo", replace="")).failed
    await run(swap, path="a", search="one\r\ntwo", replace="x")
    assert (tmp_path / "a").read_bytes() == b"x\nthree\n"


async def test_what_cannot_be_replaced_is_refused_unchanged(swap: SearchReplace, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9 x")
    assert "not valid UTF-8" in (await run(swap, path="latin", search="x", replace="y")).text
    assert "empty" in (await run(swap, path="latin", search="", replace="y")).text
    assert "Did you mean latin" in (await run(swap, path="latim", search="x", replace="y")).text
    (tmp_path / "a").write_text("x")
    assert "same" in (await run(swap, path="a", search="x", replace="x")).text
    assert (tmp_path / "latin").read_bytes() == b"caf\xe9 x"


def test_a_file_changed_since_it_was_read_is_not_replaced(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    (tmp_path / "a").write_text("x")
    place = workspace.resolve("a", for_write=True)
    assert isinstance(place, ResolvedPath)
    content = read_whole(workspace, place, 100)
    assert isinstance(content, Content)
    (tmp_path / "a").write_text("someone else's")
    found = replace_file(place, b"mine", content.stamp)
    assert isinstance(found, Refusal)
    assert "changed by something else" in found.sentence
    assert (tmp_path / "a").read_text() == "someone else's"
    assert leftovers(tmp_path) == []


async def test_a_preview_is_a_diff_and_changes_nothing(
    write: WriteFile, swap: SearchReplace, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    diff = await swap.preview({"path": "a", "search": "2", "replace": "two"})
    assert diff == "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
    assert await write.preview({"path": "n", "content": "x"}) == (
        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )
    assert await write.preview({"path": "a", "content": "1\n2\n3\n"}) == ""
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "1\n2\n3\n"


@pytest.mark.parametrize(
    "arguments", [{}, {"path": 1}, {"path": "a", "content": 2}, {"path": "no/a", "content": ""}]
)
async def test_a_preview_of_what_will_fail_is_empty(write: WriteFile, arguments: dict[str, object]) -> None:
    assert await write.preview(arguments) == ""


async def test_the_diff_of_a_large_file_stays_small(
    write: WriteFile, swap: SearchReplace, tmp_path: Path
) -> None:
    lines = [f"line {number}" for number in range(100_000)]
    (tmp_path / "a").write_text("\n".join(lines))
    diff = await swap.preview({"path": "a", "search": "line 500\n", "replace": "new\n"})
    assert diff == "--- a/a\n+++ b/a\n@@ -501,1 +501,1 @@\n-line 500\n+new\n"
    assert len(await write.preview({"path": "a", "content": "x\n" * 500_000})) < edit.MAX_DIFF + 200


@pytest.mark.parametrize(
    ("content", "why"), [(b"a,b\n" * 2_600_000, "too large"), (b"\xff\xfe\0binary", "not UTF-8 text")]
)
async def test_a_write_over_a_file_that_cannot_be_shown_says_what_is_lost(
    content: bytes, why: str, write: WriteFile, tmp_path: Path
) -> None:
    (tmp_path / "big").write_bytes(content)
    diff = await write.preview({"path": "big", "content": "x\n"})
    assert diff.startswith("--- a/big\n+++ b/big\n")
    assert f"-[{len(content):,} bytes that cannot be shown: {why}]\n" in diff and "\n+x\n" in diff
    outcome = await run(write, path="big", content="x\n")
    assert outcome == Outcome(f"Wrote 2 bytes to big in place of {len(content):,} bytes.")


async def test_a_write_over_a_folder_is_refused_before_it_is_shown(write: WriteFile, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert await write.preview({"path": "sub", "content": "x"}) == ""
    assert (await run(write, path="sub", content="x")).failed
