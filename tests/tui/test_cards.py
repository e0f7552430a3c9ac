"""Cards of calls as rows."""

from __future__ import annotations

import json
import shlex

import pytest
from rich.cells import cell_len

from hel_tui.cli.mcp.arguments import parser_of
from hel_tui.core import protocol as p
from hel_tui.tui.safe import is_clean
from hel_tui.tui.state import CallItem
from hel_tui.tui.text import cards
from hel_tui.tui.text.json_text import indented
from hel_tui.tui.text.lines import Line, copied_text


def texts(rows: list[Line]) -> list[str]:
    return [row.text.rstrip() for row in rows]


def call(**values: object) -> CallItem:
    return CallItem("c1", "inventory", "lookup_port", 'service="api"', **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 ms"),
        (0.0114, "11 ms"),
        (0.9994, "999 ms"),
        (0.9999, "1.0 s"),
        (3.44, "3.4 s"),
        (42.4, "42 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3_725, "1 h 02 min"),
        (90_000, "25 h 00 min"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, shown: str) -> None:
    assert cards.duration(seconds) == shown


@pytest.mark.parametrize(
    ("state", "glyph", "word"),
    [
        ("queued", "◷", "queued"),
        ("waiting", "◷", "waits for you"),
        ("running", "⠿", "running 3 s"),
        ("ok", "✓", "11 ms"),
        ("failed", "✗", "failed 11 ms"),
        ("refused", "⊘", "refused"),
        ("cancelled", "⊗", "cancelled 11 ms"),
    ],
)
def test_every_state_is_a_glyph_and_a_word(state: p.CallState, glyph: str, word: str) -> None:
    [row] = cards.card(call(state=state, seconds=0.011, began=97.0), 60, now=100.9)
    assert row.text.startswith(f'{glyph} inventory · lookup_port  service="api"')
    assert row.text.endswith(f" {word}")
    assert cell_len(row.text) == 60


def test_a_running_call_tells_its_limit() -> None:
    [row] = cards.card(call(state="running", began=97.0, limit=30.0), 80, now=100.9)
    assert row.text.endswith(" running 3 s of 30 s")


def test_a_long_summary_gives_way_to_the_state() -> None:
    [row] = cards.card(CallItem("c", "s", "tool", "한국어 " * 60, state="waiting"), 40, now=0)
    assert row.text.endswith("…  waits for you") or row.text.endswith("…   waits for you")
    assert cell_len(row.text) == 40


def test_a_preview_has_three_rows_and_says_how_many_there_are_more() -> None:
    rows = cards.card(call(state="ok", preview="a\nb\nc\nd\ne", lines=120), 40, now=0)
    assert texts(rows)[1:] == ["  a", "  b", "  c", "  … 117 more lines"]


ERROR = "The index of 2024 is locked by another run: end it with `stockctl unlock`, then call again. " * 2


def test_why_a_call_failed_is_wrapped_and_read_to_its_end() -> None:
    rows = cards.card(call(state="failed", preview=ERROR.strip(), lines=1), 60, now=0)
    assert copied_text(rows[1:]) == ERROR.strip()
    assert len(rows) == 5 and all(cell_len(row.text) <= 60 for row in rows)


def test_of_a_long_error_four_rows_are_shown_and_the_rest_is_counted() -> None:
    failed = call(state="failed", preview="first sentence\n\n" + "word " * 60, lines=40)
    rows = texts(cards.card(failed, 40, now=0))
    assert rows[1] == "  first sentence"
    assert len(rows) == 6
    assert rows[5] == "  … 44 more lines"


def test_a_failed_call_without_a_word_is_one_row() -> None:
    assert len(cards.card(call(state="failed"), 60, now=0)) == 1


def test_progress_is_a_bar_with_its_message() -> None:
    running = call(state="running", progress=3.0, total=10.0, message="indexing")
    assert texts(cards.card(running, 60, now=0))[1] == "  ▰▰▰▰▰▰▱▱▱▱▱▱▱▱▱▱▱▱▱▱ 30%  indexing"
    running.total = None
    assert texts(cards.card(running, 60, now=0))[1] == "  3  indexing"


def test_a_task_says_its_step_once() -> None:
    task = CallItem("c1", "", "task", "look", state="running", progress=2.0, message="step 2: grep")
    assert [row.text.strip() for row in cards.card(task, 60, now=0)][1:] == ["step 2: grep"]


@pytest.mark.parametrize(
    ("progress", "total"), [(float("nan"), 1.0), (1.0, 0.0), (float("inf"), 3.0), (9, -1.0)]
)
def test_odd_progress_numbers_are_survived(progress: float, total: float) -> None:
    assert cards.card(call(state="running", progress=progress, total=total), 60, now=0)


def test_an_open_card_shows_everything() -> None:
    detail = p.CallDetail(
        "c1",
        "inventory",
        "lookup_port",
        '{\n  "service": "api"\n}',
        '{"api": 8437, "rate": 1.10}',
        "ok",
        diff="--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new",
        saved=("/tmp/session/image.png",),
    )
    assert texts(cards.card(call(state="ok"), 60, now=0, detail=detail))[1:] == [
        "  arguments",
        "  │ {",
        '  │   "service": "api"',
        "  │ }",
        "  change",
        "  │ --- a",
        "  │ +++ b",
        "  │ @@ -1 +1 @@",
        "  │ -old",
        "  │ +new",
        "  result",
        "  │ {",
        '  │   "api": 8437,',
        '  │   "rate": 1.10',
        "  │ }",
        "  saved: /tmp/session/image.png",
    ]


def test_what_is_odd_about_a_result_stands_below_it() -> None:
    warnings = ("its text\x1b[2J\nis odd",)
    detail = p.CallDetail("c1", "s", "t", arguments="{}", result="7", state="ok", warnings=warnings)
    rows = texts(cards.card(call(state="ok"), 60, now=0, detail=detail))
    assert rows[-1] == "  ▲ its text↵is odd"


def test_a_very_long_result_is_cut_and_says_so() -> None:
    detail = p.CallDetail("c1", "s", "t", "{}", "line\n" * 5_000, "ok")
    rows = texts(cards.card(call(state="ok"), 60, now=0, detail=detail))
    assert rows[1] == "  no arguments"
    assert len(rows) < 2_100
    assert "more lines are not shown" in " ".join(rows[-2:])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "json"),
        ("[not json]", "text"),
        ("# Title\n\n## Part\ntext", "markdown"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@", "diff"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x", "diff"),
        ("just words", "text"),
        ("[" * 100_000 + "]" * 100_000, "text"),
    ],
)
def test_a_result_is_drawn_as_what_it_looks_like(text: str, kind: str) -> None:
    assert cards.looks_like(text) == kind


