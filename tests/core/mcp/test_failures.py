"""What failed, numbered: servers, calls lost on the way; causes unwrapped, secrets taken out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hel_tui.core.mcp import failures
from hel_tui.core.mcp.failures import Failures, fault_in, innermost
from hel_tui.core.mcp.faults import ServerFault
from hel_tui.core.mcp.local import LocalLife
from hel_tui.core.mcp.logs import LogStore
from hel_tui.core.protocol import ServerFailed, ServerFailure
from hel_tui.core.vocabulary import Invocation
from tests.core.mcp.conftest import until


def _told(bench: Any) -> list[ServerFailed]:
    return [one for one in bench.events if isinstance(one, ServerFailed)]


async def test_a_server_that_does_not_start_is_a_failure_with_a_number(bench: Any) -> None:
    await bench.start("life:exit-at-once")
    (event,) = _told(bench)
    failure = bench.host.failures.get(event.number)
    assert failure == bench.host.failure("fix")
    assert (failure.stage, failure.server, failure.retried) == ("handshake", "fix", False)
    assert failure.exit.startswith("exit 7") and failure.stderr == ("fatal: missing API key",)
    assert failure.exit in event.sentence or failure.sentence in event.sentence


async def test_an_outage_is_told_once_and_given_up_once(bench: Any) -> None:
    await bench.start("life:die")
    await bench.call("die")
    await until(lambda: bench.status().restarts >= 1 and bench.status().phase == "ready")
    of_server = [one for one in _told(bench) if bench.host.failures.get(one.number).stage != "call"]
    (event,) = of_server
    assert "bring it back" in event.sentence and bench.host.failures.get(event.number).retried


async def test_a_call_that_is_lost_is_a_failure_with_the_lines_written_meanwhile(bench: Any) -> None:
    await bench.start("life:die")
    await bench.tool("die").run({}, Invocation("card-3"))
    event = next(one for one in _told(bench) if bench.host.failures.get(one.number).stage == "call")
    failure = bench.host.failures.get(event.number)
    assert (failure.tool, failure.call, failure.server) == ("die", "card-3", "fix")
    assert "disconnected" in failure.sentence and failure.command_line
    await until(lambda: bench.host.failures.get(event.number).stderr == ("about to die",))


async def test_last_words_that_come_late_are_told_with_the_number_of_the_failure(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogStore, "tail", lambda *_arguments: [])
    await bench.start("life:die")
    await bench.tool("die").run({}, Invocation("card-3"))
    first = next(one for one in _told(bench) if bench.host.failures.get(one.number).stage == "call")
    assert not first.again and bench.host.failures.get(first.number).stderr == ()
    monkeypatch.undo()
    await until(lambda: replace(first, again=True) in _told(bench))
    assert bench.host.failures.get(first.number).stderr == ("about to die",)


def test_a_failure_whose_last_words_are_known_already_is_not_told_again() -> None:
    kept = Failures()
    number = kept.add(ServerFailure("s", "call", "lost", stderr=("a",))).number
    assert not kept.amend(number, ("a",)) and not kept.amend(99, ("b",))
    assert kept.amend(number, ("a", "b"))


def test_only_the_newest_are_kept_and_secrets_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "MOST", 3)
    kept = Failures(lambda text: text.replace("s3cret", "•"))
    for number in range(5):
        kept.add(ServerFailure("s", "run", f"{number} s3cret"))
    assert kept.get(2) is None
    last = kept.get(5)
    assert last is not None and last.sentence == "4 •" and last.time > 0


def test_the_cause_at_the_bottom_of_groups_and_chains_is_found() -> None:
    try:
        try:
            raise KeyError("API_KEY")
        except KeyError as error:
            raise RuntimeError("no") from error
    except RuntimeError as error:
        group = ExceptionGroup("outer", [ExceptionGroup("inner", [error])])
    found = innermost(group)
    assert isinstance(found, KeyError)


def test_a_fault_in_groups_and_chains_is_told_as_the_fault_it_is() -> None:
    fault = ServerFault("handshake", "it speaks another protocol")
    fault.__cause__ = ValueError("deep below")
    group = ExceptionGroup("unhandled errors in a TaskGroup", [ExceptionGroup("inner", [fault])])
    assert fault_in(group) is fault and fault_in(ValueError("x")) is None


async def test_a_fault_that_libraries_wrap_in_groups_reaches_the_card_with_its_stage(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wrapped(self: LocalLife) -> None:
        raise ExceptionGroup("unhandled errors in a TaskGroup", [ServerFault("list", "its list is cut off")])

    monkeypatch.setattr(LocalLife, "_live", wrapped)
    await bench.start("wire:ok")
    (event,) = _told(bench)
    failure = bench.host.failures.get(event.number)
    assert (failure.stage, failure.sentence) == ("list", "its list is cut off")


async def test_what_is_the_matter_with_a_server_has_one_home(bench: Any) -> None:
    await bench.start("life:exit-at-once")
    (event,) = _told(bench)
    assert bench.host.failures.current("fix") == bench.host.failures.get(event.number)
    assert bench.host.failure("fix") is bench.host.server("fix").failure
    bench.host.failures.well("fix")
    assert bench.host.failure("fix") is None


def test_what_is_the_matter_is_kept_without_secrets() -> None:
    kept = Failures(lambda text: text.replace("s3cret", "•"))
    kept.matter(ServerFailure("s", "run", "it said s3cret"))
    current = kept.current("s")
    assert current is not None and current.sentence == "it said •" and kept.current("other") is None
