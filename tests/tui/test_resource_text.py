"""Contents of resources as rows: each by its type, none of it able to hold up or to draw over the screen."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core import protocol as p
from hel_tui.tui.safe import is_clean
from hel_tui.tui.text.resource import MOST, content_layout


def shown(mime: str, text: str = "", width: int = 60, **more: object) -> str:
    content = p.ResourceContent("a://b", mime, text, **more)  # type: ignore[arg-type]
    rows = content_layout((content,))(width)
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
    assert [row.text for row in content_layout(contents)(40)] == ["a://1", "one", "", "a://2", "two"]


@pytest.mark.parametrize("mime", ["text/plain", "application/json", "text/markdown", "text/html"])
@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "[" * 5_000_000, "a\n" * 2_500_000], ids=["line", "deep", "lines"]
)
def test_a_huge_content_is_cut_and_says_so(mime, text):
    before = time.process_time()
    assert f"{len(text) - MOST:,} more characters are not shown" in shown(mime, text, 80)
    assert time.process_time() - before < 30  # uncut it takes minutes


def test_many_contents_share_the_room():
    contents = tuple(p.ResourceContent(f"a://{n}", "text/plain", "x" * MOST) for n in range(64))
    rows = [row.text for row in content_layout(contents)(80)]
    assert sum(row.count("x") for row in rows) <= MOST
    assert sum("more characters are not shown" in row for row in rows) == 63


def test_where_the_whole_is_kept_is_said():
    rows = shown("text/plain", "x" * (MOST + 5), width=80, saved="/s/a.txt").splitlines()
    assert rows[-2:] == ["… 5 more characters are not shown; copying copies all of them", "saved: /s/a.txt"]


@pytest.mark.parametrize("mime", ["", "text/plain", "application/json"])
def test_a_content_is_parsed_once_however_often_the_width_changes(mime, monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text: (parsed.append(len(text)), loads(text))[1])
    layout = content_layout((p.ResourceContent("a://b", mime, '{"a": [1, 2]}'),))
    assert len({len(layout(width)) for width in (20, 40, 60)}) == 1
    assert parsed == [13]


def test_a_cut_json_is_not_parsed_at_all(monkeypatch):
    parsed = []
    monkeypatch.setattr(json, "loads", lambda text: parsed.append(len(text)))
    shown("application/json", "[" + "1," * MOST + "1]")
    assert parsed == []


@given(
    mime=st.sampled_from(["text/plain", "text/markdown", "application/json", "text/x-python", "x"]),
    text=st.text(max_size=200),
)
def test_any_text_is_drawn_clean(mime, text):
    assert is_clean(shown(mime, text, 20))
