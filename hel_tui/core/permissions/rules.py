"""Permission rules: their text, and which calls one fits.

`mcp__server`, `mcp__server__tool`, `bash(git log:*)`, `edit(src/**)`, names of built-ins. Not here: which
rule decides (policy), where rules are kept (approvals, store.settings).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from hel_tui.core.permissions.commands import command_allowed, command_caught, exactly
from hel_tui.core.permissions.globs import escape, has_wildcard, matches, path_matches
from hel_tui.core.store.settings import RuleTexts
from hel_tui.core.vocabulary import Json, Tool

Effect = Literal["allow", "ask", "deny"]
RuleScope = Literal["session", "project", "user"]

_FAMILIES = {
    "edit": frozenset({"write_file", "search_replace"}),
    "write": frozenset({"write_file", "search_replace"}),
    "read": frozenset({"read_file", "glob", "grep"}),
}
_BUILTINS = frozenset(
    {"read_file", "write_file", "search_replace", "glob", "grep", "bash", "load_mcp_tool", "search_mcp_tools"}
)
_FORM = re.compile(r"(?P<name>[A-Za-z_*][\w*-]*)(?:\((?P<pattern>.*)\))?", re.DOTALL)
_MCP = "mcp__"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as written, taken apart."""

    text: str
    effect: Effect
    scope: RuleScope
    tools: frozenset[str] = frozenset()
    """Built-ins it is about; empty for an MCP rule."""
    pattern: str = ""
    """What the call's path or command must fit; empty fits all."""
    mcp: str = ""
    """What follows `mcp__`; `*` for any tool of any server."""
    is_for_all: bool = False
    """The rule `*`."""


@dataclass(frozen=True, slots=True)
class BadRule:
    text: str
    sentence: str


def parse_rule(text: str, effect: Effect, scope: RuleScope) -> Rule | BadRule:
    """Take a rule apart; what cannot be understood is a `BadRule` with a sentence, and fits nothing."""
    text = text.strip()
    if text.startswith(_MCP):
        return _mcp_rule(text, effect, scope)
    found = _FORM.fullmatch(text)
    if found is None:
        return BadRule(text, "a rule is NAME or NAME(PATTERN), such as bash(git log:*).")
    name, pattern = found["name"].lower(), found["pattern"]
    if name == "*":
        if effect == "allow" or pattern is not None:
            return BadRule(text, "`*` stands only in deny and ask; access level auto is what allows all.")
        return Rule(text, effect, scope, is_for_all=True)
    tools = _FAMILIES.get(name) or frozenset({name} & _BUILTINS)
    if not tools:
        near = difflib.get_close_matches(name, [*_BUILTINS, *_FAMILIES], 1)
        hint = f" Did you mean `{near[0]}`?" if near else ""
        return BadRule(text, f"no tool is called `{name}`; those of servers begin with `mcp__`.{hint}")
    if pattern is not None and not pattern.strip():
        return BadRule(text, "there is nothing between the brackets.")
    if pattern in ("*", "**", ":*"):
        pattern = None
    return Rule(text, effect, scope, tools, (pattern or "").strip())


def _mcp_rule(text: str, effect: Effect, scope: RuleScope) -> Rule | BadRule:
    body = text.removeprefix(_MCP)
    server = body.partition("__")[0]
    if not body or not server:
        return BadRule(text, "after `mcp__` comes the name of a server.")
    if effect == "allow" and has_wildcard(server):
        return BadRule(text, "an allow rule names its server; `*` for servers stands only in deny and ask.")
    return Rule(text, effect, scope, mcp=body)


def parse_rules(texts: Iterable[RuleTexts]) -> tuple[tuple[Rule, ...], tuple[BadRule, ...]]:
    """Take apart the rules of settings files. `texts` are the effective ones: see store.settings."""
    rules: list[Rule] = []
    bad: list[BadRule] = []
    for group in texts:
        lists: tuple[tuple[Effect, tuple[str, ...]], ...] = (
            ("allow", group.allow),
            ("ask", group.ask),
            ("deny", group.deny),
        )
        for effect, written in lists:
            for text in written:
                rule = parse_rule(text, effect, group.scope)
                if isinstance(rule, Rule):
                    rules.append(rule)
                else:
                    bad.append(rule)
    return tuple(rules), tuple(bad)


def fits(rule: Rule, tool: Tool, arguments: Json, environ: Mapping[str, str]) -> bool:
    """Return whether `rule` is about this call.

    Allow rules are read narrowly, deny and ask rules widely: in doubt the call is asked for or refused.
    """
    strict = rule.effect == "allow"
    if rule.is_for_all:
        return True
    if tool.server or rule.mcp:
        return bool(tool.server and rule.mcp) and _fits_mcp(rule.mcp, tool, strict)
    if tool.raw not in rule.tools:
        return False
    if not rule.pattern:
        return True
    subject = tool.subject(arguments)
    if tool.raw == "bash":
        return (command_allowed if strict else command_caught)(rule.pattern, subject)
    return bool(subject) and path_matches(rule.pattern, subject, environ, strict=strict)


def _fits_mcp(body: str, tool: Tool, strict: bool) -> bool:
    """Compare with server and raw name, or with the public name; each server alone, each tool alone.

    A server's name has no `__` in it, so the first one divides. Where names begin or end with `_` another
    reading exists: deny and ask take that one too.
    """
    divides = [found.start() for found in re.finditer("(?=__)", body)]
    for at in divides[:1] if strict else divides:
        server, raw = body[:at], body[at + len("__") :]
        is_tool = raw == tool.raw or matches(raw, tool.raw) or tool.definition.name == _MCP + body
        if is_tool and matches(server, tool.server):
            return True
    return (not divides or not strict) and matches(body, tool.server)


def exact_rule(tool: Tool, arguments: Json) -> str:
    """Return the rule that fits this call and as little else as can be; empty when there is none.

    For a tool of a server that tool, for a command the same line, for an edit the same file.
    """
    if tool.server:
        return tool.definition.name if tool.definition.name.startswith(_MCP) else ""
    subject = tool.subject(arguments)
    if tool.raw == "bash":
        return f"bash({exactly(subject)})" if subject.strip() else ""
    if tool.raw in _FAMILIES["edit"]:
        return f"edit(/{escape(subject)})" if subject and not subject.startswith("/") else ""
    return ""
