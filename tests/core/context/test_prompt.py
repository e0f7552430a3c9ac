"""The system prompt: what it says of server tools, and how much."""

from __future__ import annotations

from pathlib import Path

from hel_tui.core.context.prompt import INVENTORY_HEADING, INVENTORY_RULE, inventory_section, system_prompt
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


def test_thousands_of_tools_stay_within_the_budget_and_those_left_out_are_counted() -> None:
    many = [(f"mcp__big__tool_{n:04}", "Reads one of the many tables of the warehouse.") for n in range(5000)]
    few = [("mcp__small__one", "Does one."), ("mcp__small__two", "Does two.")]
    section = inventory_section(many + few, BUDGET)
    assert estimate_tokens(section) < BUDGET * 1.1
    listed = [line for line in section.splitlines() if line.startswith("- ")]
    assert listed[-2:] == ["- mcp__small__one: Does one.", "- mcp__small__two: Does two."]
    left_out = len(many) + len(few) - len(listed)
    assert f"{left_out:,} more tools are not listed here, by server: big {left_out:,}." in section
    assert listed == sorted(listed)
    assert section == inventory_section(many + few, BUDGET)
