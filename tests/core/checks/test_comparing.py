"""What a call came to against what a check expects."""

from __future__ import annotations

import difflib
import json
import random
from typing import Any

import pytest

from hel_tui.core.checks.comparing import compare, rendered


def result(text: str = "", value: Any = None, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"content": [{"type": "text", "text": text}] if text else [], **more}
    return found if value is None else {**found, "structuredContent": value}


@pytest.mark.parametrize(
    ("expect", "came"),
    [
        ('text = "api: 8437"', result("api: 8437")),
        ('text = """\napi\n"""', result("api\n")),
        ("value = { n = 1, list = [1, 2] }", result(value={"list": [1, 2], "n": 1.0})),
        ("value = { n = 1 }", result('{"n": 1}')),
        ('kind = "subset", text = "8437"', result("api: 8437")),
        ('kind = "subset", value = { a = { b = 1 } }', result(value={"a": {"b": 1, "c": 2}, "d": 3})),
        ('kind = "subset", value = { a = [1, 3] }', result(value={"a": [1, 2, 3]})),
        (
            'kind = "subset", value = { a = [{ id = 2 }] }',
            result(value={"a": [{"id": 1}, {"id": 2, "x": 0}]}),
        ),
        ('kind = "schema", schema = { type = "object", required = ["n"] }', result(value={"n": 1})),
        ('text = "no", is_error = true', result("no", isError=True)),
        ("is_error = true", result("whatever", isError=True)),
        ("text = \"at 0:00\", masks = ['\\d+:\\d\\d']", result("at 12:34")),
        ("value = { at = \"0:00\" }, masks = ['\\d+:\\d\\d']", result(value={"at": "12:34"})),
        ('value = { n = 1 }, ignore = ["time"]', result(value={"n": 1, "time": 99})),
        ('value = { l = [{ n = 1 }] }, ignore = ["l[*].id"]', result(value={"l": [{"n": 1, "id": 7}]})),
        ('content = [{ type = "text", text = "x" }]', result("x")),
    ],
)
def test_it_passes(expecting, expect: str, came: dict[str, Any]) -> None:
    assert not compare(expecting(expect), came)


@pytest.mark.parametrize(
    ("expect", "came", "message", "diff"),
    [
        ('text = "api: 8437"', result("api: 1"), "another one", "-api: 8437\n+api: 1"),
        ("value = { n = 1 }", result(value={"n": True}), "value.n: expected 1, came true", "-"),
        (
            "value = { n = 1 }",
            result(value={"n": 1, "m": 2}),
            "value.m: expected nothing, came 2",
            '+  "m": 2',
        ),
        ("value = { n = 1 }", result("no json"), "no JSON", "no json"),
        ('kind = "subset", text = "9"', result("api: 8437"), "does not hold", "+api"),
        ('kind = "subset", value = { a = [3, 1] }', result(value={"a": [1, 2, 3]}), "value.a[1]", "nothing"),
        ('kind = "subset", value = { a = { b = 1 } }', result(value={"a": {}}), "value.a.b", "-value.a.b: 1"),
        (
            'kind = "schema", schema = { required = ["n"] }',
            result(value={}),
            "value: 'n' is a required",
            "{}",
        ),
        ('kind = "schema", schema = { type = "nonsense" }', result(value={}), "schema cannot be used", ""),
        ('text = "x"', result("boom", isError=True), "the tool failed: boom", "boom"),
        ('text = "x", is_error = true', result("x"), "did not fail", "x"),
    ],
)
def test_it_fails_and_says_where(
    expecting, expect: str, came: dict[str, Any], message: str, diff: str
) -> None:
    found = compare(expecting(expect), came)
    assert message in found.message
    assert diff in found.diff


def test_a_snapshot_is_the_whole_result_but_for_what_masks_hide(expecting) -> None:
    check = expecting('kind = "snapshot", masks = [\'\\d{2}:\\d{2}\'], ignore = ["id"]')
    came = {
        "content": [
            {"type": "text", "text": "at 12:34"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        ],
        "structuredContent": {"b": 1, "a": [None], "id": 5},
    }
    before = rendered(came, ("id",)).replace("12:34", "08:00")
    assert "image/png" in before
    assert '"id"' not in before
    assert not compare(check, came, before)
    came["structuredContent"]["b"] = 2
    assert '-  "b": 1\n+  "b": 2' in compare(check, came, before).diff


def test_a_snapshot_that_is_not_there_yet_fails_and_shows_what_came(expecting) -> None:
    found = compare(expecting('kind = "snapshot"'), result("new"))
    assert "--update" in found.message
    assert "+new" in found.diff


def test_a_diff_has_a_limit(expecting) -> None:
    found = compare(expecting('text = "x"'), result("\n".join(map(str, range(5_000)))))
    assert "more lines" in found.diff
    assert len(found.diff.splitlines()) < 500


def test_a_mask_that_never_ends_is_stopped_and_said(expecting, monkeypatch) -> None:
    monkeypatch.setattr("hel_tui.core.checks.masks.LIMIT", 0.1)
    found = compare(expecting('text = "x", masks = ["(a|aa)+$"]'), result("a" * 60 + "b"))
    assert "takes too long" in found.message


def test_masks_that_are_slow_on_each_of_many_texts_are_stopped_together(expecting, monkeypatch) -> None:
    monkeypatch.setattr("hel_tui.core.checks.masks.TOGETHER", 0.1)
    check = expecting('value = [], masks = ["(a|aa)+$"]')
    slow = "a" * 20 + "b"  # a few milliseconds each
    assert "takes too long" in compare(check, result(value=[slow] * 50_000)).message


def test_a_schema_of_a_repository_reaches_nobody(expecting) -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.3)
        heard: list[object] = []

        def accept() -> None:
            try:
                heard.append(listening.accept())
            except TimeoutError:
                return

        thread = threading.Thread(target=accept)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/schema.json"
        found = compare(expecting(f'kind = "schema", schema = {{ "$ref" = "{url}" }}'), result(value={}))
        thread.join()
    assert "the schema cannot be used" in found.message
    assert heard == []


