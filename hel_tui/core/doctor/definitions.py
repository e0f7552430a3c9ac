"""What can be found in a server's definitions without asking it anything: names, words, claims, schemas.

Pure functions. Not here: reading lists and how the server behaves (behaviour).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from hel_tui.core.counts import counted
from hel_tui.core.mcp.listing import ToolSpec
from hel_tui.core.mcp.naming import public_name
from hel_tui.core.mcp.suspicion import suspicions
from hel_tui.core.models.schemas.adapt import Adaptations
from hel_tui.core.models.schemas.profile import PROFILES, STRICT
from hel_tui.core.protocol import Finding
from hel_tui.core.store.redact import head
from hel_tui.core.vocabulary import Json, ToolDefinition, estimate_tokens

Mask = Callable[[str], str]

LONG_DESCRIPTION = 1_024
"""Characters that the strictest provider takes (OpenAI, function calling)."""
COSTLY = 1_500
"""Estimated tokens of one definition that are a lot: it goes along with every request once loaded."""
LONG_NAME = 128
"""Characters a tool's name should have at most (specification 2025-11-25, tools: tool names)."""
_NAME = re.compile(r"[A-Za-z0-9_.\-/]+")
MOST_CHANGES = 5
"""Changes of one tool for one family that are told one by one."""

_CHANGING = re.compile(
    r"^(delete|remove|drop|destroy|erase|purge|write|update|create|insert|set|put|patch|post|send|move|rename|"
    r"kill|stop|reset|overwrite|execute|run|install|uninstall|upload|publish|deploy|merge|commit|push)(?![a-z])",
    re.IGNORECASE,
)
_DESTROYING = re.compile(
    r"^(delete|remove|drop|destroy|erase|purge|overwrite|reset|kill)(?![a-z])", re.IGNORECASE
)
_READING = re.compile(
    r"^(get|list|read|search|find|show|describe|lookup|count|query)(?![a-z])", re.IGNORECASE
)


def definitions(server: str, tools: Sequence[ToolSpec], mask: Mask = str) -> Iterator[Finding]:
    """What is found in the tools of a server; one line saying so for each topic that is well.

    `mask` takes secrets out of what is quoted in part; whole quotations are the caller's to mask.
    """
    topics = (
        ("definitions", _unusable, "all definitions can be used"),
        ("names", lambda tools: _names(server, tools), "every name is clean, short and used once"),
        ("descriptions", _words, "every tool and every argument is described"),
        ("injection", _suspicious, "nothing in the words looks like an order to the model"),
        ("annotations", lambda tools: _claims(tools, mask), "no claim contradicts a name"),
        ("cost", lambda tools: _cost(server, tools), f"no definition costs more than {COSTLY:,} tokens"),
        (
            "schema",
            lambda tools: _schemas(tools, mask),
            "every provider hel knows takes the schemas as they are",
        ),
        ("output", lambda tools: _outputs(tools, mask), "output schemas are valid"),
    )
    for topic, look, fine in topics:
        found = list(look(tools)) if tools else []
        yield from found
        if tools and not found:
            yield Finding("ok", topic, fine)


def _unusable(tools: Sequence[ToolSpec]) -> Iterator[Finding]:
    for tool in tools:
        if tool.problem:
            yield Finding(
                "error",
                "definitions",
                f"it cannot be offered: {tool.problem}",
                tool=tool.raw,
                mend="inputSchema must be a JSON Schema object with type object",
            )
        elif tool.sent is None:
            yield Finding(
                "warning",
                "definitions",
                "it has no inputSchema, which the specification requires",
                tool=tool.raw,
                mend='send {"type": "object"} for a tool without arguments',
            )


