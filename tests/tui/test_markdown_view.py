"""Markdown as rows, whole and while it streams in."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from hel_tui.tui.text.blocks import Table
from hel_tui.tui.text.lines import BOLD, ITALIC, STRIKE, TEXT, Ink, copied_text
from hel_tui.tui.text.markdown import MarkdownView, render_markdown

PIECES = ["- a item\n", "- b\n", "  - nest\n", "  more\n", "\n", "\n", "1. one\n", "2. two\n", "3) three\n"]
PIECES += [
    "* star\n",
    "para **b** and `c`\n",
    "# head\n",
    "```py\n",
    "```\n",
    "~~~\n",
    "x = 1\n",
    "    indented\n",
]
PIECES += ["> quote\n", "> - in quote\n", "---\n", "===\n", "    - four\n", "10. ten\n", "text", "* ", "|"]
PIECES += [
    "- [ ] todo\n",
    "<div>\n",
    "**unclosed\n",
    "\\\n",
    " \n",
    "한국어 문장\n",
    "| a | b |\n",
    "|---|:-:|\n",
]
PIECES += ["| 1 | 2 |\n", "| longer cell | `x` |\n"]


def shown(source: str, width: int = 60) -> list[str]:
    return [row.text.rstrip() for row in render_markdown(source, width)]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.integers(0, 1_000),
    st.sampled_from([12, 60]),
)
def test_a_streamed_text_ends_up_as_the_whole_text_does(source: str, seed: int, width: int) -> None:
    rng = random.Random(seed)
    view = MarkdownView()
    end = 0
    while end < len(source):
        end += rng.randint(1, 9)
        view.update(source[:end])
        view.lines(width)
    view.update(source, done=True)
    assert [row.text for row in view.lines(width)] == [row.text for row in render_markdown(source, width)]


@given(st.text(alphabet="ab*_`[]()|>#-~ \n\\!<&漢", max_size=200), st.integers(10, 40))
def test_any_text_is_drawn_within_the_width(source: str, width: int) -> None:
    # Deep nesting and many columns may ask for more than there is: the view crops those rows.
    for row in render_markdown(source.replace("|", "").replace(">", ""), width):
        assert cell_len(row.text) <= max(width, 8 + 2 * 20)


def test_every_kind_of_block_is_drawn() -> None:
    source = """# Head
text that goes
on

- one
  - two
    - three
- [ ] todo
- [x] done

3. third
4. fourth

> quoted
> - item

```python
def f(): ...
```

    indented

---"""
    assert shown(source, 30) == [
        "Head",
        "",
        "text that goes on",
        "",
        "• one",
        "  ◦ two",
        "    ▪ three",
        "• ☐ todo",
        "• ☑ done",
        "",
        "3. third",
        "4. fourth",
        "",
        "▎ quoted",
        "▎ • item",
        "",
        "│ def f(): ...",
        "",
        "│ indented",
        "",
        "─" * 30,
    ]


def test_emphasis_code_and_links_have_their_inks() -> None:
    [row] = render_markdown("**b** *i* ~~s~~ `c` [name](https://x.example/a) <https://y.example>", 200)
    assert row.text == "b i s c name (https://x.example/a) https://y.example"
    inks = dict(row.spans)
    assert inks["b"] == Ink("text", BOLD)
    assert inks["i"] == Ink("text", ITALIC)
    assert inks["s"] == Ink("text", STRIKE)
    assert inks["c"].role == "inline-code"
    assert inks["name"].role == inks["https://y.example"].role == "link"


@pytest.mark.parametrize(
    "text", ["[@click=app.quit]x[/]", "[red]x[/red]", "<b>x</b>", "<script>x</script>", "[/]"]
)
def test_markup_and_html_are_text(text: str) -> None:
    assert shown(text) == [text]


def test_a_link_whose_reference_comes_later_gets_its_target() -> None:
    view = MarkdownView()
    for end in range(0, 60, 5):
        view.update("see [the docs][d]\n\nmore\n\n[d]: https://d.example\n"[:end])
    view.update("see [the docs][d]\n\nmore\n\n[d]: https://d.example\n", done=True)
    assert view.lines(60)[0].text == "see the docs (https://d.example)"


def test_code_is_highlighted_once_it_is_closed() -> None:
    view = MarkdownView("```python\nimport os\n")
    assert {ink.role for row in view.lines(40) for _text, ink in row.spans} == {"bar", "code"}
    view.update("```python\nimport os\n```\n")
    assert "code-keyword" in {ink.role for row in view.lines(40) for _text, ink in row.spans}


def test_code_is_copied_without_its_bar_and_with_its_spaces() -> None:
    rows = render_markdown("```\nif x:\n    a_line_that_is_wider_than_the_view()\n```", 20)
    assert all(row.text.startswith("│ ") for row in rows)
    assert copied_text(rows) == "if x:\n    a_line_that_is_wider_than_the_view()"


def test_a_table_fits_and_wraps_its_cells() -> None:
    rows = shown(
        "| name | n | note |\n|:--|--:|:-:|\n| a | 1 | a note that is much too long |\n| 漢字 | 22 | x |", 31
    )
    assert rows == [
        "name │  n │        note",
        "─────┼────┼────────────────────",
        "a    │  1 │ a note that is much",
        "     │    │      too long",
        "漢字 │ 22 │          x",
    ]


def test_a_row_with_too_few_or_too_many_cells_is_drawn() -> None:
    table = Table([[("a", TEXT)], [("b", TEXT)]], ["", ""], [[[("1", TEXT)]], [[("1", TEXT)]] * 3])
    assert [row.text.rstrip() for row in table.render(20)][2:] == ["1 │", "1 │ 1"]


def test_a_new_width_lays_the_same_blocks_out_again() -> None:
    view = MarkdownView("one two three\n\n- four five six")
    assert [row.text for row in view.lines(10)] == [
        "one two",
        "three",
        "",
        "• four",
        "  five six",
    ]
    assert [row.text for row in view.lines(40)] == ["one two three", "", "• four five six"]


def test_a_text_that_is_no_continuation_starts_anew() -> None:
    view = MarkdownView("- one\n- two\n")
    view.update("other\n")
    assert [row.text for row in view.lines(20)] == ["other"]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("", "- an item with **bold** text\n"),
        ("| a | b |\n|---|---|\n", "| cell | other |\n"),
        ("```python\n", "value = call(1)\n"),
        ("- top\n", "  - a nested item\n"),
        ("", "words of one paragraph "),
        ("", "> words of a quote\n"),
        ("", "paragraph\n\n"),
    ],
)
def test_the_cost_of_a_long_block_grows_with_what_is_new(head: str, row: str) -> None:
    def parsed(count: int) -> float:
        source = head + row * count
        view = MarkdownView()
        for end in range(0, len(source), 200):
            view.update(source[:end])
        return view.parsed / len(source)

    # Characters parsed for each that arrived: were it quadratic, ten times the text would cost tenfold.
    assert parsed(3_000) < max(parsed(300), 2) * 2.5


@pytest.mark.parametrize(
    "text", ["[" * 6_000, "*" * 9_000, "`a" * 4_000, ">" * 5_000, "![" * 3_000, "- " * 3_000]
)
def test_hostile_marks_do_no_harm_and_hide_nothing(text: str) -> None:
    assert any("end" in row.text for row in render_markdown(f"{text}end", 80))
