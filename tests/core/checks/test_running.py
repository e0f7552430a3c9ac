"""Running one check: variables, time, snapshots."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hel_tui.core.checks.check import FOLDER, SNAPSHOTS, Check
from hel_tui.core.checks.running import NoResult, Runner
from hel_tui.core.store.redact import Redactor

CHECK = 'name = "n"\nserver = "s"\ntool = "t"\narguments = { token = "${WHO}", n = 1 }\nexpect = { text = "hi" }\n'
SNAPSHOT = 'name = "n"\nserver = "s"\ntool = "t"\nexpect = { kind = "snapshot" }\n'


def answering(text: str, heard: list[Any] | None = None):
    async def call(_check: Check, arguments: dict[str, Any]) -> dict[str, Any]:
        if heard is not None:
            heard.append(arguments)
        return {"content": [{"type": "text", "text": text}]}

    return call


async def test_variables_are_filled_in_when_it_is_run_and_their_values_never_told(
    written, tmp_path: Path
) -> None:
    (check,) = written(one=CHECK)
    hidden, heard = Redactor(), []
    runner = Runner(tmp_path, {"WHO": "s3cret-value"}, hide=hidden.add, mask=hidden)
    result = await runner.run(check, answering("hello s3cret-value", heard))
    assert heard == [{"token": "s3cret-value", "n": 1}]
    assert result.state == "failed"
    assert "s3cret" not in result.diff
    assert "+hello ‹redacted›" in result.diff


async def test_a_variable_that_is_not_set_is_an_error_and_nothing_is_called(written, tmp_path: Path) -> None:
    (check,) = written(one=CHECK)
    heard: list[Any] = []
    result = await Runner(tmp_path, {}).run(check, answering("hi", heard))
    assert (result.state, result.message, heard) == ("error", "WHO is not set", [])


async def test_no_answer_in_time_is_an_error(written, tmp_path: Path) -> None:
    (check,) = written(one=CHECK + "timeout = 0.01\n")

    async def never(_check: Check, _arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    result = await Runner(tmp_path, {"WHO": "x"}).run(check, never)
    assert (result.state, result.message) == ("error", "no answer within 0.01 s")


async def test_a_call_without_a_result_is_an_error(written, tmp_path: Path) -> None:
    (check,) = written(one=CHECK)

    async def none(_check: Check, _arguments: dict[str, Any]) -> dict[str, Any]:
        raise NoResult("it is gone")

    result = await Runner(tmp_path, {"WHO": "x"}).run(check, none)
    assert (result.state, result.message) == ("error", "it is gone")


async def test_update_keeps_what_came_and_rewrites_nothing_else(written, tmp_path: Path) -> None:
    (check,) = written(one=SNAPSHOT)
    before = (tmp_path / check.file).read_text()
    assert (await Runner(tmp_path, {}).run(check, answering("one"))).state == "failed"
    assert (await Runner(tmp_path, {}, update=True).run(check, answering("one"))).state == "passed"
    assert (tmp_path / FOLDER / SNAPSHOTS / "n.txt").read_text() == "one\n"
    assert (await Runner(tmp_path, {}).run(check, answering("two"))).state == "failed"
    assert (await Runner(tmp_path, {}, update=True).run(check, answering("two"))).state == "passed"
    assert (tmp_path / check.file).read_text() == before


async def test_a_result_nested_too_deeply_is_a_failed_check_with_update_too(written, tmp_path: Path) -> None:
    (check,) = written(one=SNAPSHOT)
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]

    async def call(_check: Check, _arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [], "structuredContent": deep}

    for update in (False, True):
        result = await Runner(tmp_path, {}, update=update).run(check, call)
        assert (result.state, result.message) == ("failed", "the result is nested more than 100 levels deep")
    assert not (tmp_path / FOLDER / SNAPSHOTS).exists()