def test_json_is_indented_without_touching_a_value() -> None:
    assert indented('{"a":[1.10,1e5,{}],"a":"x, y: {z}","b":[]}') == (
        '{\n  "a": [\n    1.10,\n    1e5,\n    {}\n  ],\n  "a": "x, y: {z}",\n  "b": []\n}'
    )


def test_hostile_text_in_a_card_stays_text() -> None:
    item = CallItem(
        "c", "s\x1b[2J", "t\x1b]0;x\x07", "[@click=app.quit]x[/]\n\x1b[31m", preview="\x1b[1mp\x07"
    )
    item.state = "ok"
    shown = "".join(texts(cards.card(item, 60, now=0)))
    assert "\x1b" not in shown and "\x07" not in shown
    assert "[@click=app.quit]x[/]" in shown


def test_a_card_can_be_repeated_from_a_shell() -> None:
    detail = p.CallDetail("c1", "inventory", "lookup port", '{\n  "q": "it\'s"\n}', "", "ok")
    item = CallItem("c1", "inventory", "lookup port", "")
    assert cards.as_command(item, detail) == """hel mcp call inventory 'lookup port' '{"q":"it'"'"'s"}'"""
    assert cards.as_command(item, None) == ""
    assert cards.as_command(CallItem("c2", "", "bash", "ls"), None) == ""


def test_a_card_is_copied_as_clean_text() -> None:
    detail = p.CallDetail("c1", "inventory", "lookup_port", "{}", "a\x1b[31m\nb", "ok")
    assert cards.as_text(call(), detail) == "inventory · lookup_port\n\n{}\n\na\nb"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("-t", "{}"),
        ("t", '{"a": "it\'s $HOME `x`", "b": "line\\nbreak"}'),
        ("t", '{"bidi": "\u202eabc\u2066", "wide": "한글"}'),
    ],
)
def test_a_copied_command_is_clean_and_calls_the_same(tool: str, arguments: str) -> None:
    detail = p.CallDetail("c", "inventory", tool, arguments, "", "ok")
    command = cards.as_command(CallItem("c", "inventory", tool, ""), detail)
    assert is_clean(command)
    words = shlex.split(command)
    assert words[:2] == ["hel", "mcp"]
    args = parser_of(words[2]).parse_args(words[3:])
    assert (args.server, args.tool) == ("inventory", tool)
    assert json.loads(args.arguments or "{}") == json.loads(arguments)


def test_there_is_no_command_for_a_name_that_no_terminal_takes() -> None:
    detail = p.CallDetail("c", "s", "a\x1b[2Jb", "{}", "", "ok")
    assert cards.as_command(CallItem("c", "s", "a\x1b[2Jb", ""), detail) == ""
