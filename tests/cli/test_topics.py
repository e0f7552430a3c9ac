"""The help topics say what there is, all of it, and nothing that there is not."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest

from hel_tui.cli.help import TOPICS
from hel_tui.core.mcp import remarks
from hel_tui.core.store.settings import LATER, Settings
from hel_tui.tui.keymap import ACTIONS, load

ROOT = Path(__file__).parents[2]
FOLDER = files("hel_tui.cli") / "topics"


def topic(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_every_text_is_a_topic_and_stands_in_the_readme() -> None:
    assert {file.name.removesuffix(".md") for file in FOLDER.iterdir()} == set(TOPICS)
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in TOPICS:
        assert f"`hel help {name}`" in readme


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_fits_a_terminal_and_points_only_to_topics(name: str) -> None:
    text = topic(name)
    assert max(map(len, text.splitlines())) <= 120
    assert set(re.findall(r"`hel help (\w+)`", text)) <= set(TOPICS)


def test_every_setting_is_told_with_its_default() -> None:
    text = topic("config")
    for field in fields(Settings):
        shown = {str: f'"{field.default}"', bool: str(field.default).lower()}.get(
            type(field.default), str(field.default)
        )
        if field.default is None:
            assert re.search(rf"^  {field.name} = ", text, re.M)
        else:
            assert re.search(rf"^  {field.name} = {re.escape(shown)} ", text, re.M), field.name


def test_every_action_is_told() -> None:
    text = topic("config")
    told = set()
    for where, names in re.findall(r"^  (\w+)\. +(\w+(?:,\s+\w+)*)", text, re.M):
        told |= {f"{where}.{name}" for name in re.split(r",\s+", names)}
    assert told == {action.id for action in ACTIONS}


def test_the_example_of_a_keymap_is_a_good_one(tmp_path: Path) -> None:
    example = tmp_path / "keymap.toml"
    example.write_text("\n".join(re.findall(r'^    (".* = .*)$', topic("config"), re.M)))
    assert load(example) == ({"app.palette": "ctrl+k", "conversation.copy": "c,x"}, [])


def test_every_key_of_an_entry_is_told() -> None:
    text = topic("servers")
    tools = {"tools", "url", "headers", "type"}
    for key in remarks.KNOWN - set(remarks._LATER) - tools:
        assert re.search(rf"^  (?:\w+, )*{key}\b", text, re.M), key


def test_nothing_is_promised_that_this_version_does_not_have() -> None:
    for name in TOPICS:
        for key in (*LATER, *remarks._LATER):
            told = rf"^  (?:\w+, )*{key}\b|`{key}`|^{key} = "
            assert not re.search(told, topic(name), re.M), (name, key)
