"""What each family of providers takes of JSON Schema in a tool's parameters.

Facts with their sources, and the family of a model. Not here: how a schema is made to fit (walk).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

HOUSE_DESCRIPTION = 4_000
"""Characters of a tool's description that a model gets at most, whatever its provider takes."""
HOUSE_PROPERTY_DESCRIPTION = 1_500
"""The same for a description inside the schema."""
HOUSE_DEPTH = 40
"""Levels of schemas inside each other; llama.cpp refuses 128 levels of JSON, three to a level of schema."""

_ANNOTATIONS = frozenset({"title", "description", "default"})
_STRUCTURE = frozenset({"type", "enum", "properties", "required", "items", "anyOf"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})

_COMMON_FORMATS = frozenset(
    {"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"}
)
_ANY = frozenset({"anyOf", "oneOf", "allOf"})
_KEY = r"[A-Za-z0-9_.-]{1,64}"
"""Anthropic: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"."""

AnyForm = Literal["empty", "union", "text"]
"""A value of any kind: `{}`, a list of kinds, or a plain value with JSON text for the others."""


@dataclass(frozen=True, slots=True)
class SchemaProfile:
    """The rules of one family. Rules all of them share are not switches: references are written out, nothing
    stands beside `type: object` at the top that combines schemas, and every schema is an object.
    """

    name: str
    keywords: frozenset[str] | None = None
    """Keywords that may appear; None for any."""
    combinators: frozenset[str] = _ANY
    """Those that may stand below the top."""
    anyof_alone: bool = False
    """Nothing may stand beside `anyOf`, not even a description."""
    type_lists: bool = True
    nullable: bool = False
    """Null is said by `nullable: true` instead of a type."""
    enums: Literal["any", "typed", "strings"] = "any"
    """Values of an enum: any, all of the schema's own type, or strings only."""
    constants: bool = True
    tuples: bool = False
    """`prefixItems` is understood."""
    formats: frozenset[str] | None = None
    """Formats of strings that may be named; None for any."""
    patterns: bool = True
    most: int = 0
    """The largest length or count a bound may name; 0 for any."""
    any_form: AnyForm = "empty"
    maps: Literal["object", "text"] = "object"
    """An object whose properties are not listed: as it is, or as JSON text."""
    needs_items: bool = True
    closed: bool = False
    """Every property is required and no others may come: optional ones are nullable instead."""
    property_name: str = ""
    """Regular expression a name matches whole; empty for any name without control characters."""
    max_depth: int = HOUSE_DEPTH
    max_properties: int = 0
    description: int = HOUSE_DESCRIPTION
    omits_empty: bool = False
    """A tool without parameters is sent without the field."""
    tool_limit: int = 0
    """Most tools in a request; 0 when there is no known limit."""

    def takes_name(self, name: str) -> bool:
        """Whether a property may have this name."""
        return re.fullmatch(self.property_name or _PRINTABLE, name) is not None

    def takes(self, keyword: str) -> bool:
        """Whether a schema may have this keyword."""
        return self.keywords is None or keyword in self.keywords


_PRINTABLE = "[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+"

OPENAI = SchemaProfile("openai", description=1_024, tool_limit=128)
"""Function calling without strict mode. "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/
'enum'/'not' at the top level", "array schema missing items", "object schema missing properties", "string too
long. Expected a string with maximum length 1024", "array too long. Expected an array with maximum length
128".
"""

STRICT = SchemaProfile(
    "openai-strict",
    keywords=_STRUCTURE
    | _ANNOTATIONS - {"default"}
    | _NUMBERS
    | _LENGTHS - {"minLength", "maxLength"}
    | {"pattern", "format", "additionalProperties"},
    combinators=frozenset({"anyOf"}),
    enums="typed",
    constants=False,
    formats=_COMMON_FORMATS - {"uri"},
    any_form="text",
    maps="text",
    closed=True,
    max_depth=10,
    max_properties=5_000,
    description=1_024,
    tool_limit=128,
)
"""OpenAI, guide "Structured outputs", "Supported schemas": all fields required, additionalProperties false in
every object, ten levels, 5,000 properties; no allOf, not, dependentRequired, if, patternProperties, default.
"""

ANTHROPIC = SchemaProfile("anthropic", tuples=True, property_name=_KEY)
"""Messages API: "input_schema does not support oneOf, allOf, or anyOf at the top level", "JSON schema is
invalid. It must match JSON Schema draft 2020-12", and the pattern of property names.
"""

