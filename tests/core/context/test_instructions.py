"""What a project tells agents: a regular file of its own, whatever a repository puts in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hel_tui.core.context.instructions import MAX_BYTES, project_instructions


def test_the_first_of_the_files_that_says_something_counts(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("from claude\n")
    assert project_instructions(tmp_path) == "from claude"
    (tmp_path / "AGENTS.md").write_text("\n")
    assert project_instructions(tmp_path) == "from claude"
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbfdo \xff that")
    assert project_instructions(tmp_path) == "do \ufffd that"


def test_a_large_one_is_cut(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x" * (MAX_BYTES * 3))
    text = project_instructions(tmp_path)
    assert text == "x" * MAX_BYTES + "\n[AGENTS.md is longer; the rest is left out]"


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "loop"])
def test_what_is_no_file_of_the_project_is_passed_by(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "AGENTS.md"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/etc/hostname")
        case _:
            path.symlink_to(path)
    (tmp_path / "CLAUDE.md").write_text("from claude")
    assert project_instructions(tmp_path) == "from claude"
