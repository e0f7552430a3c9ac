"""A folder of checks, written as a person would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hel_tui.core.checks.check import FOLDER, Check
from hel_tui.core.checks.reading import read_checks

Write = Callable[..., tuple[Check, ...]]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Write files of checks (`name=text`) into a project and read them."""

    def write(**files: str) -> tuple[Check, ...]:
        folder = tmp_path / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / f"{name}.toml").write_text(text)
        return read_checks(tmp_path)

    return write


@pytest.fixture
def expecting(written: Write) -> Callable[[str], Check]:
    """One check with this `expect` table."""

    def one(expect: str) -> Check:
        (check,) = written(one=f'name = "n"\nserver = "s"\ntool = "t"\nexpect = {{ {expect} }}\n')
        assert not check.problem, check.problem
        return check

    return one
