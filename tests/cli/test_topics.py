"""The help topics say what there is, all of it, and nothing that there is not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest

from hel_tui.cli.help import TOPICS, text
from hel_tui.core.mcp import remarks
from hel_tui.core.store.places import find_places
from hel_tui.core.store.settings import Settings
from hel_tui.tui import keymap, strings
from hel_tui.tui.keymap import ACTIONS, load
from hel_tui.tui.slash import SPECS

ROOT = Path(__file__).parents[2]
FOLDER = files("hel_tui.cli") / "topics"


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HEL_HOME", str(tmp_path))
    monkeypatch.setenv("HEL_LANG", "en")
    yield tmp_path
    keymap.use({})
    strings.use("en")


topic = text


def test_every_text_is_a_topic_and_stands_in_the_readme() -> None:
    assert {file.name.removesuffix(".md") for file in FOLDER.iterdir()} == set(TOPICS) - {"keys"}
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


def test_the_keys_and_slash_commands_told_are_those_of_the_tables() -> None:
    lines = [re.split(r"  +", line.strip(), maxsplit=1) for line in topic("keys").splitlines()]
    told = {tuple(line) for line in lines if len(line) == 2}
    for action in ACTIONS:
        assert (", ".join(map(keymap.pretty, keymap.keys(action.id))), action.title) in told
    for spec in SPECS:
        assert (f"/{spec.name} {spec.usage}".strip(), spec.help) in told
    assert len(told) == len({(action.keys, action.title) for action in ACTIONS}) + len(SPECS) + 1


def test_the_keys_told_are_a_persons_own(own_place: Path) -> None:
    folder = find_places(os.environ).config
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keymap.toml").write_text('"app.palette" = "ctrl+k"\n"app.nothing" = "x"\n', "utf-8")
    text = topic("keys")
    assert re.search(r"^  Ctrl\+K +Command palette$", text, re.M)
    assert "there is no action “app.nothing”" in text


def test_every_key_of_an_entry_is_told() -> None:
    text = topic("servers")
    tools = {"tools", "url", "headers", "type"}
    for key in remarks.KNOWN - tools:
        assert re.search(rf"^  (?:\w+, )*{key}\b", text, re.M), key
