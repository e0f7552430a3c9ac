"""What a server offers besides tools: resources, templates and prompts, read tolerantly.

Each entry is judged alone; a bad one is left out and counted. Not here: tools (listing), asking for pages
(connection), what the lists of all servers are together (shelf).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from hel_tui.core.mcp.listing import Ask, read_pages
from hel_tui.core.vocabulary import Json

URI_LENGTH = 8192
MOST = 10_000
MOST_ARGUMENTS = 100
NAME_LENGTH = 300
DESCRIPTION_LENGTH = 2_000
_VARIABLE = re.compile(r"\{[+#./;?&]?([^{}]*)\}")
_MODIFIER = re.compile(r"(?::\d+|\*)\Z")


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource as listed."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class TemplateSpec:
    """A template of resources as listed (RFC 6570)."""

    uri: str
    name: str
    description: str = ""
    mime: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its variables in order."""
        names: dict[str, None] = {}
        for group in _VARIABLE.findall(self.uri):
            names.update(dict.fromkeys(filter(None, (_MODIFIER.sub("", one) for one in group.split(",")))))
        return tuple(names)


@dataclass(frozen=True, slots=True)
class ArgumentSpec:
    """An argument of a prompt."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt as listed."""

    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[ArgumentSpec, ...] = ()


Spec = TypeVar("Spec", ResourceSpec, TemplateSpec, PromptSpec)


@dataclass(frozen=True, slots=True)
class Resources:
    """One generation of a server's resources and templates. `cut` says why there may be more."""

    resources: tuple[ResourceSpec, ...] = ()
    templates: tuple[TemplateSpec, ...] = ()
    cut: str = ""
    bad: int = 0
    """Entries that could not be read."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """One generation of a server's prompts."""

    prompts: tuple[PromptSpec, ...] = ()
    cut: str = ""
    bad: int = 0


async def read_resources(list_them: Ask, list_templates: Ask | None) -> Resources:
    """Read both lists. Errors of the askers pass through; without templates there is only one list."""
    items, cut = await read_pages(list_them, "resources", MOST)
    resources, bad = _judged(items, _resource, lambda one: one.uri)
    templates: tuple[TemplateSpec, ...] = ()
    if list_templates is not None:
        items, cut_there = await read_pages(list_templates, "resourceTemplates", MOST)
        templates, more = _judged(items, _template, lambda one: one.uri)
        cut, bad = cut or cut_there, bad + more
    return Resources(resources, templates, cut, bad)


async def read_prompts(ask: Ask) -> Prompts:
    """Read the prompts. Errors of `ask` pass through."""
    items, cut = await read_pages(ask, "prompts", MOST)
    prompts, bad = _judged(items, _prompt, lambda one: one.name)
    return Prompts(prompts, cut, bad)


def _judged(
    items: list[Any], read: Callable[[Json], Spec | None], key: Callable[[Spec], str]
) -> tuple[tuple[Spec, ...], int]:
    found: dict[str, Spec] = {}
    bad = 0
    for item in items:
        spec = read(item) if isinstance(item, dict) else None
        if spec is None or key(spec) in found:
            bad += 1
        else:
            found[key(spec)] = spec
    return tuple(found.values()), bad


def _resource(item: Json) -> ResourceSpec | None:
    uri = item.get("uri")
    if not isinstance(uri, str) or not uri or len(uri) > URI_LENGTH:
        return None
    size = item.get("size")
    return ResourceSpec(
        uri,
        _text(item, "title") or _text(item, "name") or uri,
        _text(item, "description", DESCRIPTION_LENGTH),
        _text(item, "mimeType"),
        size if isinstance(size, int) and 0 < size < 1 << 53 else 0,
    )


def _template(item: Json) -> TemplateSpec | None:
    uri = item.get("uriTemplate")
    if not isinstance(uri, str) or not uri or len(uri) > URI_LENGTH:
        return None
    name = _text(item, "title") or _text(item, "name") or uri
    return TemplateSpec(uri, name, _text(item, "description", DESCRIPTION_LENGTH), _text(item, "mimeType"))


def _prompt(item: Json) -> PromptSpec | None:
    name = item.get("name")
    if not isinstance(name, str) or not name or len(name) > URI_LENGTH:
        return None
    listed = item.get("arguments")
    arguments: dict[str, ArgumentSpec] = {}
    for one in listed[:MOST_ARGUMENTS] if isinstance(listed, list) else ():
        argument = one.get("name") if isinstance(one, dict) else None
        if isinstance(argument, str) and argument and argument not in arguments:
            arguments[argument] = ArgumentSpec(
                argument,
                _text(one, "title"),
                _text(one, "description", DESCRIPTION_LENGTH),
                one.get("required") is True,
            )
    return PromptSpec(
        name, _text(item, "title"), _text(item, "description", DESCRIPTION_LENGTH), tuple(arguments.values())
    )


def _text(item: Json, key: str, most: int = NAME_LENGTH) -> str:
    value = item.get(key)
    return value[:most] if isinstance(value, str) else ""
