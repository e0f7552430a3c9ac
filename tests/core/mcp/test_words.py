"""Text as terms: any script, identifiers, endings; bounded, and the same when done twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.words import LONGEST_TERM, MOST_TERMS, terms


@given(st.text(max_size=300))
def test_any_text_becomes_terms_and_every_term_is_found_in_itself(text: str) -> None:
    found = terms(text)
    assert all(term in terms(term) for term in found)
    assert all(0 < len(term) <= 3 * LONGEST_TERM for term in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create_issue", ["creat", "issu"]),
        ("list-open-pages", ["list", "open", "page"]),
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("Café naïve", ["cafe", "naiv"]),
        ("ｆｕｌｌ ＷＩＤＴＨ", ["full", "width"]),
        ("파일을 찾아", ["파일", "일을", "찾아"]),
        ("文件 树", ["文件", "树"]),
        ("поиск файлов", ["поиск", "файлов"]),
        ("हिन्दी खोज", ["हिन्दी", "खोज"]),
        ("the of and", []),
        ("\x00\u202e\ufeff…🙂", []),
    ],
)
def test_words_are_found_in_every_script(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("create", "creates", "created", "creating", "creation"),
        ("query", "queries", "querying"),
        ("run", "runs", "running"),
        ("search", "searches", "searched", "searching"),
        ("branch", "branches"),
        ("issue", "issues"),
    ],
)
def test_forms_of_an_english_word_are_one_term(family: tuple[str, ...]) -> None:
    assert len({term for word in family for term in terms(word)}) == 1


def test_work_is_bounded_whatever_comes() -> None:
    assert len(terms("ﷺ" * 1_000_000)) <= MOST_TERMS
    assert len(terms("가" * 1_000_000)) <= MOST_TERMS
    assert len(terms(" ".join(f"w{n}" for n in range(100_000)))) <= MOST_TERMS
    assert max(map(len, terms("a" * 1_000_000))) <= LONGEST_TERM
