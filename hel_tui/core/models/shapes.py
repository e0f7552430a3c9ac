"""Asks a provider to hold an answer to a JSON schema, where it can do so and leave calls of tools free.

Only at the addresses of OpenAI ("Structured model outputs") and Anthropic ("Structured outputs"): engines
behind compatible APIs let the schema rule out calls, or refuse it beside tools. It only makes answers that
fit more likely: the model is told the schema in words everywhere, and its answer is looked at. Not here:
the words, the look (api.shape), refusals (adapting).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from hel_tui.core.models.profiles import Dialect
from hel_tui.core.models.types import ModelInfo, Request
from hel_tui.core.vocabulary import Json

NAME = "answer"
_AT = {"chat": "api.openai.com", "responses": "api.openai.com", "messages": "api.anthropic.com"}


def shape_of(request: Request, info: ModelInfo, dialect: Dialect) -> Json:
    """The fields of the body that say so; none where it is not asked for, or not to be had."""
    shape = request.shape
    at_home = urlsplit(info.base_url).hostname == _AT.get(dialect.api)
    if shape is None or not dialect.shapes or not at_home or shape.get("type") != "object":
        return {}
    objects = list(_objects(shape))
    closed = all(one.get("additionalProperties") is False for one in objects)
    if dialect.api == "messages":  # it takes closed objects only
        return {"output_config": {"format": {"type": "json_schema", "schema": shape}}} if closed else {}
    strict = closed and all({*one.get("properties", ())} == {*one.get("required", ())} for one in objects)
    told = {"name": NAME, "schema": shape, "strict": strict}
    if dialect.api == "responses":
        return {"text": {"format": {"type": "json_schema", **told}}}
    return {"response_format": {"type": "json_schema", "json_schema": told}}


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every schema of an object in a schema."""
    if isinstance(value, Mapping):
        if value.get("type") == "object" or isinstance(value.get("properties"), Mapping):
            yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)
