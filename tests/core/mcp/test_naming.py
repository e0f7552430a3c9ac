"""Public names of tools: pure, short, clean, never two alike."""

from __future__ import annotations

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.mcp.naming import excluded_names, public_name

servers = st.from_regex(r"\A[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}\Z")
raws = st.text(max_size=100) | st.from_regex(r"\A[a-z_]{1,12}\Z")


def test_a_clean_short_name_is_kept() -> None:
    assert public_name("inventory", "lookup_port") == "mcp__inventory__lookup_port"


def test_a_cleaned_name_carries_a_hash_and_its_plain_twin_does_not() -> None:
    dotted, plain = public_name("s", "a.b"), public_name("s", "a_b")
    assert plain == "mcp__s__a_b"
    assert re.fullmatch(r"mcp__s__a_b_[0-9a-f]{12}", dotted)


def test_a_long_name_is_cut_to_51_and_a_hash() -> None:
    name = public_name("s", "n" * 70)
    assert len(name) == 64
    assert name.startswith("mcp__s__" + "n" * 43 + "_")


def test_an_unclear_border_between_server_and_tool_makes_no_equal_names() -> None:
    assert public_name("a_", "b") != public_name("a", "_b")


def test_a_tool_named_like_another_ones_hash_does_not_take_its_name() -> None:
    hashed = public_name("s", "a.b")
    assert public_name("s", hashed.removeprefix("mcp__s__")) != hashed


@given(servers, raws)
def test_every_name_is_at_most_64_of_the_allowed_characters(server: str, raw: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", public_name(server, raw))


@given(servers, raws, servers, raws)
def test_different_tools_have_different_names(server: str, raw: str, other: str, second: str) -> None:
    if (server, raw) != (other, second):
        assert public_name(server, raw) != public_name(other, second)


def test_exclude_leaves_out_what_would_have_to_be_changed_and_what_it_would_collide_with() -> None:
    reasons = excluded_names("s", ["a.b", "a_b", "n" * 70, "fine", "a"])
    assert sorted(reasons) == sorted(["a.b", "a_b", "n" * 70])
    assert "cannot be used as it is" in reasons["n" * 70]
    assert "the same as that of a.b" in reasons["a_b"] and "the same as that of a_b" in reasons["a.b"]


@given(servers, st.lists(raws, max_size=8), st.randoms())
def test_exclude_keeps_only_plain_different_names_in_whatever_order(
    server: str, names: list[str], chance: random.Random
) -> None:
    reasons = excluded_names(server, names)
    shuffled = names[:]
    chance.shuffle(shuffled)
    assert excluded_names(server, shuffled) == reasons
    kept = {raw for raw in names if raw not in reasons}
    assert all(public_name(server, raw) == f"mcp__{server}__{raw}" for raw in kept)
    assert len({public_name(server, raw) for raw in kept}) == len(kept)
