"""Every test of the screen begins in English, whatever the test before it switched to."""

from collections.abc import Iterator

import pytest

from hel_tui.tui import strings


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HEL_LANG", "en")
    strings.use("en")
    yield
    strings.use("en")
