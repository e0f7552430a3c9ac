"""Whatever a server sends, what goes out keeps the rules of the family it goes to, the same at every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hel_tui.core.models.schemas.adapt import Adapted, adapt
from hel_tui.core.models.schemas.profile import PROFILES
from hel_tui.core.vocabulary import ToolDefinition
from tests.core.models.schemas.drawing import tops
from tests.fixtures.models.schema_rules import RULES, has_null

LISTS = Path(__file__).parents[3] / "search" / "lists"
QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def definition(parameters: Any, description: str = "Does it.") -> ToolDefinition:
    return ToolDefinition("mcp__fix__tool", description, parameters)


def function(adapted: Adapted) -> dict[str, Any]:
    out: dict[str, Any] = {"name": adapted.definition.name, "description": adapted.definition.description}
    return out | ({"parameters": adapted.definition.parameters} if adapted.definition.parameters else {})


STRUCTURAL = [
    "reference",
    "all-of",
    "one-of",
    "any-of",
    "variants",
    "types",
    "map",
    "tuple",
    "any",
    "depth",
    "top",
    "boolean",
    "null",
    "enum",
    "const",
    "definitions",
]
"""Rules that replace a schema with all that is in it."""


def unaccounted(sent: Any, given: Any, path: tuple[str, ...], adapted: Adapted) -> str:
    """A place where what is sent differs from what the server sent, and no change says so."""
    if sent == given and json.dumps(sent) == json.dumps(given):
        return ""
    at = {change.rule for change in adapted.changes if change.path == path}
    above = {
        change.rule for change in adapted.changes if change.path == path[: len(change.path)] != path
    } & set(STRUCTURAL)
    if above or at & set(STRUCTURAL):
        return ""
    if not isinstance(sent, dict) or not isinstance(given, dict):
        return "" if at else f"{path}: {sent!r:.80} became {given!r:.80}"
    for key in ("anyOf", "oneOf", "allOf"):
        members, kept = sent.get(key), given.get(key)
        if isinstance(members, list) and isinstance(kept, list) and len(members) == len(kept):
            pairs = enumerate(zip(members, kept, strict=True))
            problems = (unaccounted(a, b, (*path, key, str(n)), adapted) for n, (a, b) in pairs)
            if problem := next(filter(None, problems), ""):
                return problem
            sent, given = ({k: v for k, v in one.items() if k != key} for one in (sent, given))
    inside = ("properties", "items", "additionalProperties")
    differing = [key for key in {*sent, *given} if sent.get(key) != given.get(key) and key not in inside]
    told = " ".join(change.sentence for change in adapted.changes if change.path == path)
    silent = [key for key in differing if key not in told]
    if silent and not at & {"strict", "empty"}:
        return f"{path}: {silent}"
    names = adapted.names or {}
    before, after = sent.get("properties", {}), given.get("properties", {})
    if not isinstance(before, dict) or not isinstance(after, dict):
        return "" if at else f"{path}: properties"
    for name in before:
        here = (*path, "properties", name)
        short = names.get(name, name)
        changed = any(change.path == here for change in adapted.changes)
        if (short != name or short not in after) and not changed:
            return f"{here}: gone or renamed"
        if short in after and (problem := unaccounted(before[name], after[short], here, adapted)):
            return problem
    for key in ("items", "additionalProperties"):
        if (key in sent) != (key in given):
            if not at:
                return f"{path}: {key}"
        elif problem := unaccounted(sent.get(key), given.get(key), (*path, key), adapted):
            return problem if not at else ""
    return ""


@pytest.mark.parametrize("name", PROFILES)
@QUICK
@given(schema=tops())
def test_what_is_sent_keeps_the_rules_is_always_the_same_and_every_difference_is_told(
    name: str, schema: Any
) -> None:
    before = repr(schema)
    adapted = adapt(definition(schema, "d" * 5000), PROFILES[name])
    assert not adapted.problem
    assert RULES[name]([function(adapted)]) is None
    assert not has_null(adapted.definition.parameters)
    text = json.dumps(adapted.definition.parameters, allow_nan=False)
    assert json.dumps(adapt(definition(schema, "d" * 5000), PROFILES[name]).definition.parameters) == text
    assert not unaccounted(schema, adapted.definition.parameters, (), adapted)
    assert repr(schema) == before, "the server's own schema was touched"


@pytest.mark.parametrize("name", PROFILES)
def test_a_schema_that_fits_everywhere_stays_as_it_is(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Which file."},
            "lines": {"type": "array", "items": {"type": "integer"}, "maxItems": 5},
            "mode": {"type": "string", "enum": ["r", "w"]},
        },
        "required": ["path", "lines", "mode"],
    }
    if name == "openai-strict":
        schema["additionalProperties"] = False
    tool = definition(schema)
    adapted = adapt(tool, PROFILES[name])
    assert adapted.definition.parameters == schema
    assert name == "openai-strict" or (adapted.definition is tool and not adapted.changes)


@pytest.mark.parametrize("name", PROFILES)
def test_the_tools_of_real_servers_fit_every_provider(name: str) -> None:
    lists = sorted(LISTS.glob("*.json"))
    assert len(lists) >= 20
    for path in lists:
        for number, tool in enumerate(json.loads(path.read_text())["tools"]):
            schema = tool.get("inputSchema") or {"type": "object"}
            sent = ToolDefinition(f"mcp__{path.stem}__t{number}", tool.get("description", ""), schema)
            adapted = adapt(sent, PROFILES[name])
            assert not adapted.problem
            assert RULES[name]([function(adapted)]) is None, (path.stem, tool["name"])
            assert not unaccounted(schema, adapted.definition.parameters, (), adapted)
