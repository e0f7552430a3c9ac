"""The cards of what happened to servers: a failure with what explains it, other tools, a renewal."""

from dataclasses import replace

from hel_tui.core import protocol as p
from hel_tui.tui.screens.server.screen import ServerScreen
from hel_tui.tui.state import ServerItem
from tests.tui import scenes
from tests.tui.driving import opened
from tests.tui.screen_text import screen_text

FAILURE = p.ServerFailure(
    "weather",
    "handshake",
    "it ended (exit 1 after 0.4 s) before it answered initialize",
    command_line="python weather.py",
    resolved="/usr/bin/python",
    cwd="/home/me/notes",
    env_names=("HOME", "PATH"),
    exit="exit 1 after 0.4 s",
    stderr=("Traceback (most recent call last):", "  File x", "KeyError: 'API_KEY'"),
    noise=("config loaded",),
    number=7,
)
CHANGE = p.ListChangeDetail(
    3,
    "notes",
    0.0,
    "list_changed",
    (
        p.ToolChange(
            "search", "changed", "--- before\n+++ after\n-old words\n+new words", loaded=True, approvals=2
        ),
        p.ToolChange("forget", "added"),
    ),
)
RENEWAL = p.Renewal(
    2,
    "weather",
    0.0,
    ("weather.py",),
    "renewed",
    reruns=(p.Rerun("today", '{"city": "Oslo"}', "rain", "sun", same=False, failed=False),),
)


def core():
    found = scenes.busy_core()
    found.failed_ones[7] = FAILURE
    found.list_changes[3] = CHANGE
    found.renewals[2] = RENEWAL
    return found


async def test_a_failure_is_a_card_that_says_the_last_words_and_opens_to_all_that_is_known():
    async with opened(core()) as d:
        await d.put(p.ServerFailed("weather", 7, "exit 1 after 0.4 s"))
        await d.until(lambda: "weather failed: exit 1" in screen_text(d.app, d.app.main.conversation))
        folded = screen_text(d.app, d.app.main.conversation)
        assert "KeyError: 'API_KEY'" in folded and "r restart" in folded and "/usr/bin/python" not in folded
        await d.press("tab", "j", "enter", after=0.5)
        await d.until(lambda: "/usr/bin/python" in screen_text(d.app, d.app.main.conversation))
        opened_card = screen_text(d.app, d.app.main.conversation)
        assert all(words in opened_card for words in ("/home/me/notes", "HOME, PATH", "config loaded"))


async def test_last_words_that_come_late_show_on_the_card_that_is_there():
    async with opened(core()) as d:
        d.core.failed_ones[7] = replace(FAILURE, stderr=())
        await d.put(p.ServerFailed("weather", 7, "the call was lost"))
        await d.until(lambda: "the call was lost" in screen_text(d.app, d.app.main.conversation))
        assert "KeyError" not in screen_text(d.app, d.app.main.conversation)
        before = list(d.app._notifications)
        d.core.failed_ones[7] = FAILURE
        await d.put(p.ServerFailed("weather", 7, "the call was lost", again=True))
        await d.until(lambda: "KeyError: 'API_KEY'" in screen_text(d.app, d.app.main.conversation))
        assert screen_text(d.app, d.app.main.conversation).count("the call was lost") == 1
        assert list(d.app._notifications) == before


async def test_the_keys_of_a_failure_card_act_on_its_server():
    async with opened(core()) as d:
        await d.put(p.ServerFailed("weather", 7, "exit 1 after 0.4 s"))
        await d.press("tab", "j", "r", "d", after=0.5)
        await d.until(lambda: len(d.core.commands) == 2)
        assert d.core.commands == [p.RestartServer("weather"), p.SwitchServer("weather", False)]
        await d.press("l")
        await d.until(lambda: isinstance(d.app.screen, ServerScreen) and d.app.screen.active == "log")
        assert d.app.screen.server == "weather"


