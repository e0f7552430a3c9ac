"""Which providers are asked to hold an answer to a schema, and to which schemas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hel_tui.core.models.profiles import Api, Dialect
from hel_tui.core.models.shapes import shape_of
from hel_tui.core.models.types import ModelInfo, Request

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {}, "additionalProperties": False}},
    "required": ["a"],
    "additionalProperties": False,
}


def fields(shape: Any, api: Api = "chat", url: str = OPENAI, **more: Any) -> dict[str, Any]:
    return shape_of(Request((), shape=shape), ModelInfo("p", "m", url), replace(Dialect(api=api), **more))


def test_a_closed_schema_is_strict_and_an_open_one_is_not() -> None:
    open_inside = {**CLOSED, "properties": {"a": {"type": "object", "properties": {}}}}
    optional = {**CLOSED, "required": []}
    told = [
        fields(one)["response_format"]["json_schema"]["strict"] for one in (CLOSED, open_inside, optional)
    ]
    assert told == [True, False, False]


def test_each_api_has_its_own_words() -> None:
    inner = {"name": "answer", "schema": CLOSED, "strict": True}
    assert fields(CLOSED) == {"response_format": {"type": "json_schema", "json_schema": inner}}
    assert fields(CLOSED, "responses") == {"text": {"format": {"type": "json_schema", **inner}}}
    wanted = {"output_config": {"format": {"type": "json_schema", "schema": CLOSED}}}
    assert fields(CLOSED, "messages", ANTHROPIC) == wanted


def test_the_messages_api_is_asked_for_closed_schemas_only() -> None:
    assert fields({**CLOSED, "required": []}, "messages", ANTHROPIC)
    assert fields({"type": "object"}, "messages", ANTHROPIC) == {}


@pytest.mark.parametrize(
    ("api", "url"),
    [
        ("chat", "http://127.0.0.1:8080/v1"),
        ("chat", "https://api.openai.com.example.com/v1"),
        ("messages", "https://gateway.example.com/v1"),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
    ],
)
def test_nobody_else_is_asked(api: Api, url: str) -> None:
    assert fields(CLOSED, api, url) == {}


def test_nothing_is_asked_without_a_schema_of_an_object_or_after_a_refusal() -> None:
    assert fields(None) == fields({"type": "integer"}) == fields(CLOSED, shapes=False) == {}