def _names(server: str, tools: Sequence[ToolSpec]) -> Iterator[Finding]:
    for raw, count in Counter(tool.raw for tool in tools if tool.raw).items():
        public = public_name(server, raw)
        if count > 1:
            yield Finding("error", "names", f"it is listed {count} times", tool=raw, mend="list it once")
        if len(raw) > LONG_NAME or _NAME.fullmatch(raw) is None:
            sentence = f"its name is not at most {LONG_NAME} of A-Z a-z 0-9 _ - . /"
            yield Finding("warning", "names", sentence, tool=raw, mend="rename it")
        elif public != f"mcp__{server}__{raw}":
            yield Finding(
                "info",
                "names",
                f"the model knows it as {public}: with the server's name it has characters or a length "
                "that providers refuse",
                tool=raw,
                mend="a shorter name of A-Z a-z 0-9 _ - stays as it is",
            )
    folded: dict[str, set[str]] = {}
    for tool in tools:
        folded.setdefault(re.sub(r"[^a-z0-9]", "", tool.raw.lower()), set()).add(tool.raw)
    for same in folded.values():
        if len(same) > 1:
            names = ", ".join(sorted(same))
            yield Finding(
                "warning", "names", f"these names are easily confused: {names}", mend="tell them apart"
            )


def _words(tools: Sequence[ToolSpec]) -> Iterator[Finding]:
    for tool in tools:
        length = len(tool.description)
        if not tool.description.strip():
            sentence = "it has no description, so the model has only its name to go by"
            yield Finding(
                "warning", "descriptions", sentence, tool=tool.raw, mend="say what it does and when"
            )
        elif length > LONG_DESCRIPTION:
            sentence = f"its description has {length:,} characters; some providers take {LONG_DESCRIPTION:,}"
            yield Finding("warning", "descriptions", sentence, tool=tool.raw, mend="say it shorter")
        properties = tool.parameters.get("properties")
        bare = [
            name
            for name, schema in (properties.items() if isinstance(properties, dict) else ())
            if isinstance(schema, dict) and not schema.get("description") and "$ref" not in schema
        ]
        if bare:
            yield Finding(
                "info",
                "descriptions",
                f"{len(bare)} of its arguments have no description: {', '.join(bare[:5])}",
                tool=tool.raw,
                path=f"properties.{bare[0]}",
                mend="say what each means, with its unit and an example",
            )


def _suspicious(tools: Sequence[ToolSpec]) -> Iterator[Finding]:
    for tool in tools:
        for phrase in suspicions(tool.raw, tool.description, tool.parameters):
            yield Finding(
                "error",
                "injection",
                phrase,
                tool=tool.raw,
                mend="clients warn of such words: say what the tool does, no more",
            )


def _claims(tools: Sequence[ToolSpec], mask: Mask) -> Iterator[Finding]:
    """Annotations that contradict each other or the name (specification, ToolAnnotations)."""
    for tool in tools:
        claims = tool.annotations
        words = [tool.raw, *re.split(r"[_\-./]|(?<=[a-z])(?=[A-Z])", tool.raw)]
        is_read = claims.get("readOnlyHint") is True
        if is_read and any(map(_CHANGING.match, words)) and not _READING.match(tool.raw):
            sentence = "it claims to be read-only, and its name says that it changes something"
            yield Finding(
                "warning", "annotations", sentence, tool=tool.raw, mend="drop readOnlyHint, or rename it"
            )
        if is_read and claims.get("destructiveHint") is True:
            sentence = "it claims to be read-only and destructive at once"
            yield Finding("warning", "annotations", sentence, tool=tool.raw, mend="keep the one that is true")
        if claims.get("destructiveHint") is False and any(map(_DESTROYING.match, words)):
            sentence = "it claims to destroy nothing, and its name says that it does"
            yield Finding(
                "warning", "annotations", sentence, tool=tool.raw, mend="drop destructiveHint: false"
            )
        if claims.get("readOnlyHint") is False and _READING.match(tool.raw):
            sentence = "its name says that it reads, and it claims to change something"
            yield Finding(
                "info", "annotations", sentence, tool=tool.raw, mend="readOnlyHint: true where it only reads"
            )
        for name, value in claims.items():
            if name.endswith("Hint") and not isinstance(value, bool):
                sentence = f"{name} is {head(json.dumps(value), 40, mask)}, not true or false"
                yield Finding("warning", "annotations", sentence, tool=tool.raw, mend="send a boolean")