async def test_other_tools_of_a_server_are_a_card_with_the_difference_and_what_it_touches():
    async with opened(core()) as d:
        await d.put(p.ListChanged("notes", 3, added=1, removed=0, changed=1, loaded=1))
        await d.until(lambda: "notes has other tools" in screen_text(d.app, d.app.main.conversation))
        folded = screen_text(d.app, d.app.main.conversation)
        assert "the model has it loaded" in folded and "2 approvals dropped" in folded
        assert "new words" not in folded
        await d.press("tab", "j", "enter", after=0.5)
        await d.until(lambda: "+new words" in screen_text(d.app, d.app.main.conversation))


async def test_a_renewal_shows_the_old_result_beside_the_new():
    async with opened(core()) as d:
        await d.put(p.ServerRenewed("weather", 2, "renewed", "weather.py was saved"))
        await d.until(lambda: "another result" in screen_text(d.app, d.app.main.conversation))
        await d.press("tab", "j", "enter", after=0.5)
        await d.until(lambda: "sun" in screen_text(d.app, d.app.main.conversation))
        shown = screen_text(d.app, d.app.main.conversation)
        assert "rain" in shown and "before" in shown and "after" in shown


async def test_a_renewal_that_is_told_again_is_the_same_card_with_what_is_known_now():
    found = core()
    found.renewals[2] = replace(RENEWAL, reruns=(), running=True)
    async with opened(found) as d:
        await d.put(p.ServerRenewed("weather", 2, "renewed", "the new one answers; 1 is being called again"))
        await d.until(lambda: "More is being called again" in screen_text(d.app, d.app.main.conversation))
        count = len(d.app.bridge.state.items)
        found.renewals[2] = RENEWAL
        await d.put(p.ServerRenewed("weather", 2, "renewed", "the new one answers; 1 called again"))
        await d.until(lambda: "another result" in screen_text(d.app, d.app.main.conversation))
        shown = screen_text(d.app, d.app.main.conversation)
        assert "1 called again" in shown and "being called again" not in shown
        assert len(d.app.bridge.state.items) == count


async def test_a_card_whose_details_are_not_kept_still_says_what_happened():
    async with opened(scenes.busy_core()) as d:
        await d.put(p.ServerFailed("weather", 99, "exit 1"))
        await d.until(lambda: "weather failed: exit 1" in screen_text(d.app, d.app.main.conversation))
        assert isinstance(d.app.bridge.state.items[-1], ServerItem)


async def test_a_server_that_hel_brings_back_by_itself_is_told_as_gone_not_as_failed():
    async with opened(core()) as d:
        await d.put(p.ServerFailed("weather", 7, "exit 1; hel tries to bring it back", retried=True))
        await d.until(lambda: "▲ weather is gone: exit 1" in screen_text(d.app, d.app.main.conversation))


async def test_a_save_after_which_a_call_failed_is_no_success():
    async with opened(core()) as d:
        await d.put(p.ServerRenewed("weather", 2, "renewed", "1 failed; the new one answers", failed=1))
        await d.until(lambda: "▲ weather: 1 failed" in screen_text(d.app, d.app.main.conversation))


async def test_a_failed_save_is_one_card():
    async with opened(core()) as d:
        count = len(d.app.bridge.state.items)
        await d.put(p.ServerFailed("weather", 7, "exit 1 after 0.4 s"))
        await d.put(p.ServerRenewed("weather", 2, "broken", "the new one did not come up", told_as=7))
        await d.put(p.ServerRenewed("weather", 3, "broken", "the new one did not come up (exit 2)"))
        await d.until(lambda: "▲ weather: the new one" in screen_text(d.app, d.app.main.conversation))
        assert len(d.app.bridge.state.items) == count + 2


async def test_a_head_that_is_too_long_is_cut_behind_a_word_and_leaves_the_stage_out():
    async with opened(core(), size=(120, 40)) as d:
        await d.put(p.ServerFailed("weather", 7, FAILURE.sentence + " and more that has no room"))
        await d.until(lambda: "weather failed: it ended" in screen_text(d.app, d.app.main.conversation))
        text = screen_text(d.app, d.app.main.conversation)
        row = next(row for row in text.splitlines() if "weather failed" in row)
        words = row.split("…")[0].split("failed: ")[1]
        assert "…" in row and "handshake" not in row
        assert (FAILURE.sentence + " ").startswith(words + " ")
