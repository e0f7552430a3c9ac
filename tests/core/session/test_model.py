"""The model of a session and its key."""

from __future__ import annotations

from pathlib import Path

from hel_tui.core.options import Options
from hel_tui.core.session.model import Model, Wishes


async def test_a_key_from_the_keyring_is_known_as_a_secret(tmp_path: Path) -> None:
    hidden: list[str] = []
    options = Options(tmp_path, environ={})
    model = Model(options, lambda _: None, Wishes(), hidden.append, keyring=lambda name: f"key of {name}")
    assert await model.choose("deepseek/deepseek-chat", None) == "deepseek/deepseek-chat"
    assert hidden == ["key of deepseek"]
    await model.aclose()
