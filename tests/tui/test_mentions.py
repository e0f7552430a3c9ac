"""Mentions of resources in the prompt: where one is being typed, and what completes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core import protocol as p
from hel_tui.tui import mentions

ROWS = (
    p.ResourceRow("notes", "note://guide.md", "Guide", "How to"),
    p.ResourceRow("notes", "note://schema.json", "Schema"),
    p.ResourceRow("notes", "note://{name}", "One note", template=True, variables=("name",)),
    p.ResourceRow("box", "box://guide", "Box"),
)


@pytest.mark.parametrize(
    ("before", "word"),
    [
        ("@", ""),
        ("see @no", "no"),
        ("(@notes:note://a", "notes:note://a"),
        ("ana@example", None),
        ("@notes done", None),
        ("", None),
        ("@@", "@"),
    ],
)
def test_a_mention_ends_at_the_cursor_and_begins_a_word(before, word):
    assert mentions.typing(before) == word


def test_what_begins_with_the_word_comes_first_and_templates_are_left_out():
    found = mentions.candidates("box", ROWS)
    assert [one.resource for one in found] == [("box", "box://guide")]
    assert [one.insert for one in mentions.candidates("guide", ROWS)] == [
        "@box:box://guide",
        "@notes:note://guide.md",
    ]
    assert len(mentions.candidates("", ROWS)) == 3


def test_a_name_or_description_is_found_too():
    assert [one.resource for one in mentions.candidates("how to", ROWS)] == [("notes", "note://guide.md")]


@given(text=st.text(max_size=40))
def test_any_text_is_looked_through(text):
    word = mentions.typing(text)
    assert word is None or (text.endswith("@" + word) and isinstance(mentions.candidates(word, ROWS), list))
