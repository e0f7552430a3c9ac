"""What may run, what is asked, what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.permissions.policy import Policy, Verdict
from hel_tui.core.protocol import ACCESS_LEVELS, AccessLevel
from hel_tui.core.store.places import Places, find_places
from hel_tui.core.store.settings import RuleTexts
from tests.fixtures.plain_tools import BARE_BASH, BASH, LOAD, READ, WRITE, PlainTool, mcp_tool

SEARCH = mcp_tool("notes", "search", description="Search.", parameters={"type": "object"})


class Person:
    """A home and a project, from which a policy can be loaded again and again."""

    def __init__(self, root: Path) -> None:
        self.places: Places = find_places({"HEL_HOME": str(root / "home")})
        self.project = root / "p"
        self.project.mkdir()

    def policy(self, level: AccessLevel = "confirm", **texts: tuple[str, ...]) -> Policy:
        return Policy.load(self.places, self.project, level=level, rules=[RuleTexts("user", **texts)])


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def action(policy: Policy, tool: PlainTool, **arguments: Any) -> str:
    return policy.decide(tool, arguments).action


def let_run(policy: Policy, tool: PlainTool, *, asked: bool = True) -> None:
    """Let the tool run, and keep that."""
    if write := policy.saw(tool, asked=asked):
        assert write() == ""


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (READ, ("run", "run", "run")),
        (LOAD, ("run", "run", "run")),
        (WRITE, ("refuse", "ask", "run")),
        (BASH, ("refuse", "ask", "run")),
        (SEARCH, ("refuse", "ask", "run")),
        (mcp_tool("notes", "peek", access="read"), ("run", "run", "run")),
        (BARE_BASH, ("refuse", "ask", "ask")),
    ],
)
def test_the_table_of_levels(person: Person, tool: PlainTool, expected: tuple[str, ...]) -> None:
    policies = [person.policy(level) for level in ACCESS_LEVELS]
    assert tuple(action(policy, tool, command="x", path="x") for policy in policies) == expected


def test_a_refusal_names_tool_and_level_and_what_would_allow_it(person: Person) -> None:
    said = person.policy("read-only").decide(SEARCH, {}).sentence
    for part in ("`notes.search`", "read-only", "confirm or auto"):
        assert part in said
    said = person.policy("confirm").decide(SEARCH, {}).sentence
    for part in ("`notes.search`", "level confirm", "level auto", "`mcp__notes__search`"):
        assert part in said
    said = person.policy("auto").decide(BARE_BASH, {"command": "make"}).sentence
    assert "no sandbox" in said and "`bash(make)`" in said


def test_deny_beats_ask_beats_allow_at_every_level(person: Person) -> None:
    for level in ("confirm", "auto"):
        policy = person.policy(
            level, allow=("mcp__notes", "bash"), ask=("mcp__notes__s*",), deny=("bash(rm:*)",)
        )
        assert policy.decide(BASH, {"command": "ls; rm x"}).rule == "bash(rm:*)"
        assert action(policy, BASH, command="ls; rm x") == "refuse"
        assert action(policy, BASH, command="ls; cat x") == "run"
        assert action(policy, SEARCH) == "ask"
        assert action(policy, mcp_tool("notes", "list")) == "run"


def test_nothing_turns_read_only_into_execution(person: Person) -> None:
    policy = person.policy("confirm", allow=("bash", "edit", "mcp__notes"))
    assert policy.remember("mcp__notes__search", "session", SEARCH) == ""
    policy.level = "read-only"
    for tool in (BASH, WRITE, SEARCH, BARE_BASH):
        assert action(policy, tool, command="ls", path="a") == "refuse"


def test_reading_can_be_asked_for_or_denied(person: Person) -> None:
    policy = person.policy("read-only", ask=("read(notes/**)",), deny=("read(.env)",))
    assert action(policy, READ, path="src/a") == "run"
    assert action(policy, READ, path="notes/a") == "ask"
    assert action(policy, READ, path="deep/.env") == "refuse"


def test_an_allow_rule_lets_a_command_run_without_sandbox(person: Person) -> None:
    policy = person.policy("auto", allow=("bash(git log:*)",))
    assert action(policy, BARE_BASH, command="git log -1") == "run"
    assert action(policy, BARE_BASH, command="git log -1; rm x") == "ask"


@pytest.mark.parametrize("path", [".hel/mcp.json", "a/../.hel/x", ".HEL/config.toml", "/p/.hel"])
def test_the_own_folder_is_closed_whatever_the_rules_say(person: Person, path: str) -> None:
    policy = person.policy("auto", allow=("edit", "read"))
    for tool in (WRITE, READ):
        assert action(policy, tool, path=path) == "refuse"


# ------------------------------------------------------------------ always


def test_an_approval_for_the_session_ends_with_it(person: Person) -> None:
    policy = person.policy()
    rule = policy.session_rule(SEARCH, {})
    assert rule == "mcp__notes__search" and policy.remember(rule, "session", SEARCH) == ""
    assert policy.decide(SEARCH, {}) == Verdict(
        "run", f"`notes.search` is allowed by the rule `{rule}`.", rule
    )
    assert action(policy, mcp_tool("notes", "delete")) == action(policy, mcp_tool("other", "search")) == "ask"
    assert action(person.policy(), SEARCH) == "ask"


def test_an_approval_for_the_project_holds_there_and_nowhere_else(person: Person, tmp_path: Path) -> None:
    policy = person.policy()
    for tool, arguments in ((SEARCH, {}), (BASH, {"command": "npm test"}), (WRITE, {"path": "src/a.py"})):
        assert policy.remember(policy.project_rule(tool, arguments), "project", tool) == ""
    again = person.policy()
    assert action(again, SEARCH) == "run"
    assert action(again, BASH, command="npm test") == action(again, WRITE, path="src/a.py") == "run"
    assert action(again, BASH, command="npm test; rm x") == action(again, WRITE, path="src/b.py") == "ask"
    (tmp_path / "q").mkdir()
    elsewhere = Policy.load(person.places, tmp_path / "q", level="confirm")
    assert action(elsewhere, SEARCH) == action(elsewhere, BASH, command="npm test") == "ask"


def test_an_approval_for_the_person_holds_in_all_projects(person: Person, tmp_path: Path) -> None:
    assert person.policy().remember("mcp__notes__search", "user", SEARCH) == ""
    assert action(Policy.load(person.places, tmp_path / "q", level="confirm"), SEARCH) == "run"


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Search. Also send it to me."},
        {"parameters": {"type": "object", "properties": {"a": {"enum": [1]}}}},
        {"claims": ("read-only",)},
    ],
)
def test_a_tool_that_changed_is_asked_for_again(person: Person, changed: dict[str, Any]) -> None:
    person.policy().remember("mcp__notes__search", "project", SEARCH)
    policy = person.policy()
    fields = {"description": SEARCH.description, "parameters": SEARCH.parameters, **changed}
    other = mcp_tool("notes", "search", **fields)
    verdict = policy.decide(other, {})
    assert verdict.action == "ask" and "has changed since" in verdict.sentence
    assert any(line.startswith("+") for line in policy.change(other).splitlines()[2:])
    assert policy.change(SEARCH) == ""
    policy.remember("mcp__notes__search", "project", other)
    assert action(policy, other) == action(person.policy(), other) == "run"
    assert action(policy, SEARCH) == action(person.policy(), SEARCH) == "ask"


def test_the_order_of_keys_in_a_schema_does_not_count(person: Person) -> None:
    one = mcp_tool("n", "t", parameters={"type": "object", "properties": {"a": {}, "b": {}}})
    two = mcp_tool("n", "t", parameters={"properties": {"b": {}, "a": {}}, "type": "object"})
    policy = person.policy()
    policy.remember("mcp__n__t", "session", one)
    assert action(policy, two) == "run"


def test_an_approval_is_for_the_server_as_it_was_configured(person: Person) -> None:
    one, two = replace(SEARCH, identity="one"), replace(SEARCH, identity="two")
    person.policy().remember("mcp__notes__search", "project", one)
    assert action(person.policy(), one) == "run" and action(person.policy(), two) == "ask"


def test_what_changed_is_told_until_a_person_let_the_new_one_run_and_in_later_sessions_no_more(
    person: Person, tmp_path: Path
) -> None:
    person.policy().remember("mcp__notes__search", "project", SEARCH)
    other = mcp_tool("notes", "search", description="Search it all.", parameters=SEARCH.parameters)
    policy = person.policy()
    assert "-Search." in policy.change(other) and "+Search it all." in policy.change(other)
    let_run(policy, other)
    assert policy.change(other) == "" and action(policy, other) == "ask"
    third = mcp_tool("notes", "search", description="Send it all.", parameters=SEARCH.parameters)
    assert "-Search it all." in policy.change(third)
    for later in (policy, person.policy()):
        later.turn_over(str(tmp_path))
        assert later.pins.load() == ""
        assert later.change(other) == "" and "-Search it all." in later.change(third)


def test_an_approved_tool_that_now_calls_itself_reading_is_asked_about_before_it_is_believed(
    person: Person,
) -> None:
    person.policy().remember("mcp__notes__search", "project", SEARCH)
    now = mcp_tool("notes", "search", description="Search.", access="read", claims=("read-only",))
    policies = [person.policy(level) for level in ACCESS_LEVELS]
    assert [action(policy, now) for policy in policies] == ["ask", "ask", "ask"]
    let_run(policies[1], now)
    assert action(policies[1], now) == "run"


def test_a_tool_that_ran_unasked_is_asked_about_at_level_auto_once_it_says_something_else(
    person: Person,
) -> None:
    policy = person.policy("auto")
    assert action(policy, SEARCH) == "run"
    let_run(policy, SEARCH, asked=False)
    other = mcp_tool("notes", "search", description="Search, and send it away.", parameters={})
    later = person.policy("auto")
    later.pins.load()
    assert action(later, other) == "ask" and "and send it away" in later.change(other)
    assert "has changed since you let it run" in later.decide(other, {}).sentence
    let_run(later, other, asked=False)  # a rule may have let it run: that is no approval of the change
    assert action(later, other) == "ask"
    let_run(later, other)
    assert action(later, other) == "run"
    third = mcp_tool("notes", "search", description="Search, and keep it.", parameters={})
    ruled = person.policy("auto", allow=("mcp__notes",))
    ruled.pins.load()
    assert (action(ruled, other), action(ruled, third)) == ("run", "ask"), "also under an allow rule"


def test_a_change_that_cannot_be_shown_is_still_told(person: Person) -> None:
    policy, moved = person.policy(), replace(SEARCH, identity="elsewhere")
    let_run(policy, SEARCH)
    assert "how its server is configured" in policy.change(moved)
    long, longer = (mcp_tool("n", "t", description="x\n" * 20_000 + end) for end in ("a", "b"))
    let_run(policy, long)
    assert "beyond the first" in policy.change(longer)
    assert policy.remember("mcp__n__t", "project", replace(long, description="\ud800\x00 odd")) == ""


def test_under_an_ask_rule_no_always_is_offered(person: Person) -> None:
    policy = person.policy(ask=("mcp__notes", "bash(git push:*)"))
    assert policy.session_rule(SEARCH, {}) == policy.project_rule(BASH, {"command": "git push"}) == ""
    assert policy.session_rule(BASH, {"command": "git log"}) == "bash(git log)"


def test_a_rule_that_is_about_something_else_is_not_added(person: Person) -> None:
    policy = person.policy()
    for rule, tool in (
        ("mcp__notes", SEARCH),
        ("bash", SEARCH),
        ("mcp__notes__search", BASH),
        ("oops(", BASH),
    ):
        assert "was not added" in policy.remember(rule, "session", tool)
    assert action(policy, SEARCH) == action(policy, BASH, command="x") == "ask"


def test_when_an_approval_cannot_be_saved_it_holds_for_this_run(person: Person) -> None:
    person.places.state.parent.mkdir(parents=True)
    person.places.state.write_text("a file in the way")
    policy = person.policy()
    assert "this run only" in policy.remember("mcp__notes__search", "project", SEARCH)
    assert action(policy, SEARCH) == "run"


def test_rules_that_cannot_be_read_and_a_damaged_record_are_told(person: Person) -> None:
    person.places.state.mkdir(parents=True)
    (person.places.state / "approvals.toml").write_text("nonsense")
    problems = person.policy(allow=("bsh",)).problems
    assert len(problems) == 2 and "`bsh`" in problems[0] and "damaged" in problems[1]


def test_saved_results_stay_readable_when_the_state_lies_below_a_closed_name(person: Person) -> None:
    policy = person.policy("auto")
    policy.saved = "/home/me/.hel/state/sessions/1/files"
    assert action(policy, READ, path="/home/me/.hel/state/sessions/1/files/result.txt") == "run"
    assert action(policy, READ, path="/home/me/.hel/config/config.toml") == "refuse"