def test_a_pattern_of_a_schema_counts_and_can_be_stopped(expecting, monkeypatch) -> None:
    check = expecting('kind = "schema", schema = { properties = { n = { pattern = "^(a|aa)+$" } } }')
    assert not compare(check, result(value={"n": "aa"}))
    assert "value.n: 'b' does not match" in compare(check, result(value={"n": "b"})).message
    monkeypatch.setattr("hel_tui.core.checks.schemas.LIMIT", 0.1)
    assert "takes too long" in compare(check, result(value={"n": "a" * 60 + "b"})).message


def test_patterns_for_names_count_and_can_be_stopped(expecting, monkeypatch) -> None:
    schema = '{ patternProperties = { "^(a|aa)+$" = { type = "string" } }, additionalProperties = false }'
    check = expecting(f'kind = "schema", schema = {schema}')
    assert not compare(check, result(value={"aa": "x"}))
    assert "value.aa: 1 is not of type 'string'" in compare(check, result(value={"aa": 1})).message
    assert "('b' was unexpected)" in compare(check, result(value={"b": "x"})).message
    monkeypatch.setattr("hel_tui.core.checks.schemas.LIMIT", 0.1)
    assert "takes too long" in compare(check, result(value={"a" * 60 + "b": 1})).message


@pytest.mark.parametrize(
    "schema",
    [
        '{ unevaluatedProperties = false, allOf = [{ patternProperties = { "^(a|aa)+$" = {} } }] }',
        '{ unevaluatedProperties = false, patternProperties = { "^(a|aa)+$" = {} } }',
        '{ "$ref" = "#/$defs/a", "$defs" = { a = { allOf = [{ "$ref" = "#/$defs/a" }] } } }',
    ],
)
def test_a_schema_that_would_hold_hel_up_is_not_used_and_it_is_said_why(expecting, schema: str) -> None:
    check = expecting(f'kind = "schema", schema = {schema}')
    message = compare(check, result(value={"a" * 60 + "b": 1})).message
    assert message.startswith("the schema cannot be used: ")


def test_a_long_list_may_follow_a_reference_for_each_item(expecting) -> None:
    schema = '{ items = { "$ref" = "#/$defs/a" }, "$defs" = { a = { type = "integer" } } }'
    check = expecting(f'kind = "schema", schema = {schema}')
    assert not compare(check, result(value=[1] * 8_000))


def test_all_patterns_of_a_schema_share_one_limit(expecting, monkeypatch) -> None:
    tried: list[float] = []

    def slow(_pattern: str, _text: str, seconds: float) -> bool:
        tried.append(seconds)
        return True

    monkeypatch.setattr("hel_tui.core.checks.schemas.found_in", slow)
    check = expecting('kind = "schema", schema = { items = { pattern = "a" } }')
    assert not compare(check, result(value=["x"] * 50))
    assert len(tried) == 50
    assert tried == sorted(tried, reverse=True)


def test_a_result_nested_too_deeply_is_a_sentence(expecting) -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    for expect in ('kind = "subset", value = { n = 1 }', 'kind = "snapshot"', 'text = "x", masks = ["a"]'):
        found = compare(expecting(expect), result(value=deep), "before")
        assert found.message == "the result is nested more than 100 levels deep"
    assert compare(expecting("value = { n = 1 }"), result("[" * 900 + "]" * 900)).message.endswith("no JSON")
    assert "nested" in rendered(result(value=deep))


def test_texts_that_would_keep_a_diff_busy_are_compared_to_the_first_difference(
    expecting, monkeypatch
) -> None:
    looks: list[int] = []
    real = difflib.SequenceMatcher.find_longest_match

    def counted(self: Any, alo: int, ahi: int, blo: int, bhi: int) -> Any:
        looks.append(ahi - alo)
        return real(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counted)
    lines = [f"line {number % 500}" for number in range(60_000)]
    came = ["the same", *random.Random(1).sample(lines, len(lines))]
    wanted = "\n".join(["the same", *lines])
    found = compare(expecting(f"text = {json.dumps(wanted)}"), result("\n".join(came)))
    assert looks == []
    shown = found.diff.splitlines()
    assert shown[2:5] == ["@@ -1,60001 +1,60001 @@", " the same", "-line 0"]
    assert f"+{came[1]}" in shown
    assert shown[-1] == f"… {120_000 - (len(shown) - 5):,} more lines"
