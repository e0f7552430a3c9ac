"""One server in or out of a server file, and files that are left alone."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hel_tui.core.mcp.config import load_servers
from hel_tui.core.mcp.editing import (
    NotEdited,
    OwnScope,
    ServerFile,
    files_of,
    names_in,
    put_entries,
    switch_entry,
    take_entry,
)
from hel_tui.core.store.places import Places, find_places

ENTRY = {"command": "srv", "args": ["--dir", "a b"]}
WRITTEN = """\ufeff// our servers
{
\t"$schema": "x",
\t"mcpServers": {
\t\t"notes": {"command": "notes", "foo": 1}, // keep
\t\t/* "old": {}, */
\t\t"db": {"command": "db", "disabled": true},
\t},
\t"other": {"z": 1, "a": 2},
}
""".replace("\n", "\r\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return find_places({"HEL_HOME": str(tmp_path / "home")})


@pytest.fixture
def dot(project: Path, places: Places) -> ServerFile:
    file = files_of("project", project, places)[1]
    file.path.write_bytes(WRITTEN.encode())
    return file


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def said(outcome: NotEdited | None) -> str:
    assert outcome is not None
    return outcome.sentence


def test_bom_line_ends_comments_and_order_survive_an_edit(dot: ServerFile, places: Places) -> None:
    dot.path.chmod(0o640)
    assert put_entries(dot, {"new": ENTRY}, places) is None
    text = dot.path.read_bytes().decode()
    added = '\t\t"new": {\n\t\t\t"command": "srv",\n\t\t\t"args": ["--dir", "a b"]\n\t\t},\n'.replace(
        "\n", "\r\n"
    )
    assert added in text and text.replace(added, "") == WRITTEN
    assert mode(dot.path) == 0o640
    assert take_entry(dot, "new", places) is None
    assert dot.path.read_bytes().decode() == WRITTEN


def test_a_new_file_is_private_but_for_that_of_the_project(project: Path, places: Places) -> None:
    os.umask(0o022)
    scopes: tuple[tuple[OwnScope, int], ...] = (("local", 0o600), ("user", 0o600), ("project", 0o644))
    for scope, expected in scopes:
        file = files_of(scope, project, places)[0]
        assert put_entries(file, {scope: ENTRY}, places) is None
        assert mode(file.path) == expected
        assert json.loads(file.path.read_text()) == {"servers": {scope: ENTRY}}
    assert mode(project / ".hel") == 0o755
    assert [path.name for path in (project / ".hel").iterdir()] == ["mcp.json"]
    found = load_servers(project, places, environ={})
    assert [(entry.name, entry.scope) for entry in found.entries] == [(s, s) for s, _ in sorted(scopes)]


def test_a_name_that_is_there_is_only_replaced_when_told(dot: ServerFile, places: Places) -> None:
    assert 'a server named "db" already (line 7)' in said(put_entries(dot, {"x": ENTRY, "db": ENTRY}, places))
    assert dot.path.read_bytes().decode() == WRITTEN
    assert put_entries(dot, {"db": ENTRY}, places, replace=True) is None
    assert names_in(dot) == ("notes", "db")


def test_switching_changes_one_key(dot: ServerFile, places: Places) -> None:
    assert switch_entry(dot, "db", places, on=True) is None
    assert dot.path.read_bytes().decode() == WRITTEN.replace(', "disabled": true', "")
    assert switch_entry(dot, "db", places, on=False) is None
    assert dot.path.read_bytes().decode() == WRITTEN
    assert switch_entry(dot, "notes", places, on=False) is None
    assert '{"command": "notes", "foo": 1, "disabled": true}, // keep' in dot.path.read_bytes().decode()
    assert "no usable server" in said(switch_entry(dot, "nobody", places, on=True))


@pytest.mark.parametrize(
    ("written", "on", "after"),
    [
        ({"enabled": True}, False, {"enabled": False}),
        ({"enabled": False}, True, {"enabled": True}),
        ({"enabled": False, "disabled": True}, True, {"enabled": True}),
        ({"disabled": "true"}, True, {}),
        ({"disabled": False, "enabled": True}, False, {"disabled": True, "enabled": False}),
    ],
)
def test_both_spellings_of_the_switch_are_kept_in_step(
    project: Path, places: Places, written: dict, on: bool, after: dict
) -> None:
    (file,) = files_of("user", project, places)
    assert put_entries(file, {"x": {"command": "y", **written}}, places) is None
    assert switch_entry(file, "x", places, on=on) is None
    assert json.loads(file.path.read_text())["servers"]["x"] == {"command": "y", **after}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"servers": {"a": 1,, }}', "line 1, column 21"),
        (b'{"servers": {"a": 1, "a": 2}}', '"a" is given twice (first in line 1)'),
        ('{"servers": {}}'.encode("utf-16"), "UTF-16; save it as UTF-8"),
        (b"[]", "must hold an object"),
        (b'{\n "mcpServers": []}', "line 2, column 2: `mcpServers` must be an object"),
        (b'{"servers": {}}' + b" " * (1 << 20), "1 MiB"),
        (b"", "empty"),
        (b'{"servers": {"\xff": 1}}', "0xff is not UTF-8"),
    ],
)
def test_a_file_that_hel_would_not_read_is_never_written_to(
    project: Path, places: Places, data: bytes, why: str
) -> None:
    file = files_of("project", project, places)[1]
    file.path.write_bytes(data)
    for outcome in (
        put_entries(file, {"new": ENTRY}, places, replace=True),
        take_entry(file, "a", places),
        switch_entry(file, "a", places, on=True),
    ):
        assert why in said(outcome) and str(file.path) in said(outcome)
    assert file.path.read_bytes() == data


def test_no_link_of_a_project_is_written_through(project: Path, places: Places, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mcp.json").write_text('{"servers": {}}')
    (project / ".hel").symlink_to(outside)
    (project / ".mcp.json").symlink_to(outside / "mcp.json")
    for file in files_of("project", project, places):
        assert "is a link" in said(put_entries(file, {"new": ENTRY}, places))
    assert (outside / "mcp.json").read_text() == '{"servers": {}}'
    dangling = project / ".hel"
    dangling.unlink()
    dangling.symlink_to(tmp_path / "nowhere")
    assert said(put_entries(files_of("project", project, places)[0], {"new": ENTRY}, places))
    assert not (tmp_path / "nowhere").exists()


def test_a_persons_own_linked_file_stays_linked(project: Path, places: Places, tmp_path: Path) -> None:
    (file,) = files_of("user", project, places)
    file.path.parent.mkdir(parents=True)
    (tmp_path / "dotfiles.json").write_text("{}")
    file.path.symlink_to(tmp_path / "dotfiles.json")
    assert put_entries(file, {"new": ENTRY}, places) is None
    assert file.path.is_symlink() and "new" in (tmp_path / "dotfiles.json").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_sentence(dot: ServerFile, places: Places) -> None:
    dot.path.parent.chmod(0o555)
    try:
        assert "permission denied" in said(put_entries(dot, {"new": ENTRY}, places))
    finally:
        dot.path.parent.chmod(0o755)
    assert dot.path.read_bytes().decode() == WRITTEN


def test_what_is_not_there_cannot_be_taken(dot: ServerFile, project: Path, places: Places) -> None:
    assert 'no server named "nobody"' in said(take_entry(dot, "nobody", places))
    missing = files_of("user", project, places)[0]
    assert 'no server named "x"' in said(take_entry(missing, "x", places))
    assert not missing.path.exists()


def test_many_writers_at_once_lose_nothing(project: Path, places: Places) -> None:
    (file,) = files_of("user", project, places)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: put_entries(file, {f"s{n}": ENTRY}, places), range(24)))
    assert outcomes == [None] * 24
    names = names_in(file)
    assert not isinstance(names, NotEdited) and sorted(names) == sorted(f"s{n}" for n in range(24))
