"""Web pages, sampling and logins that servers ask for: what is shown, which keys answer, what never happens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.gate import DEAF
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.screen_text import screen_text


@pytest.fixture(autouse=True)
def display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")


def watch_browser(d: Driver) -> list[str]:
    """What the app hands to the browser from now on."""
    went: list[str] = []
    d.app.open_url = lambda url, **_more: went.append(url)  # type: ignore[method-assign]
    return went


def flat(d: Driver) -> str:
    """The dialog's text without what wrapping puts between its letters."""
    return "".join(line.strip(" │") for line in screen_text(d.app, d.dialog.pane).split("\n"))


async def paste(d: Driver, text: str) -> None:
    event = events.Paste(text)
    event.time = d.clock.now = d.clock.now + 1
    d.app.post_message(event)
    await d.pilot.pause()


# ------------------------------------------------------------------------ URLs


async def test_the_whole_address_is_shown_and_nothing_is_opened_by_itself():
    async with opened(size=(80, 24)) as d:
        went = watch_browser(d)
        await d.ask(scenes.URL)
        assert scenes.URL.url in flat(d)
        assert "accounts.example.com" in screen_text(d.app) and "unusual port" in screen_text(d.app)
        assert went == [] and d.core.answers() == []


@pytest.mark.parametrize(
    ("key", "action", "opens"),
    [
        ("o", "accept", True),
        ("y", "accept", False),
        ("n", "decline", False),
        ("d", "decline", False),
        ("escape", "cancel", False),
        ("enter", "cancel", False),
        ("ctrl+c", "cancel", False),
    ],
)
async def test_each_key_of_a_web_page_gives_its_answer(key, action, opens):
    async with opened() as d:
        went = watch_browser(d)
        await d.ask(scenes.URL)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.FormAnswer(action)]
        assert went == ([scenes.URL.url] if opens else [])


async def test_the_address_can_be_copied_and_the_question_stays():
    async with opened() as d:
        await d.ask(scenes.URL)
        await d.press("c", after=1)
        assert d.app.clipboard == scenes.URL.url
        assert d.has_dialog and d.core.answers() == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "https:", "https://a\x1b[2J.b/"]
)
async def test_what_is_no_web_address_is_never_opened(url):
    async with opened() as d:
        went = watch_browser(d)
        await d.ask(replace(scenes.URL, url=url))
        await d.decide("o")
        assert went == [] and d.core.answers() == [] and d.has_dialog


async def test_without_a_display_the_address_is_to_be_copied_instead(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    async with opened() as d:
        went = watch_browser(d)
        await d.ask(scenes.URL)
        await d.decide("o")
        assert went == [] and d.core.answers() == []
        await d.decide("y")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.FormAnswer("accept")]


async def test_a_long_address_is_seen_to_its_end_before_it_opens():
    async with opened(size=(80, 24)) as d:
        went = watch_browser(d)
        await d.ask(replace(scenes.URL, url="https://accounts.example.com/" + "a" * 3000))
        await d.decide("o")
        assert went == []
        await d.press("end", after=1)
        await d.until(lambda: not d.dialog.bar.locked)
        await d.decide("o")
        assert len(went) == 1


# -------------------------------------------------------------------- sampling


@pytest.mark.parametrize(("key", "allow"), [("y", True), ("n", False), ("escape", False), ("enter", False)])
@pytest.mark.parametrize("question", [scenes.SAMPLING, scenes.SAMPLED], ids=["request", "answer"])
async def test_sampling_is_asked_about_before_and_after(question, key, allow):
    async with opened() as d:
        await d.ask(question)
        await d.decide(key)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.SamplingAnswer(allow)]


async def test_an_answer_for_a_server_is_written_by_hand_and_sent_only_at_a_key_of_its_own():
    async with opened() as d:
        await d.ask(scenes.SAMPLING)
        await d.decide("e")
        await d.press(*"Good day", "ctrl+s", after=1)
        assert "Good day" in screen_text(d.app) and d.core.answers() == []
        d.clock.now += 2
        await d.decide("y")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.SamplingAnswer(True, "Good day")]


