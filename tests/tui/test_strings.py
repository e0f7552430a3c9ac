"""The catalogue: both languages say the same things, and everything asked for is there."""

import re
import string
from pathlib import Path

import pytest

from hel_tui.tui import keymap, strings
from hel_tui.tui.strings.en import ENGLISH
from hel_tui.tui.strings.ko import KOREAN

SOURCES = sorted((Path(keymap.__file__).parent).rglob("*.py"))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys():
    assert {key for key in ENGLISH if not key.endswith(".one")} == set(KOREAN)


def test_both_languages_fill_the_same_placeholders():
    filled = set(KOREAN) - {"json.not_object"}
    differing = [key for key in filled if placeholders(ENGLISH[key]) != placeholders(KOREAN[key])]
    assert differing == []


PLURALS = (
    r" (?:(?:more|new|long|other|older|such) )*"
    r"(?:approvals|arguments|calls|characters|elements|fields|files|frames|items|lines|members|messages|models|"
    r"processes|properties|requests|restarts|results|servers|sessions|spaces|steps|things|times|tokens|tools|"
    r"turns|values)\b"
)
COUNTED = re.compile(rf"\{{(\w+)\}}{PLURALS}")
LARGE = {"characters", "key", "used", "window", "start", "reported", "before", "after", "servers", "tool"}
"""Placeholders that are no numbers, or never 1."""


def test_one_of_whatever_is_counted_is_said_in_the_singular():
    counted = {key: found for key in ENGLISH for found in COUNTED.findall(ENGLISH[key]) if found not in LARGE}
    assert len(counted) > 40
    assert set(counted.values()) <= set(strings.COUNTS)
    assert [key for key in counted if f"{key}.one" not in ENGLISH] == []
    for key, name in counted.items():
        values = {**dict.fromkeys(placeholders(ENGLISH[key]), "x"), name: 1}
        assert not re.search(rf"\b1{PLURALS}", strings.t(key, **values))


def test_every_literal_key_in_the_sources_exists():
    used = {
        match[1]
        for file in SOURCES
        for match in re.finditer(r'\bt\(\s*"([a-z_.A-Z -]+)"', file.read_text("utf-8"))
    }
    assert len(used) > 80
    assert used - {"key"} <= set(ENGLISH)


def test_every_action_and_part_has_its_words():
    for action in keymap.ACTIONS:
        assert f"action.{action.id}" in ENGLISH
        assert f"where.{action.where}" in ENGLISH


@pytest.mark.parametrize(
    ("hel_lang", "lang", "expected"),
    [
        ("ko", "en_US.UTF-8", "ko"),
        ("", "ko_KR.UTF-8", "ko"),
        ("en", "ko_KR.UTF-8", "en"),
        ("tlh", "", "en"),
        ("", "C", "en"),
    ],
)
def test_the_language_is_that_of_hel_lang_else_of_the_locale(monkeypatch, hel_lang, lang, expected):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEL_LANG", hel_lang)
    monkeypatch.setenv("LANG", lang)
    assert strings.preferred() == expected


def test_text_comes_in_the_language_in_use():
    try:
        strings.use("ko")
        assert strings.t("pane.tools") == "도구"
    finally:
        strings.use("en")
    assert strings.t("servers.tools", n=3) == "3 tools"


def test_one_of_something_is_said_in_the_singular_where_the_language_has_it():
    assert strings.t("servers.tools", n=1) == "1 tool"
    assert strings.t("card.more_lines", n="1,001") == "… 1,001 more lines"
    strings.use("ko")
    assert strings.t("servers.tools", n=1) == "도구 1"
