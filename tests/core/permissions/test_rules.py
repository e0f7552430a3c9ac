"""The text of permission rules, and what they fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.permissions.rules import BadRule, Effect, Rule, exact_rule, fits, parse_rule, parse_rules
from hel_tui.core.store.settings import RuleTexts
from tests.fixtures.plain_tools import BASH, LOAD, READ, REPLACE, WRITE, PlainTool, mcp_tool


def rule(text: str, effect: Effect = "allow") -> Rule:
    parsed = parse_rule(text, effect, "user")
    assert isinstance(parsed, Rule), parsed
    return parsed


def does(text: str, tool: PlainTool, effect: Effect = "allow", **arguments: str) -> bool:
    return fits(rule(text, effect), tool, arguments, {})


@pytest.mark.parametrize("text", ["mcp__notes", "mcp__notes__*", "mcp__notes__search"])
def test_a_server_a_wildcard_or_a_tool_can_be_named(text: str) -> None:
    assert does(text, mcp_tool("notes", "search"))
    assert not does(text, mcp_tool("other", "search"))
    assert not does(text, mcp_tool("note", "s__search"))


def test_a_tool_is_named_by_its_raw_or_its_public_name_and_no_other() -> None:
    dotted = mcp_tool("s", "a.b")
    assert does("mcp__s__a.b", dotted) and does(dotted.definition.name, dotted)
    assert not does("mcp__s__a_b", dotted)
    assert not does("mcp__s__a.b", mcp_tool("s", "a_b"))
    assert not does("mcp__s__a", mcp_tool("s", "A"))


def test_part_of_a_name_can_be_a_wildcard() -> None:
    assert does("mcp__s__get_*", mcp_tool("s", "get_x"))
    assert not does("mcp__s__get_*", mcp_tool("s", "set_x"))


def test_where_names_could_be_divided_two_ways_only_refusing_takes_both() -> None:
    for tool in (mcp_tool("a", "_x"), mcp_tool("a_", "x")):
        assert does("mcp__a___x", tool, "deny")
    assert does("mcp__a___x", mcp_tool("a", "_x"))
    assert not does("mcp__a___x", mcp_tool("a_", "x"))


def test_all_servers_can_be_denied_but_not_allowed() -> None:
    assert does("mcp__*", mcp_tool("any", "x"), "deny") and does("*", BASH, "ask")
    for text in ("mcp__*", "mcp__*__read", "mcp__a*", "*", "mcp__"):
        assert isinstance(parse_rule(text, "allow", "user"), BadRule)


def test_a_rule_for_servers_is_never_about_built_ins_nor_the_reverse() -> None:
    assert not does("bash", mcp_tool("s", "bash")) and not does("mcp__bash", BASH, "deny")


def test_edit_is_about_both_editing_tools_and_read_about_reading() -> None:
    for tool in (WRITE, REPLACE):
        assert does("edit(src/**)", tool, path="src/a.py") and does("Edit", tool, path="x")
        assert not does("edit(src/**)", tool, path="lib/a.py")
    assert does("write_file", WRITE) and not does("write_file", REPLACE)
    assert does("read(secrets/**)", READ, "deny", path="secrets/a")
    assert not does("read(secrets/**)", WRITE, "deny", path="secrets/a")
    assert not does("edit(src/**)", WRITE)


def test_a_command_rule_is_narrow_for_allow_and_wide_for_deny() -> None:
    line = "git log; rm -rf x"
    assert not does("bash(git log:*)", BASH, command=line)
    assert does("bash(git log:*)", BASH, "deny", command=line)
    assert does("bash(rm:*)", BASH, "ask", command=line)
    for text in ("bash", "Bash", "bash(*)", "bash(:*)"):
        assert does(text, BASH, command=line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bsh(x)", "`bash`"),
        ("bash()", "nothing between"),
        ("bash(x", "NAME(PATTERN)"),
        ("", "NAME"),
        ("mcp__", "name of a server"),
        ("notes__search", "begin with `mcp__`"),
    ],
)
def test_what_is_no_rule_is_a_sentence(text: str, said: str) -> None:
    bad = parse_rule(text, "deny", "user")
    assert isinstance(bad, BadRule) and said in bad.sentence


def test_rules_of_files_keep_effect_and_scope_and_bad_ones_stand_aside() -> None:
    rules, bad = parse_rules(
        [RuleTexts("user", allow=("bash(ls:*)", "oops(")), RuleTexts("project", ask=("edit",), deny=("*",))]
    )
    assert [(each.text, each.effect, each.scope) for each in rules] == [
        ("bash(ls:*)", "allow", "user"),
        ("edit", "ask", "project"),
        ("*", "deny", "project"),
    ]
    assert [each.text for each in bad] == ["oops("]


@given(st.text(max_size=30).filter(lambda text: text.strip() != ""), st.text(max_size=30))
def test_the_exact_rule_of_a_command_fits_that_command_only(command: str, other: str) -> None:
    text = exact_rule(BASH, {"command": command})
    assert does(text, BASH, command=command)
    assert does(text, BASH, command=other) is (command.strip() == other.strip())


@given(st.text(alphabet="ab*?\\", min_size=1, max_size=6), st.text(alphabet="ab*?\\", min_size=1, max_size=6))
def test_the_exact_rule_of_an_edit_fits_that_file_only(name: str, other: str) -> None:
    text = exact_rule(WRITE, {"path": f"src/{name}"})
    assert does(text, WRITE, path=f"src/{name}") and does(text, REPLACE, path=f"src/{name}")
    assert does(text, WRITE, path=f"src/{other}") is (name == other)
    assert not does(text, WRITE, path=f"lib/src/{name}")


def test_tools_that_read_and_files_outside_have_no_rule_to_offer() -> None:
    assert exact_rule(READ, {"path": "a"}) == exact_rule(LOAD, {}) == ""
    assert exact_rule(WRITE, {"path": "/etc/x"}) == ""
    assert exact_rule(mcp_tool("s", "a"), {}) == "mcp__s__a"
