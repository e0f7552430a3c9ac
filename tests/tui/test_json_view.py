"""A JSON body as a person reads it: folds, open strings, a search, values and paths to copy."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hel_tui.tui.text.json_tree import Kind
from hel_tui.tui.widgets.json_view import JsonView
from hel_tui.tui.widgets.json_view_folds import Folds
from hel_tui.tui.widgets.json_view_pane import JsonPane
from tests.tui.panels import Hand, mounted

ANSWER = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 7,
        "result": {
            "content": [{"type": "text", "text": "first line\nsecond line"}],
            "isError": False,
            "n": None,
        },
    }
)


def on(text: str, size: tuple[int, int] = (60, 20)):
    return mounted(JsonPane(), lambda pane: pane.show(text, [("a body", "strong")]), size)


def rows(hand: Hand[JsonPane]) -> list[str]:
    return [row.rstrip(" ▁▂▃▄▅▆▇█▔") for row in hand.text.split("\n")[1:] if row.strip()]


async def test_a_body_is_laid_out_as_a_tree():
    async with on(ANSWER) as hand:
        assert rows(hand) == [
            "▾ {",
            '│   "jsonrpc": "2.0",',
            '│   "id": 7,',
            '│ ▾ "result": {',
            '│ │ ▾ "content": [',
            "│ │ │ ▾ {",
            '│ │ │ │   "type": "text",',
            '│ │ │ │   "text": "first line\\nsecond line"',
            "│ │ │   }",
            "│ │   ],",
            '│ │   "isError": false,',
            '│ │   "n": null',
            "│   }",
            "  }",
        ]


async def test_a_container_folds_to_what_is_in_it_and_opens_again():
    async with on(ANSWER) as hand:
        await hand.press("j", "j", "j", "enter")
        assert rows(hand)[3:] == ['│ ▸ "result": { 3 members }', "  }"]
        await hand.press("space")
        assert len(rows(hand)) == 14
        await hand.press("j", "left")
        assert '│ │ ▸ "content": [ 1 element ],' in rows(hand)
        await hand.press("left")
        assert hand.panel.view.row == 3


async def test_all_is_folded_but_the_outermost_and_opened_again():
    async with on(ANSWER) as hand:
        await hand.press("G", "minus")
        assert len(rows(hand)) == 5 and hand.panel.view.row == 13
        await hand.press("plus")
        assert len(rows(hand)) == 14


async def test_a_long_string_opens_to_the_lines_it_says():
    async with on(ANSWER) as hand:
        await hand.press(*"jjjjjjj", "enter")
        shown = rows(hand)
        assert shown[7:9] == ['│ │ │ │   "text": first line', "│ │ │ │ ┊ second line"]
        await hand.press("enter")
        assert len(rows(hand)) == 14


async def test_a_search_opens_what_is_folded_over_a_match_and_counts():
    async with on(ANSWER) as hand:
        await hand.press("minus", "slash")
        await hand.type("second")
        await hand.press("enter")
        assert "1/1" in hand.text and hand.panel.view.row == 7
        await hand.press("slash")
        await hand.type("text")
        await hand.press("enter", "n", "n", "N")
        assert hand.panel.view.match == 0 and "1/2" in hand.text


async def test_text_is_found_where_it_is_written_with_escapes_and_drawn_as_letters():
    async with on(json.dumps({"a": "포트를 찾음"})) as hand:
        assert "포트를 찾음" in hand.text
        assert hand.panel.view.search("찾음") == 1


async def test_value_path_and_whole_are_copied():
    async with on(ANSWER) as hand:
        await hand.press(*"jjjjjjj", "c")
        assert hand.app.last(JsonView.CopyRequested).text == "first line\nsecond line"
        await hand.press("y")
        assert hand.app.last(JsonView.CopyRequested).text == ".result.content[0].text"
        await hand.press("k", "k", "c")
        assert json.loads(hand.app.last(JsonView.CopyRequested).text)["type"] == "text"
        await hand.press("Y")
        assert hand.app.last(JsonView.CopyRequested).text == ANSWER


async def test_what_is_no_json_is_shown_as_text_and_said_to_be_none():
    async with on("Server listening on port 80\nready") as hand:
        assert "Server listening on port 80" in hand.text and "no JSON" not in hand.text
    async with on('{"a": 1, oops') as hand:
        assert '"a": 1,' in hand.text and "⚠ from here on it is no JSON oops" in hand.text


@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_a_hostile_depth_is_drawn_folded_and_searched(opening):
    depth = 100_000
    text = opening * depth + '"needle"' + ("]" if opening == "[" else "}") * depth
    async with on(text) as hand:
        await hand.until(lambda: hand.panel.view.folds.tree.done)
        await hand.press("slash")
        await hand.type("needle")
        await hand.press("enter")
        assert "needle" in hand.text and f"⋯{depth}" in hand.text
        await hand.press("minus")
        assert len(rows(hand)) == 3
        await hand.press("n")
        assert "needle" in hand.text
        await hand.press("plus", "G", "y")


async def test_a_body_of_a_megabyte_shows_its_beginning_at_once_and_reads_on():
    text = json.dumps([{"n": n, "text": "word " * 5} for n in range(22_000)])
    async with on(text) as hand:
        assert '"n": 0' in hand.text and "reading" in hand.text
        await hand.until(lambda: hand.panel.view.folds.tree.done)
        await hand.press("G")
        assert "]" in rows(hand)[-1] and "reading" not in hand.text


async def test_hostile_strings_are_drawn_as_text():
    bad = "\x1b]0;title\x07[@click=app.quit]\u202e\ud800\x00"
    for text in (json.dumps({bad: bad}), json.dumps({bad: bad}, ensure_ascii=False), bad):
        async with on(text) as hand:
            await hand.press("j", "enter", "c", "y", "Y")
            for message in hand.app.heard:
                assert "\x1b" not in message.text and "\u202e" not in message.text
            assert "\x1b" not in hand.text and "\u202e" not in hand.text
            assert "[@click=app.quit]" in hand.text


VALUES = st.recursive(
    st.integers() | st.text(max_size=40) | st.just("two\nlines"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(VALUES, st.lists(st.integers(0, 200), max_size=25), st.integers(10, 80))
def test_lines_are_always_the_rows_that_no_fold_hides(value, presses, width):
    folds = Folds(json.dumps(value), width)
    folds.read(10)
    tree = folds.tree
    for press in presses:
        if press % 10 == 9:
            folds.fold_all() if press % 20 == 9 else folds.open_all()
        else:
            folds.toggle(folds[press % len(folds)])
        if press == 100:
            folds.resize(width + 7)
        lines = [folds[line] for line in range(len(folds))]
        wanted: list[int] = []
        hidden = -1
        for row in range(len(tree)):
            if row <= hidden:
                continue
            wanted += [row] * len(folds.tall.get(row, " "))
            if folds.is_folded(row):
                hidden = tree.mates[row]
        assert lines == wanted
        assert all(tree.kind(row) in (Kind.STRING, Kind.TEXT) for row in folds.tall)
        for row in range(len(tree)):
            shown = folds.shown_above(row)
            assert folds.is_shown(shown) and shown <= row
