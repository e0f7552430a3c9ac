"""Ranking: fields, rarity, order, limits, what matched; other languages; ten thousand tools."""

from __future__ import annotations

from typing import Any

from hel_tui.core.mcp.search import Document, build, search


def tool(server: str, raw: str, description: str = "", *, title: str = "", **properties: Any) -> Document:
    schema = {"type": "object", "properties": properties}
    return Document(f"mcp__{server}__{raw}", server, raw, title, description, schema)


MAIL = (
    tool("mail", "send_message", "Send a message to somebody.", to={"description": "recipient address"}),
    tool("mail", "list_folders", "Lists all mail folders."),
)
FILES = (
    tool("files", "read_text", "Reads the content of a file."),
    tool("files", "remove", "Deletes a file, and its messages to the log."),
)


def names(query: str, limit: int = 10) -> list[str]:
    found, _ = search([build(MAIL), build(FILES)], query, limit)
    return [one.document.raw for one in found]


def test_a_name_counts_more_than_a_description() -> None:
    assert names("message") == ["send_message", "remove"]


def test_parameters_titles_and_servers_are_searched() -> None:
    assert names("recipient") == ["send_message"]
    assert set(names("mail")) == {"send_message", "list_folders"}
    found, _ = search([build([tool("a", "x1", title="Weather report")])], "weather", 5)
    assert [one.document.raw for one in found] == ["x1"]


def test_nested_parameters_are_searched_and_odd_schemas_do_no_harm() -> None:
    inner = {"type": "object", "properties": {"latitude": {"type": "number"}}}
    odd = [Document("p", "s", "r", "", "", schema) for schema in (None, [], "x", {"properties": [1]}, True)]
    part = build([*odd, tool("geo", "go", place={"type": "array", "items": inner})])
    found, matched = search([part], "latitude", 5)
    assert (matched, found[0].document.raw) == (1, "go")


def test_equal_scores_are_in_order_of_names_however_the_parts_come() -> None:
    parts = [build([tool(server, "ping", "Ping it.")]) for server in ("c", "a", "b")]
    for order in (parts, parts[::-1]):
        found, _ = search(order, "ping", 5)
        assert [one.document.server for one in found] == ["a", "b", "c"]


def test_what_matched_is_told_with_the_number_of_all() -> None:
    found, matched = search([build(MAIL), build(FILES)], "Send messages quickly", 1)
    assert matched == 2
    assert found[0].words == ("Send", "messages")


def test_tools_that_are_not_there_are_left_out() -> None:
    found, matched = search([build(FILES)], "file", 5, lambda document: document.raw != "remove")
    assert (matched, [one.document.raw for one in found]) == (1, ["read_text"])


def test_nothing_is_found_by_nothing() -> None:
    for query in ("", "   ", "the of", "zebra", "\x00" * 100):
        assert search([build(MAIL)], query, 5) == ((), 0)
    assert search([], "file", 5) == ((), 0)


def test_english_tools_are_found_in_korean_and_chinese_and_by_near_words() -> None:
    assert names("파일 내용을 읽어 줘")[0] == "read_text"
    assert names("메시지를 보내 줘")[0] == "send_message"
    assert names("删除文件")[0] == "remove"
    assert names("erase") == ["remove"]


def test_korean_tools_are_found_whatever_particle_follows() -> None:
    part = build([tool("a", "x", "회의실을 예약합니다"), tool("a", "y", "날씨를 알려 줍니다")])
    found, _ = search([part], "회의실 비었어?", 5)
    assert [one.document.raw for one in found] == ["x"]


def test_a_word_repeated_in_a_description_does_not_win_over_a_fitting_tool() -> None:
    spam = tool("spam", "x", "read file " * 2_000)
    found, _ = search([build([spam]), build(FILES)], "read file", 5)
    assert found[0].document.raw == "read_text"


def test_ten_thousand_tools_are_searched_and_a_rare_one_is_found() -> None:
    many = [tool("big", f"tool_{n:05}", f"Handles record number {n}.") for n in range(10_000)]
    part = build([*many, tool("big", "rare", "Calibrates the telescope.")])
    found, matched = search([part], "calibrate telescope", 5)
    assert (matched, found[0].document.raw) == (1, "rare")
    assert search([part], "record", 20)[1] == 10_000
