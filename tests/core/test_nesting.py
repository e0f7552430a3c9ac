"""How deep a value is nested is counted, not felt by recursion."""

from __future__ import annotations

from typing import Any

import pytest

from hel_tui.core.nesting import is_nested_deeper


def nested(levels: int) -> Any:
    value: Any = 1
    for number in range(levels):
        value = [value, "x"] if number % 2 else {"a": value}
    return value


@pytest.mark.parametrize("levels", [0, 1, 2, 50])
def test_a_value_of_so_many_levels_is_not_deeper_and_one_more_is(levels: int) -> None:
    assert not is_nested_deeper(nested(levels), levels)
    assert is_nested_deeper(nested(levels + 1), levels)


def test_it_takes_no_recursion() -> None:
    assert is_nested_deeper(nested(100_000), 99_999)
