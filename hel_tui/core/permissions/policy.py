"""May this call run, must a person be asked, or is it refused?

Deny rules, then the level's ban on writing, then ask rules, then allow rules and approvals, then the level.
Not here: the dialog (a screen), hooks, what a rule fits (rules).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hel_tui.core.permissions.approvals import Approval, Approvals, approval_for, difference, fingerprint
from hel_tui.core.permissions.levels import Action, level_action, levels_that_may, levels_that_run
from hel_tui.core.permissions.pins import Pins
from hel_tui.core.permissions.rules import (
    BadRule,
    Effect,
    Rule,
    RuleScope,
    exact_rule,
    fits,
    parse_rule,
    parse_rules,
)
from hel_tui.core.protocol import AccessLevel
from hel_tui.core.store.places import Places
from hel_tui.core.store.settings import RuleTexts
from hel_tui.core.vocabulary import Json, Tool

_WHERE: dict[RuleScope, str] = {
    "session": "of this session",
    "project": "of the project",
    "user": "of your settings",
}
_CLOSED = ".hel"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may become of a call. `sentence` names the tool, why, and what would allow it."""

    action: Action
    sentence: str
    rule: str | None = None
    """The rule that decided; None when the level did."""
    by_level: bool = False
    """The level alone wants to be asked: no rule does, and nothing about the tool changed."""


