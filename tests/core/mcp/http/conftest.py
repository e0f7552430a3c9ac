"""The bench of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.mcp.http.driving import Bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Servers and links; all end with the test."""
    bench = Bench(tmp_path)
    yield bench
    await bench.close()
