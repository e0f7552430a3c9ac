"""The level a line of stderr seems to have."""

from __future__ import annotations

import pytest

from hel_tui.core.mcp.levels import guess, known_level


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-01-02 10:00:00,123 - app - ERROR - it broke", "error"),
        ("ERROR:root:it broke", "error"),
        ("[warn] slow", "warning"),
        ("[ WARNING ] slow", "warning"),
        ("level=error msg=x", "error"),
        ('ts=1 level="warn" msg=x', "warning"),
        ("E1130 10:00:00.000000 1 main.go:3] it broke", "error"),
        ("W0101 10:00:00.000000 1 main.go:3] hm", "warning"),
        ('{"time": 1, "level":"error", "msg": "x"}', "error"),
        ('{"level":50,"time":1}', "error"),
        ('{"level": 30, "msg": "listening"}', "info"),
        ("Traceback (most recent call last):", "error"),
        ("KeyError: 'API_KEY'", "error"),
        ("pkg.mod.CustomError: no", "error"),
        ("Uncaught TypeError: x is not a function", "error"),
        ("thread 'main' panicked at src/main.rs:2:5", "error"),
        ("error[E0308]: mismatched types", "error"),
        ("npm ERR! code ENOENT", "error"),
        ("npm WARN deprecated", "warning"),
        ("\x1b[32mINFO\x1b[0m:     Started server process", "info"),
        ("2026-01-01T00:00:00Z  WARN tower: slow", "warning"),
        ("<error> nginx", "error"),
        ("DEBUG | module:12 | x", "debug"),
        ("fatal: not a git repository", "critical"),
        ("warning: unused variable", "warning"),
        ("listening on 127.0.0.1", ""),
        ("0 errors, 3 warnings", ""),
        ("the level of the lake", ""),
        ("https://errors.example", ""),
        ("Information: all fine", "info"),
        ("", ""),
    ],
)
def test_a_line_seems_to_have_a_level(line: str, level: str) -> None:
    assert guess(line) == level


def test_words_of_other_loggers_are_levels_too_and_nonsense_is_none() -> None:
    assert [known_level(word) for word in ("WARN", "Error", "notice", "loud")] == [
        "warning",
        "error",
        "notice",
        "",
    ]
