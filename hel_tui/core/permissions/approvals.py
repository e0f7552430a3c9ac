"""Approvals a person gave with "always", kept for this run or in the state folder.

One for a tool of a server holds for that server as it is configured, that tool's own name and its
definition: what changes asks again. Not here: rules in settings files (rules), what decides (policy).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hel_tui.core.permissions.rules import Rule, RuleScope, parse_rule
from hel_tui.core.store.atomic import Document, read_toml, update_toml
from hel_tui.core.vocabulary import Tool

FILE = "approvals.toml"
MAX_TOLD = 16_000


@dataclass(frozen=True, slots=True)
class Approval:
    """One "always". For a built-in, `rule` says what fits; for a server's tool the other fields do."""

    rule: str
    scope: RuleScope
    server: str = ""
    tool: str = ""
    identity: str = ""
    """Hash of how the server is configured."""
    fingerprint: str = ""
    """Hash of the tool's definition."""
    shown: str = ""
    """What the tool said of itself, for a diff when that changes; bounded."""


def fingerprint(tool: Tool) -> str:
    """Return a hash of what a tool says of itself: description, schema, claims. Key order does not count."""
    definition = tool.definition
    said = {"d": definition.description, "s": definition.parameters, "c": list(tool.claims)}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def told(tool: Tool) -> str:
    """Return what a tool says of itself as text for a diff, at most `MAX_TOLD` characters."""
    definition = tool.definition
    schema = json.dumps(definition.parameters, indent=2, sort_keys=True, ensure_ascii=False, default=str)
    text = "\n".join((definition.description, "", *tool.claims, schema))
    return text[:MAX_TOLD].encode("utf-8", "backslashreplace").decode()


def approval_for(tool: Tool, rule: str, scope: RuleScope) -> Approval:
    """Return the approval of a server's tool as it is now."""
    return Approval(rule, scope, tool.server, tool.raw, tool.identity, fingerprint(tool), told(tool))


def difference(before: Approval, tool: Tool) -> str:
    """Return a unified diff of what a tool said when it was approved and says now; never empty."""
    import difflib

    if before.fingerprint == fingerprint(tool):
        return "# the tool says the same as when it was approved; how its server is configured changed"
    if not before.shown:
        return "# what the tool said when it was approved was not kept"
    then, now = before.shown.splitlines(), told(tool).splitlines()
    lines = list(difflib.unified_diff(then, now, "approved", "now", lineterm="", n=2))
    return "\n".join(lines) or f"# it differs beyond the first {MAX_TOLD} characters"


class Approvals:
    """What was approved for one project, for all projects of the person, and for this run."""

    def __init__(self, state: Path, project: Path) -> None:
        self._path = state / FILE
        self._project = os.path.realpath(project)
        self._held: list[Approval] = []
        self._rules: list[Rule] = []
        self.problem = self.reload()

    def reload(self) -> str:
        """Hold what is kept, and nothing of the session. A sentence when it cannot be read."""
        document, problem = read_toml(self._path)
        self._held, self._rules = [], []
        for approval in self._kept(document):
            self._hold(approval)
        return problem

    def rules(self) -> tuple[Rule, ...]:
        """Return the approvals for built-ins, as allow rules."""
        return tuple(self._rules)

    def held_for(self, server: str, tool: str) -> tuple[Approval, ...]:
        """Return the approvals for a server's tool, whatever its definition was then."""
        return tuple(each for each in self._held if (each.server, each.tool) == (server, tool))

    def add(self, approval: Approval) -> str:
        """Hold an approval and save it unless it is for the session only; a sentence when that failed."""
        about = (approval.server, approval.tool)
        if approval.server:
            self._held = [each for each in self._held if (each.server, each.tool) != about]
        self._hold(approval)
        if approval.scope == "session":
            return ""
        failed = update_toml(self._path, lambda document: self._keep(document, approval))
        return "" if failed is None else f"Approved for this run only. {failed.sentence}"

    def _hold(self, approval: Approval) -> None:
        if approval.server:
            self._held.append(approval)
            return
        rule = parse_rule(approval.rule, "allow", approval.scope)
        if isinstance(rule, Rule) and not rule.mcp:
            self._rules.append(rule)

    def _keep(self, document: Document, approval: Approval) -> None:
        """Put the approval into the document, in the place of an older one for the same tool."""
        row: dict[str, Any] = {key: value for key, value in asdict(approval).items() if value}
        if approval.scope == "project":
            row["project"] = self._project
        about = ("scope", "project") + (("server", "tool") if approval.server else ("rule",))
        rows = document.get("approval")
        others = [
            each
            for each in (rows if isinstance(rows, list) else [])
            if not isinstance(each, dict) or any(each.get(key) != row.get(key) for key in about)
        ]
        document["version"] = 1
        document["approval"] = [*others, row]

    def _kept(self, document: Document) -> Iterable[Approval]:
        rows = document.get("approval")
        for row in rows if isinstance(rows, list) else []:
            if not isinstance(row, Mapping) or not isinstance(row.get("rule"), str):
                continue
            scope: RuleScope = "user" if row.get("scope") == "user" else "project"
            if scope == "project" and row.get("project") != self._project:
                continue
            names = ("server", "tool", "identity", "fingerprint", "shown")
            yield Approval(row["rule"], scope, *(str(row.get(name, "")) for name in names))
