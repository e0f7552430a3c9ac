"""URI templates, with the examples of RFC 6570 whose values are strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.tui.uri_template import expand, needed

VALUES = {
    "var": "value",
    "hello": "Hello World!",
    "path": "/foo/bar",
    "empty": "",
    "x": "1024",
    "y": "768",
    "half": "50%",
}


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("?{x,empty}", "?1024,"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("X{.var}", "X.value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{?undef}", ""),
        ("{path*}", "%2Ffoo%2Fbar"),
        ("no braces", "no braces"),
        ("broken {var", "broken {var"),
    ],
)
def test_the_examples_of_the_standard(template, uri):
    assert expand(template, VALUES) == uri


def test_what_is_encoded_already_stays_so_where_reserved_characters_do():
    assert expand("{+v}{v}", {"v": "a%20b"}) == "a%20ba%2520b"


@given(template=st.text(max_size=40), value=st.text(max_size=20))
def test_any_template_is_expanded(template, value):
    assert isinstance(expand(template + "{v:2}", {"v": value}), str)


def test_only_what_stands_in_the_address_itself_is_needed() -> None:
    assert needed("db://{table}/{+path}{/sub}{.ext}{;par}{#part}{?q,lang}{&more}") == {"table", "path"}
    assert needed("x://{a,b:3}{c*}") == {"a", "b", "c"}
    assert needed("x://plain") == frozenset()