async def test_the_models_answer_is_changed_or_left_as_it_was():
    async with opened() as d:
        await d.ask(replace(scenes.SAMPLED, reply="As it was"))
        await d.decide("e")
        await d.press(*"Never ", "escape", after=1)
        await d.press("e", after=2)
        await d.press("end", *", nearly", "ctrl+s", after=1)
        d.clock.now += 2
        await d.decide("y")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.SamplingAnswer(True, "As it was, nearly")]


async def test_where_there_is_no_model_only_words_of_the_person_are_sent():
    async with opened() as d:
        await d.ask(replace(scenes.SAMPLING, model=""))
        await d.decide("y")
        await d.until(lambda: "no model" in screen_text(d.app))
        assert d.core.answers() == []
        await d.decide("escape")
        assert d.core.answers() == [p.SamplingAnswer(False)]


async def test_sampling_shows_server_model_limits_tools_and_both_prompts():
    async with opened() as d:
        await d.ask(scenes.SAMPLING)
        shown = screen_text(d.app)
        for part in (
            "review",
            "deepseek/deepseek-chat",
            "10 a minute",
            "200 tokens",
            "fetch_comment",
            "terse",
            "Mondays",
        ):
            assert part in shown


# ----------------------------------------------------------------------- login


async def test_the_login_opens_a_browser_on_a_key_only_and_stays_open():
    async with opened() as d:
        went = watch_browser(d)
        await d.ask(scenes.LOGIN)
        assert scenes.LOGIN.url in flat(d) and went == []
        await d.decide("o")
        assert went == [scenes.LOGIN.url]
        assert d.has_dialog and d.core.answers() == []
        await d.put(p.QuestionClosed("o1"))
        await d.until(lambda: not d.has_dialog)
        assert d.core.answers() == []


async def test_what_is_pasted_goes_into_its_line_and_enter_sends_it():
    async with opened() as d:
        await d.ask(scenes.LOGIN)
        await paste(d, "http://127.0.0.1:41001/callback?code=abc\n&state=x  ")
        await d.until(lambda: d.dialog.pasted.value)
        await d.press("enter", after=1)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.LoginAnswer("http://127.0.0.1:41001/callback?code=abc&state=x")]


async def test_a_code_can_be_typed_and_its_letters_decide_nothing():
    async with opened() as d:
        went = watch_browser(d)
        await d.ask(scenes.LOGIN)
        await d.press("tab", after=1)
        await d.type("ococ")
        assert d.core.answers() == [] and went == []
        await d.press("enter", after=1)
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.LoginAnswer("ococ")]


async def test_esc_leaves_the_line_first_and_then_gives_the_login_up():
    async with opened() as d:
        await d.ask(scenes.LOGIN)
        await d.press("tab", "escape", after=1)
        assert d.core.answers() == []
        d.clock.now += DEAF
        await d.decide("escape")
        await d.until(lambda: d.core.answers())
        assert d.core.answers() == [p.LoginAnswer("")]


async def test_steps_join_the_login_while_it_is_open():
    async with opened() as d:
        await d.ask(scenes.LOGIN)
        assert "Registered hel there." in screen_text(d.app)
        await d.put(
            p.LoginStep("jira", "Registered hel there."), p.LoginStep("jira", "The browser came back.")
        )
        await d.until(lambda: "The browser came back." in screen_text(d.app))
        assert screen_text(d.app).count("Registered hel there.") == 1


async def test_the_end_of_a_login_is_said_in_the_conversation():
    async with opened() as d:
        await d.put(p.LoginStep("jira", "step"), p.LoginStep("jira", "Logged in.", "done"))
        await d.until(lambda: "Logged in." in screen_text(d.app))
        await d.put(p.LoginStep("jira", "again"))
        assert [step.text for step in d.app.bridge.state.logins["jira"]] == ["again"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (scenes.FORM, "tickets asks you to fill in a form"),
        (scenes.URL, "payments asks you to go to a web page"),
        (scenes.SAMPLING, "review wants to ask your model"),
        (scenes.SAMPLED, "an answer for review waits"),
        (scenes.LOGIN, "the login at jira waits"),
    ],
)
async def test_a_bar_announces_each_kind_while_somebody_types(question, words):
    async with opened() as d:
        await d.type("half a sent")
        await d.put(p.Asked(question))
        await d.until(lambda: d.app.main.waits.display)
        assert words in screen_text(d.app) and not d.has_dialog
