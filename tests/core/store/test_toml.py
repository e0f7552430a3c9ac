"""TOML of strangers: what costs the parser too much is refused, and nothing but BadToml comes out."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.store.toml import BadToml, parse_toml

MANY = ".".join("a" * 15_000)


@pytest.mark.parametrize(
    "text",
    [
        f"{MANY} = 1",
        f"[{MANY}]",
        f"x = {{ {MANY} = 1 }}",
        MANY.replace("a", '"a"').replace(".", " . ") + " = 1",
        f"x = ['''a''''', {{ {MANY} = 1 }}] #'''",
        f'x = ["""a"""", {{ {MANY} = 1 }}] #"',
        f'x = "\\"" \n{MANY} = 1 #"',
    ],
)
def test_a_key_of_endless_parts_is_refused_before_it_costs_memory(text: str) -> None:
    text = text if len(text) < 60_000 else text[:60_000].rpartition(".")[0] + "a = 1"
    tracemalloc.start()
    try:
        with pytest.raises(BadToml, match="more than 20 parts"):
            parse_toml(text)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_dots_in_texts_and_comments_are_no_key() -> None:
    text = f'# {MANY[:20000]}\na = \'{MANY[:20000]}\'\nb = """\n{MANY[:20000]}"""\n'
    assert set(parse_toml(text)) == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("\nx = " + "9" * 5000, "too many digits", 0),
        ("x = " + "[" * 20_000, "nested too deeply", 0),
        ("x = '" + "a" * 70_000 + "'", "larger than 64 KiB", 0),
        ("\nx = = 1", "not valid TOML: Invalid value", 2),
        (f"\n\n{MANY} = 1", "parts", 3),
    ],
)
def test_whatever_is_wrong_is_a_sentence_with_its_line(text: str, said: str, line: int) -> None:
    with pytest.raises(BadToml, match=said) as caught:
        parse_toml(text)
    assert caught.value.line == line


@given(st.text(alphabet="a.=[]{}\"'#\n 1,\\-", max_size=80))
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        parse_toml(text)
    except BadToml as bad:
        assert str(bad)
