"""The system prompt: what it says of server tools, and how much."""

from __future__ import annotations

from pathlib import Path

from hel_tui.core.context.prompt import (
    INVENTORY_HEADING,
    INVENTORY_RULE,
    NEWS_HEADING,
    SEARCH_RULE,
    inventory_news,
    inventory_section,
    is_large,
    system_prompt,
)
from hel_tui.core.vocabulary import estimate_tokens

BUDGET = 2000


def test_without_server_tools_nothing_is_said_of_them() -> None:
    prompt = system_prompt(
        project=Path("/p"), platform="linux", instructions="", inventory=(), inventory_budget=BUDGET
    )
    assert "MCP" not in prompt and "load_mcp_tool" not in prompt


def test_a_small_inventory_is_listed_whole() -> None:
    section = inventory_section([("mcp__a__x", "Does x."), ("mcp__b__y", "")], BUDGET)
    assert section == f"{INVENTORY_HEADING}\n- mcp__a__x: Does x.\n- mcp__b__y: \n\n{INVENTORY_RULE}"


MANY = [(f"mcp__big__tool_{n:04}", "Reads one of the many tables of the warehouse.") for n in range(5000)]
FEW = [("mcp__small__one", "Does one."), ("mcp__small__two", "Does two.")]


def test_thousands_of_tools_are_told_as_servers_with_counts_within_the_budget() -> None:
    section = inventory_section(MANY + FEW, BUDGET)
    assert estimate_tokens(section) < BUDGET
    lines = [line for line in section.splitlines() if line.startswith("- ")]
    assert lines[0].startswith("- big: 5,000 tools, such as tool_0000, tool_0001,")
    assert lines[1] == "- small: 2 tools, one, two"
    assert SEARCH_RULE in section and INVENTORY_RULE not in section
    assert section == inventory_section(MANY + FEW, BUDGET)


def test_an_inventory_is_large_when_it_would_not_fit_whole() -> None:
    assert is_large(MANY, BUDGET) and not is_large(FEW, BUDGET) and not is_large([], BUDGET)


def test_hundreds_of_servers_stay_within_the_budget_and_the_others_are_counted() -> None:
    servers = [(f"mcp__server-{n:04}__{tool}", "Does it.") for n in range(900) for tool in ("get", "put")]
    section = inventory_section(servers, BUDGET)
    assert estimate_tokens(section) < BUDGET
    named = sum(line.endswith("2 tools") for line in section.splitlines())
    assert f"- and {900 - named} more servers" in section


def test_news_name_what_came_what_is_said_anew_and_what_went() -> None:
    before = [("mcp__a__x", "Does x."), ("mcp__a__y", "Does y."), ("mcp__b__z", "Does z.")]
    after = [("mcp__a__x", "Does x."), ("mcp__a__y", "Does more."), ("mcp__c__w", "Does w.")]
    news = inventory_news(before, after, BUDGET)
    assert news.startswith(f"{NEWS_HEADING}\n- mcp__a__y: Does more.\n- mcp__c__w: Does w.\n")
    assert "No longer there: mcp__b__z." in news and "mcp__a__x" not in news
    assert news.endswith(INVENTORY_RULE)
    assert inventory_news(after, after, BUDGET) == ""


def test_news_of_thousands_of_tools_are_counted() -> None:
    came, went = inventory_news(FEW, MANY + FEW, BUDGET), inventory_news(MANY + FEW, FEW, BUDGET)
    assert estimate_tokens(came) < BUDGET and "- big: 5,000 tools, such as" in came and SEARCH_RULE in came
    assert went == f"{NEWS_HEADING}\nNo longer there: 5,000 of big."


def test_news_are_shortened_only_where_the_search_is_there_to_find_the_rest() -> None:
    some = [
        (f"mcp__jira__tool_{n:03}", "Does a thing with an issue of a project, and says so.")
        for n in range(60)
    ]
    assert not is_large(some, BUDGET)
    news = inventory_news([], some, BUDGET)
    assert all(name in news for name, _ in some) and SEARCH_RULE not in news