class Policy:
    """The access level and all rules of a session. `level` may be set at any time."""

    def __init__(
        self,
        level: AccessLevel,
        approvals: Approvals,
        rules: Iterable[Rule] = (),
        *,
        pins: Pins,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.level = level
        self.problems: tuple[str, ...] = ()
        self.saved = ""
        """Folder of the session's saved results, which stays readable wherever it lies."""
        self._approvals = approvals
        self.pins = pins
        """Server tools the person let run, as they were then."""
        self._rules = tuple(rules)
        self._environ = os.environ if environ is None else environ

    @classmethod
    def load(
        cls,
        places: Places,
        project: Path,
        *,
        level: AccessLevel,
        rules: Iterable[RuleTexts] = (),
        environ: Mapping[str, str] | None = None,
    ) -> Policy:
        """Return the policy of `project` with the rules of settings files and what was approved before.

        What could not be used of them is in `problems`.
        """
        parsed, bad = parse_rules(rules)
        approvals = Approvals(places.state, project)
        policy = cls(level, approvals, parsed, pins=Pins(places.state, project), environ=environ)
        said = [f"The rule `{each.text}` was left out: {each.sentence}" for each in bad]
        policy.problems = (*said, *([approvals.problem] if approvals.problem else []))
        return policy

    def use(self, rules: Iterable[RuleTexts]) -> None:
        """Put the rules of settings files in the place of those so far."""
        parsed, _ = parse_rules(rules)
        self._rules = tuple(parsed)

    def turn_over(self, saved: str) -> None:
        """A new session began: what was allowed for the old one is not any more."""
        self.saved = saved
        self._approvals.reload()

    # ------------------------------------------------------------ one call

    def decide(self, tool: Tool, arguments: Json) -> Verdict:
        name = _name(tool)
        if not tool.server and _is_closed(tool, arguments, self.saved):
            return Verdict("refuse", f"{name} was refused: {_CLOSED} is hel's own and closed to the model.")
        if rule := self._first("deny", tool, arguments):
            return Verdict(
                "refuse",
                f"{name} was refused by the deny rule `{rule.text}` {_WHERE[rule.scope]}; "
                "only taking that rule away would allow it.",
                rule.text,
            )
        by_level = level_action(self.level, tool.access)
        if by_level == "refuse":
            return Verdict("refuse", self._refused_by_level(name, tool))
        if rule := self._first("ask", tool, arguments):
            return Verdict(
                "ask",
                f"{name} needs approval each time by the ask rule `{rule.text}` {_WHERE[rule.scope]}; "
                "only taking that rule away would let it run unasked.",
                rule.text,
            )
        if tool.server and self._is_another(tool):
            sentence = f"{name} needs approval: what it says of itself has changed since you let it run"
            return Verdict("ask", f"{sentence}; letting it run once in the app accepts it as it is now.")
        if rule := self._first("allow", tool, arguments):
            return Verdict("run", f"{name} is allowed by the rule `{rule.text}`.", rule.text)
        if approved := self._approved(tool):
            return Verdict("run", f"{name} is allowed by the rule `{approved}`.", approved)
        return self._by_level(by_level, tool, arguments)

    def _by_level(self, action: Action, tool: Tool, arguments: Json) -> Verdict:
        name, rule = _name(tool), exact_rule(tool, arguments)
        allow = f"an allow rule such as `{rule}`" if rule else "an allow rule"
        if action == "run" and tool.access == "execute" and tool.lacks_sandbox:
            sentence = f"{name} has no sandbox on this system and needs approval each time"
            return Verdict("ask", f"{sentence}; {allow} would let it run unasked.")
        if action == "run":
            return Verdict("run", f"{name} runs at access level {self.level}.")
        sentence = f"{name} needs approval at access level {self.level}"
        outdated = self._outdated(tool) is not None
        if outdated:
            sentence += " (it was approved before, but it has changed since)"
        levels = " or ".join(levels_that_run(tool.access))
        return Verdict(
            "ask",
            f"{sentence}; level {levels} or {allow} would let it run unasked.",
            by_level=not outdated,
        )

    def _refused_by_level(self, name: str, tool: Tool) -> str:
        what = "writes" if tool.access == "write" else "runs something"
        levels = " or ".join(levels_that_may(tool.access))
        return f"{name} was refused: it {what}, and the access level is {self.level}. Level {levels} may."

    def _first(self, effect: Effect, tool: Tool, arguments: Json) -> Rule | None:
        rules = (*self._rules, *self._approvals.rules()) if effect == "allow" else self._rules
        for rule in rules:
            if rule.effect == effect and fits(rule, tool, arguments, self._environ):
                return rule
        return None

    def _approved(self, tool: Tool) -> str:
        """Return the rule under which a server's tool was approved as it is now; empty when it was not."""
        held = self._approvals.held_for(tool.server, tool.raw) if tool.server else ()
        return next((approval.rule for approval in held if _is_as(approval, tool)), "")

    def _outdated(self, tool: Tool) -> Approval | None:
        """Return what was approved of a server's tool when that is not what it is now."""
        if not tool.server:
            return None
        pinned = self.pins.pinned(tool.server, tool.raw)
        known = self._approvals.held_for(tool.server, tool.raw)
        if pinned is not None:
            said = Approval("", "project", tool.server, tool.raw, pinned.identity, pinned.fingerprint)
            known = (replace(said, shown=pinned.shown),)
        return known[-1] if known and not any(_is_as(approval, tool) for approval in known) else None

    def _is_another(self, tool: Tool) -> bool:
        """Whether a server's tool does not say what it said when it was let run; how its server is
        configured does not count.
        """
        before = self._outdated(tool)
        return before is not None and before.fingerprint != fingerprint(tool)

    def change(self, tool: Tool) -> str:
        """Return a diff of what was approved of the tool and what it is now; empty when it is the same."""
        before = self._outdated(tool)
        return difference(before, tool) if before is not None else ""

    def dropped(self, before: Tool, after: Tool) -> int:
        """How many approvals that were given for `before` do not count for `after`."""
        held = self._approvals.held_for(before.server, before.raw)
        return sum(_is_as(one, before) and not _is_as(one, after) for one in held)

    def saw(self, tool: Tool, *, asked: bool) -> Callable[[], str] | None:
        """The tool is let run as it is now: from here on that is what it is compared with.

        Unasked (`asked` False) only the first time counts. Returns what writes it down, to be run in a
        thread; it gives a sentence when it could not.
        """
        if not tool.server or (not asked and self.pins.pinned(tool.server, tool.raw) is not None):
            return None
        return self.pins.pin(tool)

    # -------------------------------------------------------------- always

    def session_rule(self, tool: Tool, arguments: Json) -> str:
        """Return the rule that "allow for this session" would add; empty when it would change nothing."""
        rule = exact_rule(tool, arguments)
        return rule if rule and self._first("ask", tool, arguments) is None else ""

    def project_rule(self, tool: Tool, arguments: Json) -> str:
        """Return the rule that "always in this project" would write; empty when it would change nothing."""
        return self.session_rule(tool, arguments)

    def remember(self, rule: str, scope: RuleScope, tool: Tool) -> str:
        """Add an approval for `tool` under a rule that was offered for it.

        Returns a sentence when it was not added or not saved, else "".
        """
        parsed = parse_rule(rule, "allow", scope)
        if isinstance(parsed, BadRule):
            return f"The rule `{rule}` was not added: {parsed.sentence}"
        if not tool.server:
            is_about = tool.raw in parsed.tools
            return self._approvals.add(Approval(rule, scope)) if is_about else self._foreign(rule, tool)
        if rule != exact_rule(tool, {}):
            return self._foreign(rule, tool)
        return self._approvals.add(approval_for(tool, rule, scope))

    def _foreign(self, rule: str, tool: Tool) -> str:
        return f"The rule `{rule}` was not added: it is not about {_name(tool)} alone."


def _is_as(approval: Approval, tool: Tool) -> bool:
    """Return whether the tool and its server are what they were when it was approved."""
    return (approval.identity, approval.fingerprint) == (tool.identity, fingerprint(tool))


def _name(tool: Tool) -> str:
    return f"`{tool.server}.{tool.raw}`" if tool.server else f"`{tool.raw}`"


def _is_closed(tool: Tool, arguments: Json, saved: str) -> bool:
    """Return whether a built-in is pointed at hel's own folder by a path; `saved` is where results lie."""
    path: Any = arguments.get("path")
    paths = [path] if isinstance(path, str) else []
    if tool.raw != "bash":
        paths.append(tool.subject(arguments))
    if saved:
        paths = [each for each in paths if not each.startswith(f"{saved}/")]
    return any(part.casefold() == _CLOSED for each in paths for part in each.split("/"))