def _definition(server: str, tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(public_name(server, tool.raw), tool.description, tool.parameters)


def _cost(server: str, tools: Sequence[ToolSpec]) -> Iterator[Finding]:
    total = 0
    for tool in tools:
        body = {"name": tool.raw, "description": tool.description, "parameters": tool.parameters}
        tokens = estimate_tokens(json.dumps(body, ensure_ascii=False, default=str))
        total += tokens
        if tokens > COSTLY:
            sentence = f"its definition costs about {tokens:,} tokens in every request"
            yield Finding(
                "warning", "cost", sentence, tool=tool.raw, mend="shorten descriptions, split the tool"
            )
    if total > COSTLY * 10:
        yield Finding("info", "cost", f"all definitions of {server} together cost about {total:,} tokens")


def _schemas(tools: Sequence[ToolSpec], mask: Mask) -> Iterator[Finding]:
    """Which family of providers would refuse which schema as it is, where, and what hel does about it."""
    adaptations, strict = Adaptations(), 0
    seen: dict[str, dict[tuple[str, str], list[str]]] = {}
    """By what is changed, by (tool, place): for whom."""
    for tool in tools:
        if tool.problem:
            continue
        yield from _draft(tool.raw, tool.parameters, "schema", mask)
        for profile in PROFILES.values():
            adapted = adaptations.get(_definition("server", tool), profile)
            if adapted.problem:
                yield Finding(
                    "error",
                    "schema",
                    f"it cannot be offered: {adapted.problem}",
                    tool=tool.raw,
                    profile=profile.name,
                    mend="make the schema smaller and flatter",
                )
            told = [change for change in adapted.changes if change.rule != "description"]
            if profile is STRICT:  # nearly every schema is changed for it, and only who asks for it meets it
                strict += bool(told)
                continue
            for change in told[:MOST_CHANGES]:
                sentence = change.sentence.replace(profile.name, "the provider")
                places = seen.setdefault(sentence, {})
                places.setdefault((tool.raw, change.place or "(top)"), []).append(profile.name)
    for sentence, places in seen.items():
        yield _changed(sentence, places)
    if strict:
        sentence = (
            f"OpenAI's strict mode takes {strict} of {counted(len(tools), 'schema')} only after changes"
        )
        yield Finding("info", "schema", sentence, profile=STRICT.name)


def _changed(sentence: str, places: dict[tuple[str, str], list[str]]) -> Finding:
    """One kind of change, wherever it is made."""
    (tool, path), *others = places
    profiles = dict.fromkeys(name for names in places.values() for name in names)
    return Finding(
        "info",
        "schema",
        sentence,
        tool=tool,
        path=path,
        profile=", ".join(profiles),
        mend="hel changes it on the way; a client that does not is refused",
        also=tuple(f"{other} {where}" for other, where in others),
    )


def _outputs(tools: Sequence[ToolSpec], mask: Mask) -> Iterator[Finding]:
    for tool in tools:
        if tool.output is not None:
            yield from _draft(tool.raw, tool.output, "output", mask)


def _draft(raw: str, schema: Json, topic: str, mask: Mask) -> Iterator[Finding]:
    """Where it is no JSON Schema of the draft it names, else 2020-12 (specification, JSON Schema usage)."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path) or "(top)"
        yield Finding(
            "error",
            topic,
            f"it is no valid JSON Schema: {head(error.message, 200, mask)}",
            tool=raw,
            path=place,
            mend="see https://json-schema.org/draft/2020-12",
        )
    except Exception as error:  # a schema that breaks the validator is one that breaks others
        yield Finding("error", topic, f"its schema cannot be checked: {type(error).__name__}", tool=raw)
