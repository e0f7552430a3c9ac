"""A fresh project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.tools.checkpoints.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
