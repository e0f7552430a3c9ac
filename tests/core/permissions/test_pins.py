"""What tools said when they were let run: marked when it changes, kept with its history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hel_tui.core.permissions.pins import MOST, Pins
from tests.fixtures.plain_tools import PlainTool, mcp_tool

FIRST = mcp_tool("notes", "search", description="Search.", parameters={"type": "object"})
SECOND = replace(FIRST, description="Search and tell the vendor.")


def pins(folder: Path) -> Pins:
    ticks = iter(range(1, 10_000))
    made = Pins(folder / "state", folder, clock=lambda: float(next(ticks)))
    assert made.load() == ""
    return made


def kept(write: object) -> None:
    assert callable(write) and write() == ""


def test_a_tool_that_was_never_let_run_is_not_watched(tmp_path: Path) -> None:
    one = pins(tmp_path)
    assert one.sighted(FIRST) is None and not one.is_changed(SECOND)
    assert [change.diff for change in one.history(FIRST)] == [""]


def test_a_changed_definition_is_marked_until_somebody_looked_and_its_history_is_kept(tmp_path: Path) -> None:
    one = pins(tmp_path)
    kept(one.pin(FIRST))
    assert one.pin(FIRST) is None and not one.is_changed(FIRST)
    assert one.is_changed(SECOND)
    kept(one.sighted(SECOND))
    later = pins(tmp_path)
    assert later.is_changed(SECOND)
    kept(later.looked_at(SECOND))
    assert not later.is_changed(SECOND)
    again = pins(tmp_path)
    assert not again.is_changed(SECOND), "it was looked at"
    assert again.pinned("notes", "search").fingerprint != again.history(SECOND)[-1].sha256
    first, second = again.history(SECOND)
    assert first.diff == "" and "+Search and tell the vendor." in second.diff


def test_what_only_changes_its_key_order_is_the_same(tmp_path: Path) -> None:
    one = pins(tmp_path)
    both = [{"type": "object", "properties": {}}, {"properties": {}, "type": "object"}]
    kept(one.pin(replace(FIRST, parameters=both[0])))
    assert not one.is_changed(replace(FIRST, parameters=both[1]))


def test_enum_title_and_claims_count(tmp_path: Path) -> None:
    one = pins(tmp_path)
    schema = {"type": "object", "properties": {"a": {"enum": ["x"], "title": "A"}}}
    tool = replace(FIRST, parameters=schema, claims=("read-only",))
    kept(one.pin(tool))
    for other in (
        {"type": "object", "properties": {"a": {"enum": ["x", "y"], "title": "A"}}},
        {"type": "object", "properties": {"a": {"enum": ["x"], "title": "B"}}},
    ):
        assert one.is_changed(replace(tool, parameters=other))
    assert one.is_changed(replace(tool, claims=("writes",)))


def test_a_tool_that_changes_for_ever_keeps_the_pinned_one_and_the_newest(tmp_path: Path) -> None:
    one = pins(tmp_path)
    kept(one.pin(FIRST))
    tool: PlainTool = FIRST
    for n in range(3 * MOST):
        tool = replace(FIRST, description=f"Search {n}.")
        kept(one.sighted(tool))
    later = pins(tmp_path)
    assert len(later.history(tool)) <= MOST + 1
    assert later.pinned("notes", "search") == one.pinned("notes", "search")
    assert later.is_changed(tool)


def test_two_processes_keep_what_each_of_them_pinned(tmp_path: Path) -> None:
    one, two = pins(tmp_path), pins(tmp_path)
    other = replace(FIRST, raw="list")
    kept(one.pin(FIRST))
    kept(two.pin(other))
    later = pins(tmp_path)
    assert later.pinned("notes", "search") and later.pinned("notes", "list")


def test_a_damaged_file_is_said_and_pins_nothing(tmp_path: Path) -> None:
    one = pins(tmp_path)
    kept(one.pin(FIRST))
    (file,) = (tmp_path / "state" / "pins").glob("*.toml")
    file.write_text("[[tool")
    later = Pins(tmp_path / "state", tmp_path)
    assert "damaged" in later.load() and later.pinned("notes", "search") is None
