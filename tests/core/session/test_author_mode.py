"""A watched server: a save starts the next generation, and shows what is different."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hel_tui.core import protocol as p
from tests.core.session.authored import Source
from tests.rig import Driver


def renewed(driver: Driver, count: int = 1) -> p.Renewal:
    """Wait until a renewal and what was called again for it are over."""

    def over(_: object) -> p.Renewal | None:
        numbers = list(dict.fromkeys(event.number for event in driver.of(p.ServerRenewed)))
        renewal = driver.core.renewal(numbers[count - 1]) if len(numbers) >= count else None
        return renewal if renewal is not None and not renewal.running else None

    found: p.Renewal = driver.wait(over, f"renewal {count}")
    return found


def waits_for(path: Path) -> str:
    """Code that waits for a file."""
    return f"while not os.path.exists({str(path)!r}): time.sleep(0.01)"


def by_hand(driver: Driver, arguments: str, tool: str = "echo") -> None:
    before = len(driver.results())
    driver.send(p.CallTool(f"mine.{tool}", arguments))
    driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
    assert driver.call_end(before).state == "ok"


def test_a_save_brings_the_next_generation_and_calls_again_what_was_called_by_hand(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        pid = driver.phase("mine", "ready").pid
        by_hand(driver, '{"text": "hi"}')
        source.save("two", tools='tool("echo"), tool("more")')
        renewal = renewed(driver)
        assert (renewal.state, renewal.files) == ("renewed", ("src/server.py",))
        (again,) = renewal.reruns
        assert (again.before, again.after, again.same, again.failed) == ("one:hi", "two:hi", False, False)
        told = [event.sentence for event in driver.of(p.ServerRenewed)]
        assert told[-1] == "the new one answers; 1 called again, 1 with another result"
        change = driver.core.list_change(renewal.change)
        assert change is not None
        assert (change.cause, [tool.tool for tool in change.tools]) == ("author mode", ["more"])
        assert driver.phase("mine", "ready").pid != pid


def test_a_broken_save_leaves_the_old_one_and_the_next_save_mends_it(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        pid = driver.phase("mine", "ready").pid
        source.save("two", begin='raise SystemExit("a slip")')
        renewal = renewed(driver)
        assert (renewal.state, renewal.reruns) == ("broken", ())
        assert driver.of(p.ServerRenewed)[0].sentence.endswith("the one before still answers")
        assert driver.of(p.ServerFailed) == []  # told once, with the save
        failure = driver.core.failed(renewal.failure)
        assert failure is not None
        assert "a slip" in "\n".join(failure.stderr)
        assert driver.phase("mine", "ready").pid == pid
        by_hand(driver, '{"text": "still"}')
        source.save("three")
        again = renewed(driver, 2)
        assert again.state == "renewed"
        assert again.reruns[0].after == "three:still"


def test_a_server_that_never_started_starts_with_the_save_that_mends_it(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one", begin="raise SystemExit(3)")
    with opened() as driver:
        driver.phase("mine", "failed")
        source.save("still", begin="raise SystemExit(4)")
        renewal = renewed(driver)
        assert (
            driver.of(p.ServerRenewed)[0].told_as == renewal.failure == driver.of(p.ServerFailed)[-1].number
        )
        source.save("two")
        assert renewed(driver, 2).state == "renewed"
        driver.phase("mine", "ready")


def test_a_save_that_changes_nothing_and_files_that_are_not_meant_do_nothing(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        source.save("two")
        renewed(driver)
        source.save("two")  # the same content again
        os.utime(source.file)
        cache = source.file.parent / "__pycache__"
        cache.mkdir()
        (cache / "server.py").write_text("x")
        (source.file.parent / "notes.txt").write_text("x")
        source.save("three")
        assert renewed(driver, 2).files == ("src/server.py",)
        assert len(driver.of(p.ServerRenewed)) == 2


def test_many_files_at_once_are_one_renewal(opened: Callable[[], Driver], source: Source) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        (source.file.parent / "deep" / "er").mkdir(parents=True)
        for number in range(20):
            (source.file.parent / f"part{number}.py").write_text(f"n = {number}")
        source.save("two")
        renewal = renewed(driver)
        assert len(renewal.files) == 21
        assert len(driver.of(p.ServerRenewed)) == 1


def test_the_newest_save_wins_over_a_start_that_hangs(
    opened: Callable[[], Driver], source: Source, tmp_path: Path
) -> None:
    source.save("one")
    there = tmp_path / "there"
    with opened() as driver:
        driver.phase("mine", "ready")
        source.save("hangs", begin=f"open({str(there)!r}, 'w').close(); import time; time.sleep(999)")
        driver.wait(lambda _: there.exists(), "the start of the one that hangs")
        source.save("three")
        renewal = renewed(driver)
        assert renewal.state == "renewed"
        by_hand(driver, '{"text": "x"}')
        assert driver.results()[-1].preview == "three:x"


def test_what_says_it_destroys_is_never_called_again(opened: Callable[[], Driver], source: Source) -> None:
    tools = 'tool("wipe", annotations={"destructiveHint": True}), tool("echo")'
    source.save("one", tools=tools)
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, "{}", "wipe")
        by_hand(driver, "{}", "echo")
        source.save("two", tools=tools)
        assert [one.tool for one in renewed(driver).reruns] == ["echo"]
        assert source.made.count("wipe") == 1


def test_nothing_is_called_again_that_the_access_level_refuses(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, "{}")
        driver.send(p.SetAccess("read-only"))
        driver.wait(lambda _: driver.of(p.AccessChanged))
        source.save("two")
        assert renewed(driver).reruns == ()
        assert source.made == ["echo"]


def test_a_saved_check_is_run_with_each_save(
    opened: Callable[[], Driver], source: Source, project: Path
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        driver.send(p.SaveCheck(driver.results()[-1].call_id, "says one"))
        driver.wait(lambda _: [e for e in driver.of(p.ChecksChanged) if e.count == 1])
        assert [row.name for row in driver.core.checks()] == ["says one"]
        source.save("two")
        (checked,) = renewed(driver).reruns  # the call by hand is the same call
        assert checked.failed and checked.check is not None
        assert (checked.before, checked.after) == ("one:hi", "two:hi")
        told = driver.of(p.ServerRenewed)[-1]
        assert told.failed == 1
        assert told.sentence.startswith("1 failed; ")
        assert "-one:hi\n+two:hi" in checked.check.diff
        source.save("one")
        assert not any(one.failed for one in renewed(driver, 2).reruns)


def test_checks_of_the_project_are_run_once_the_person_agreed(
    opened: Callable[[], Driver], source: Source, project: Path
) -> None:
    source.save("one")
    folder = project / ".hel" / "checks"
    folder.mkdir(parents=True)
    text = 'name = "a"\nserver = "mine"\ntool = "echo"\narguments = { text = "x" }\nexpect = { text = "one:x" }\n'
    (folder / "a.toml").write_text(text)
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.wait(lambda _: driver.of(p.ChecksChanged))
        driver.send(p.RunChecks())
        asked = driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("deny"))
        assert '"call": "mine.echo"' in asked.arguments
        assert source.made == []
        driver.send(p.RunChecks("mine"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        ran = driver.wait(lambda _: driver.of(p.ChecksRan))[-1]
        assert (ran.passed, ran.failed) == (1, 0)
        driver.send(p.RunChecks())  # agreed: no further question
        driver.wait(lambda _: driver.of(p.ChecksRan)[1:])
        assert [one.state for one in driver.core.check_results()] == ["passed"]
        (folder / "a.toml").write_text(text.replace("one:x", "two:x"))
        driver.wait(lambda _: driver.of(p.ChecksChanged)[1:])
        driver.send(p.RunChecks())  # another file: asked again
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        ran = driver.wait(lambda _: driver.of(p.ChecksRan)[2:])[0]
        assert (ran.passed, ran.failed) == (0, 1)


@pytest.mark.parametrize("call", ["hand-nothing", ""])
def test_what_is_no_call_of_a_server_is_not_saved(
    opened: Callable[[], Driver], source: Source, call: str
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.SaveCheck(call, "x"))
        driver.wait(lambda _: [e for e in driver.of(p.Notice) if e.text.startswith("Not saved")])


def test_a_renewal_is_told_when_the_new_one_answers_and_again_when_the_calls_are_over(
    opened: Callable[[], Driver], source: Source, tmp_path: Path
) -> None:
    source.save("one")
    release = tmp_path / "release"
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        source.save("two", call=waits_for(release))
        driver.wait(lambda _: driver.of(p.ServerRenewed), "the first word")
        driver.wait(lambda _: len(source.made) == 2, "the call that is made again")
        running = driver.core.renewal(driver.of(p.ServerRenewed)[0].number)
        assert running is not None
        assert (running.running, running.reruns, running.files) == (True, (), ("src/server.py",))
        release.touch()
        assert [one.after for one in renewed(driver).reruns] == ["two:hi"]
        driver.wait(lambda _: len(driver.of(p.ServerRenewed)) == 2)
        first, second = driver.of(p.ServerRenewed)
        assert first.number == second.number
        assert first.sentence == "the new one answers; 1 is being called again"
        assert second.sentence == "the new one answers; 1 called again, 1 with another result"


def test_a_save_while_calls_are_made_again_leaves_what_is_known_of_the_one_before(
    opened: Callable[[], Driver], source: Source, tmp_path: Path
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        source.save("two", call=waits_for(tmp_path / "never"))
        driver.wait(lambda _: len(source.made) == 2, "the call that is made again")
        source.save("three")
        assert [one.after for one in renewed(driver, 2).reruns] == ["three:hi"]
        first = renewed(driver)
        assert (first.state, first.files, first.reruns) == ("renewed", ("src/server.py",), ())
        told = [event.sentence for event in driver.of(p.ServerRenewed) if event.number == first.number]
        assert told[-1] == "the new one answers; 1 not called again, the next save came first"


def test_a_check_has_no_more_time_than_a_call_when_it_is_run_again(
    opened: Callable[[], Driver], source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.session.reruns.LIMIT", 0.5)
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        driver.send(p.SaveCheck(driver.results()[-1].call_id, "says one"))
        driver.wait(lambda _: [e for e in driver.of(p.ChecksChanged) if e.count == 1])
        source.save("two", call=waits_for(tmp_path / "never"))
        (check,) = [one for one in renewed(driver).reruns if one.check is not None]
        assert (check.check.state, check.after) == ("error", "no answer within 0.5 s")


def test_the_same_image_is_the_same_result_and_nothing_is_saved_of_it(
    opened: Callable[[], Driver], source: Source, tmp_path: Path
) -> None:
    image = '{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}'
    call = 'return self.answer(identity, {"content": [' + image + "]})"
    source.save("one", call=call)
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, "{}")
        saved = sorted(tmp_path.rglob("*.png"))
        assert len(saved) == 1
        for number in (1, 2):
            source.save(f"next {number}", call=call)
            (again,) = renewed(driver, number).reruns
            assert (again.same, again.failed) == (True, False)
            assert "image/png" in again.after
        assert sorted(tmp_path.rglob("*.png")) == saved


def test_a_difference_behind_what_is_shown_is_a_difference(
    opened: Callable[[], Driver], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.session.reruns.MAX_TEXT", 3)
    source.save("same, one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, "{}")
        source.save("same, two")
        (again,) = renewed(driver).reruns
        assert (again.before, again.after, again.same) == ("sam", "sam", False)


def test_a_call_that_does_not_fit_the_new_schema_is_not_made(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        source.save("two", tools='tool("echo", inputSchema={"type": "object", "required": ["more"]})')
        (again,) = renewed(driver).reruns
        assert again.failed
        assert again.after.startswith("Not executed: ")
        assert source.made == ["echo"]


def test_results_to_compare_with_are_bounded_and_the_oldest_go_first(
    opened: Callable[[], Driver], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hel_tui.core.session.reruns.MAX_BEFORE", 0)
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "x"}')
        source.save("two")
        renewed(driver)
        source.save("three")
        (again,) = renewed(driver, 2).reruns
        assert (again.before, again.after) == ("one:x", "three:x")


def test_a_new_session_forgets_what_came_of_saves(opened: Callable[[], Driver], source: Source) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        source.save("two")
        number = renewed(driver).number
        driver.send(p.NewSession())
        driver.wait(lambda _: driver.of(p.Cleared))
        driver.wait(lambda _: driver.core.renewal(number) is None)
        source.save("three")
        assert renewed(driver, 2).number == number + 1


def test_a_system_that_cannot_watch_so_much_is_told_in_a_sentence(
    opened: Callable[[], Driver], source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_said: object) -> AsyncIterator[tuple[Path, ...]]:
        raise OSError("OS file watch limit reached")
        yield ()

    monkeypatch.setattr("hel_tui.core.session.authoring.saves", full)
    source.save("one")
    with opened() as driver:
        driver.wait(lambda _: [e for e in driver.of(p.Notice) if "watch limit" in e.text])
        assert [e.text for e in driver.of(p.Notice) if e.severity == "error"] == []


ASK = """self.waiting = identity; self.send({"jsonrpc": "2.0", "id": "ask", "method": "elicitation/create",
            "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}}); return

    def other(self, message):
        if message.get("id") == "ask":
            self.answer(self.waiting, text(message["result"]["action"]))
        else:
            super().other(message)

    def unused(self, identity, arguments):
        pass"""
"""A tool that asks the person, and answers what they did."""


def test_a_call_that_asks_the_person_is_not_made_again_by_itself(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one", call=ASK)
    with opened() as driver:
        driver.phase("mine", "ready")
        driver.send(p.CallTool("mine.echo", "{}"))
        driver.answer(p.ApprovalQuestion, p.ApprovalAnswer("once"))
        driver.answer(p.FormQuestion, p.FormAnswer("accept"))
        assert driver.call_end(0).state == "ok"
        source.save("two", call=ASK)
        assert renewed(driver).reruns == ()
        told = driver.of(p.ServerRenewed)[-1].sentence
        assert told == "the new one answers; 1 not called again, it asks you meanwhile"
        assert source.made == ["echo"]


def test_what_a_server_asks_in_a_call_that_is_made_again_is_declined_without_a_question(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, "{}")
        source.save("two", call=ASK)
        (again,) = renewed(driver).reruns
        assert again.after == "decline"
        assert not [one for one in driver.of(p.Asked) if isinstance(one.question, p.FormQuestion)]
        assert [one for one in driver.of(p.Notice) if "made again by itself" in one.text]


def test_a_check_that_was_run_after_a_save_is_among_the_results(
    opened: Callable[[], Driver], source: Source
) -> None:
    source.save("one")
    with opened() as driver:
        driver.phase("mine", "ready")
        by_hand(driver, '{"text": "hi"}')
        driver.send(p.SaveCheck(driver.results()[-1].call_id, "says one"))
        driver.wait(lambda _: [e for e in driver.of(p.ChecksChanged) if e.count == 1])
        assert driver.core.check_results() == ()
        source.save("two")
        renewed(driver)
        assert [(one.check.name, one.state) for one in driver.core.check_results()] == [
            ("says one", "failed")
        ]
