"""The checks of a project and what came of a save, by keys, on a core that says what a real one would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.authoring.checks import ChecksScreen
from hel_tui.tui.screens.authoring.renewal import RenewalScreen
from hel_tui.tui.state import ServerItem
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text

API = p.CheckRow("api has its port", "inventory", "lookup_port", "exact", ".hel/checks/api.toml")
LIST = p.CheckRow("all services", "inventory", "list_services", "snapshot", ".hel/checks/list.toml")
WEATHER = p.CheckRow("seoul", "weather", "forecast", "subset", ".hel/checks/w.toml")
BAD = p.CheckRow("bad", "weather", "", "exact", ".hel/checks/b.toml", problem="`tool` is missing\x1b[31m")
RESULTS = (
    p.CheckResult(API, "passed", 0.01),
    p.CheckResult(LIST, "failed", 0.02, "the text is another one", "--- expected\n+++ came\n-admin\n+root"),
)
SAVE = p.Renewal(
    1,
    "inventory",
    1_700_000_000.0,
    ("src/server.py",),
    "renewed",
    change=3,
    reruns=(
        p.Rerun("lookup_port", '{"service": "api"}', "api: 8437", "api: 9000", same=False, failed=False),
        p.Rerun("list_services", "{}", "admin", "admin", same=True, failed=False),
        p.Rerun("list_services", "{}", "a", "b", False, True, check=RESULTS[1]),
    ),
)
BROKEN = p.Renewal(
    2, "inventory", 1_700_000_001.0, ("src/server.py",), "broken", "exit 1 after 0.1 s", failure=7
)
CHANGE = p.ListChangeDetail(
    3,
    "inventory",
    1.0,
    "author mode",
    (p.ToolChange("drain", "added"), p.ToolChange("list_services", "changed", "-a\n+b")),
)


def core(*events: p.Event) -> FakeCore:
    made = FakeCore(
        check_rows=(API, BAD, LIST, WEATHER),
        results_of_checks=RESULTS,
        renewals={1: SAVE, 2: BROKEN},
        list_changes={3: CHANGE},
        failed_ones={
            7: p.ServerFailure("inventory", "spawn", "it ended", stderr=("SyntaxError: oops",), number=7)
        },
    )
    started = p.SessionStarted("s", "/srv/x", "confirm", "1")
    made.put(started, p.ServerChanged("inventory", "ready"), p.ServerChanged("weather", "ready"), *events)
    return made


async def open_checks(d: Driver, line: str = "/checks") -> ChecksScreen:
    d.app.main.commands.typed.run(line)
    await d.until(lambda: isinstance(d.app.screen, ChecksScreen))
    await d.until(lambda: "Checks" in screen_text(d.app))
    screen = d.app.screen
    assert isinstance(screen, ChecksScreen)
    return screen


async def open_save(d: Driver) -> RenewalScreen:
    d.app.main.commands.typed.run("/saves")
    await d.until(lambda: isinstance(d.app.screen, RenewalScreen))
    await d.until(lambda: "src/server.py" in screen_text(d.app))
    screen = d.app.screen
    assert isinstance(screen, RenewalScreen)
    return screen


async def test_calls_that_are_made_again_meanwhile_come_to_the_open_screen() -> None:
    found = core(p.ServerRenewed("inventory", 2, "renewed", "the new one answers"))
    found.renewals[2] = replace(SAVE, number=2, reruns=SAVE.reruns[:1], running=True)
    async with opened(found) as d:
        screen = await open_save(d)
        await d.until(lambda: "More is being called again" in screen_text(d.app))
        assert screen.current == SAVE.reruns[0]
        found.renewals[2] = replace(SAVE, number=2)
        await d.until(lambda: "More is being called again" not in screen_text(d.app))
        assert all(one.tool in screen_text(d.app) for one in SAVE.reruns)
        assert screen.current == SAVE.reruns[0]


async def test_checks_stand_under_their_server_with_how_they_went() -> None:
    async with opened(core()) as d:
        await open_checks(d)
        text = screen_text(d.app)
        assert "4 saved · 1 passed, 1 not" in text
        rows = [line.strip() for line in text.splitlines()]
        names = ("inventory", "✗ failed     all services", "✓ passed     api has its port", "weather")
        places = [next(n for n, row in enumerate(rows) if row.startswith(name)) for name in names]
        assert places == sorted(places)
        assert "· not run    seoul" in text


async def test_the_check_under_the_cursor_is_told_in_full_and_foreign_text_is_harmless() -> None:
    async with opened(core()) as d:
        screen = await open_checks(d)
        await d.until(lambda: "+root" in screen_text(d.app))
        assert "the text is another one" in screen_text(d.app)
        await d.press("down")
        await d.until(lambda: "what was expected" in screen_text(d.app))
        await d.press("down")
        await d.until(lambda: "`tool` is missing" in screen_text(d.app))
        assert screen.current == BAD
        assert "\x1b[31m" not in screen_text(d.app)


async def test_keys_run_one_those_of_its_server_and_all() -> None:
    async with opened(core()) as d:
        await open_checks(d)
        await d.press("r", "enter", "s", "R", after=0.5)
        assert d.core.sent(p.RunChecks) == [
            p.RunChecks("inventory", "all services"),
            p.RunChecks("inventory", "all services"),
            p.RunChecks("inventory"),
            p.RunChecks(""),
        ]
        await d.press("escape", after=0.5)
        await d.until(lambda: d.app.screen is d.app.main)


async def test_only_those_of_one_server_are_shown_and_run() -> None:
    async with opened(core()) as d:
        await open_checks(d, "/checks weather")
        assert "api has its port" not in screen_text(d.app)
        await d.press("R", after=0.5)
        assert d.core.sent(p.RunChecks) == [p.RunChecks("weather")]


async def test_new_results_are_drawn_when_they_come() -> None:
    async with opened(core()) as d:
        await open_checks(d)
        d.core.results_of_checks = (p.CheckResult(WEATHER, "passed", 0.1),)
        await d.put(p.ChecksRan(1, 0, 0.1))
        await d.until(lambda: "✓ passed     seoul" in screen_text(d.app))


async def test_the_question_whether_checks_may_run_opens_over_them() -> None:
    async with opened(core()) as d:
        await open_checks(d)
        await d.ask(p.ApprovalQuestion("q", "", "", "checks", '[{"call": "inventory.x"}]'))
        assert "inventory.x" in screen_text(d.app)
        await d.decide("y")
        assert d.core.answers() == [p.ApprovalAnswer("once")]
        assert isinstance(d.app.screen, ChecksScreen)


async def test_a_project_without_checks_says_how_to_come_by_one() -> None:
    made = core()
    made.check_rows = made.results_of_checks = ()
    async with opened(made) as d:
        await open_checks(d)
        assert "hel help checks" in screen_text(d.app)
        await d.press("r", "c", after=0.5)  # nothing to run, nothing to copy
        assert d.core.sent(p.RunChecks) == []


async def test_a_save_shows_old_and_new_beside_each_other_and_a_key_shows_the_difference() -> None:
    async with opened(core(p.ServerRenewed("inventory", 1, "renewed", "ok"))) as d:
        await open_save(d)
        text = screen_text(d.app)
        assert "the new one answers" in text
        assert "+ drain" in text
        assert "≠ another one" in text and "= same result" in text
        await d.until(lambda: "api: 8437" in screen_text(d.app))
        beside = next(row for row in screen_text(d.app).splitlines() if "api: 8437" in row)
        assert "api: 9000" in beside
        await d.press("v", after=0.5)
        await d.until(lambda: "-api: 8437" in screen_text(d.app))
        await d.press("down", after=0.5)
        await d.until(lambda: "Both results" in screen_text(d.app))
        await d.press("down", after=0.5)
        await d.until(lambda: "the text is another one" in screen_text(d.app))


async def test_keys_go_to_the_save_after_and_say_when_there_is_none() -> None:
    async with opened(core(p.ServerRenewed("inventory", 1, "renewed", "ok"))) as d:
        await open_save(d)
        await d.press("right_square_bracket", after=0.5)
        await d.until(lambda: "did not come up" in screen_text(d.app))
        assert "exit 1 after 0.1 s" in screen_text(d.app)
        assert "SyntaxError: oops" in screen_text(d.app)
        await d.press("right_square_bracket", after=0.5)
        assert [one.message for one in d.app._notifications] == ["There is no further save."]


async def test_without_a_save_the_command_says_so() -> None:
    async with opened(core()) as d:
        d.app.main.commands.typed.run("/saves")
        await d.until(lambda: d.app._notifications)
        assert "key watch" in next(iter(d.app._notifications)).message
        assert d.app.screen is d.app.main


async def test_a_key_on_the_card_of_a_save_shows_it_in_full() -> None:
    async with opened(core(p.ServerRenewed("inventory", 1, "renewed", "it answers"))) as d:
        (item,) = [one for one in d.app.bridge.state.items if isinstance(one, ServerItem)]
        assert (item.kind, item.number) == ("renewal", 1)
        d.app.main.conversation.focus()
        await d.press("k", "v", after=0.5)
        await d.until(lambda: isinstance(d.app.screen, RenewalScreen))


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_both_screens_fit_small_and_large_terminals_in_korean(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(core(p.ServerRenewed("inventory", 1, "renewed", "ok")), size=size) as d:
        d.app.main.commands.typed.run("/checks")
        await d.until(lambda: "모두 실행" in screen_text(d.app))
        assert "all services" in screen_text(d.app)
        await d.press("escape", after=0.5)
        d.app.main.commands.typed.run("/saves")
        await d.until(lambda: "다른 결과" in screen_text(d.app))