GEMINI = SchemaProfile(
    "gemini",
    keywords=_STRUCTURE
    | _ANNOTATIONS
    | _LENGTHS
    | {"minimum", "maximum", "minProperties", "maxProperties", "pattern", "format", "nullable"},
    combinators=frozenset({"anyOf"}),
    anyof_alone=True,
    type_lists=False,
    nullable=True,
    enums="strings",
    constants=False,
    formats=frozenset({"date-time"}),
    any_form="text",
    maps="text",
    property_name=r"[A-Za-z_][A-Za-z0-9_.-]{0,63}",
    omits_empty=True,
    tool_limit=512,
)
"""Gemini API reference, `Schema` (a subset of OpenAPI 3.0; other fields: "Unknown name … Cannot find field"):
enum holds strings ("enum[0] (TYPE_STRING), 1"), type is one value ("Proto field is not repeating"),
"properties: should be non-empty for OBJECT type", "only 'enum' and 'date-time' are supported for STRING
type", "when using any_of, it must be the only field set". Vertex AI reference: at most 512
function declarations.
"""

DEEPSEEK = SchemaProfile(
    "deepseek", combinators=frozenset({"anyOf", "allOf"}), formats=_COMMON_FORMATS, tool_limit=128
)
"""DeepSeek API, "Create chat completion": parameters are a JSON Schema object, "a max of 128 functions are
supported"; guide "Tool calls" lists anyOf, and no oneOf.
"""

LLAMACPP = SchemaProfile(
    "llamacpp",
    combinators=frozenset({"anyOf", "oneOf"}),
    type_lists=False,
    enums="any",
    formats=frozenset({"date-time", "date", "time", "uuid"}),
    patterns=False,
    most=1_000,
    any_form="union",
    needs_items=False,
)
"""common/json-schema-to-grammar.cpp: all schemas become one grammar. Patterns must be anchored and know no
`\\d` and no lookahead; bounds are written out ("number of repetitions exceeds sane defaults"); allOf loses
all but properties and enums; `{}` means an object; newer versions alone read a list of types (Ollama: "cannot
unmarshal array into Go struct field"); an object with an empty list of properties takes none.
"""

GENERIC = SchemaProfile(
    "generic",
    keywords=_STRUCTURE | _ANNOTATIONS | _NUMBERS | _LENGTHS | {"format", "additionalProperties"},
    combinators=frozenset({"anyOf"}),
    type_lists=False,
    enums="typed",
    constants=False,
    formats=_COMMON_FORMATS,
    patterns=False,
    most=1_000,
    any_form="union",
    property_name=_KEY,
    description=1_024,
)
"""What all families but Gemini's take, for endpoints nobody knows. Moonshot's "MFJS", too: the type stands in
`anyOf`, never beside it; items are one schema; what is required is listed; every schema is an object.
"""

PROFILES: dict[str, SchemaProfile] = {
    profile.name: profile for profile in (OPENAI, STRICT, ANTHROPIC, GEMINI, DEEPSEEK, LLAMACPP, GENERIC)
}

_BY_PROVIDER = {
    "openai": OPENAI,
    "openai-chat": OPENAI,
    "openai-responses": OPENAI,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "google": GEMINI,
    "deepseek": DEEPSEEK,
    "llamacpp": LLAMACPP,
    "local": LLAMACPP,
    "ollama": LLAMACPP,
    "lmstudio": LLAMACPP,
}
_BY_HOST = {
    "api.openai.com": OPENAI,
    "api.anthropic.com": ANTHROPIC,
    "generativelanguage.googleapis.com": GEMINI,
    "api.deepseek.com": DEEPSEEK,
}


def profile_for(provider: str, model: str, base_url: str = "") -> SchemaProfile:
    """The family that answers for `provider/model` at `base_url`.

    The host decides where it is known. Then the provider's name; one that passes requests on (OpenRouter and
    the like) names the vendor before the model: `google/gemini-…`. Everything else is `generic`.
    """
    host = urlsplit(base_url).hostname or ""
    if (known := _BY_HOST.get(host)) is not None:
        return known
    if (known := _BY_PROVIDER.get(provider)) is not None:
        return known
    vendor, slash, _ = model.removeprefix("~").partition("/")
    known = _BY_PROVIDER.get(vendor.lower()) if slash else None
    return known if known is not None and known is not LLAMACPP else GENERIC
