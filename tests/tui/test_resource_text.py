"""Contents of resources as rows: each by its type, none of it able to hold up or to draw over the screen."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core import protocol as p
from hel_tui.tui.safe import is_clean
from hel_tui.tui.text.resource import MOST, content_rows


def shown(mime: str, text: str = "", width: int = 60, **more: object) -> str:
    content = p.ResourceContent("a://b", mime, text, **more)  # type: ignore[arg-type]
    rows = content_rows((content,), width)
    return "\n".join(row.text.removeprefix("│ ").rstrip() for row in rows)  # the bar is that of code


@pytest.mark.parametrize(
    ("mime", "text", "rows"),
    [
        ("text/markdown", "# A\n\n**b**", "A\n\nb"),
        ("text/markdown; charset=utf-8", "**b**", "b"),
        ("application/json", '{"a":[1,{}]}', '{\n  "a": [\n    1,\n    {}\n  ]\n}'),
        ("application/ld+json", '{"a":1}', '{\n  "a": 1\n}'),
        ("application/json", "{broken", "{broken"),
        ("text/plain", "# not a heading\n\n# really\n\n**b**", "# not a heading\n\n# really\n\n**b**"),
        ("text/x-python", "x = 1", "x = 1"),
        ("", '{"a":1}', '{\n  "a": 1\n}'),
    ],
)
def test_text_is_shown_by_its_type(mime, text, rows):
    assert shown(mime, text) == rows


@pytest.mark.parametrize(
    ("mime", "more", "rows"),
    [
        (
            "image/png",
            {"size": 48_211, "measure": "640×480", "saved": "/s/a.png"},
            "image png 640×480 48.2 kB\nsaved: /s/a.png",
        ),
        ("audio/wav", {"size": 2_500_000}, "audio wav 2.5 MB"),
        ("application/pdf", {"size": 812}, "application/pdf 812 B"),
        ("", {"size": 5}, "application/octet-stream 5 B"),
        ("text/plain", {}, "The resource is empty."),
    ],
)
def test_what_is_no_text_is_told_by_kind_measure_and_size(mime, more, rows):
    assert shown(mime, **more) == rows


def test_several_contents_carry_their_addresses():
    contents = (p.ResourceContent("a://1", "", "one"), p.ResourceContent("a://2", "", "two"))
    assert [row.text for row in content_rows(contents, 40)] == ["a://1", "one", "", "a://2", "two"]


@pytest.mark.parametrize("mime", ["text/plain", "application/json", "text/markdown", "text/html"])
@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "[" * 5_000_000, "a\n" * 2_500_000], ids=["line", "deep", "lines"]
)
def test_a_huge_content_is_cut_and_says_so(mime, text):
    before = time.process_time()
    assert f"{len(text) - MOST:,} more characters are not shown" in shown(mime, text, 80)
    assert time.process_time() - before < 30  # uncut it takes minutes


@given(
    mime=st.sampled_from(["text/plain", "text/markdown", "application/json", "text/x-python", "x"]),
    text=st.text(max_size=200),
)
def test_any_text_is_drawn_clean(mime, text):
    assert is_clean(shown(mime, text, 20))
