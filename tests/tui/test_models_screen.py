"""Choosing a model: the sheet, its search and efforts, the header, and a message that comes back."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.reducing import reduce
from hel_tui.tui.screens.models import ModelsScreen
from hel_tui.tui.state import ViewState
from hel_tui.tui.text.figures import dollars, short_tokens
from hel_tui.tui.widgets.header import header_line
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept

SIZES = [(80, 24), (120, 40), (200, 60)]
CLAUDE = p.ModelRow(
    "anthropic",
    "claude-opus-4-8",
    window=1_000_000,
    max_output=128_000,
    sees=True,
    thinks=True,
    efforts=("low", "high", "max"),
    input_price=5.0,
    cached_price=0.5,
    output_price=25.0,
    parallel=True,
)
LIST = p.ModelList(
    (
        p.ProviderRow("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", models=2),
        p.ProviderRow("deepseek", "https://api.deepseek.com", "keyring hel deepseek", waiting=True),
        p.ProviderRow(
            "openai",
            "https://api.openai.com/v1",
            "OPENAI_API_KEY",
            problem="api.openai.com answered 401 when asked for its models.",
        ),
        p.ProviderRow("ollama", "http://127.0.0.1:11434/v1", is_local=True, models=2),
    ),
    (
        p.ModelRow(
            "deepseek", "deepseek-chat", window=128_000, recent=True, input_price=0.27, output_price=1.1
        ),
        CLAUDE,
        p.ModelRow("anthropic", "claude-haiku-4-5", window=200_000, sees=True),
        p.ModelRow("ollama", "qwen3:8b", window=32_768, tools=True, thinks=True, loaded=True, is_local=True),
        p.ModelRow("ollama", "llama2:latest", tools=False, sees=False, is_local=True),
        p.ModelRow("ollama", "llama3.2:3b", tools=True, parallel=False, is_local=True),
    ),
)


def core(models: p.ModelList = LIST) -> FakeCore:
    made = scenes.busy_core()
    made.model_list = models
    return made


async def open_sheet(d: Driver) -> ModelsScreen:
    await d.type("/model")
    await d.press("enter", after=1)
    await d.until(lambda: isinstance(d.app.screen, ModelsScreen))
    await d.pilot.pause(0.05)
    return d.app.screen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_sheet_of_models(size):
    async with opened(core(), size=size) as d:
        await open_sheet(d)
        await d.press("j")
        await d.pilot.pause(0.05)
        same_as_kept(f"models-{size[0]}x{size[1]}", screen_text(d.app))


async def test_the_sheet_in_korean(monkeypatch):
    monkeypatch.setenv("HEL_LANG", "ko")
    async with opened(core(), size=(80, 24)) as d:
        await open_sheet(d)
        same_as_kept("models-ko-80x24", screen_text(d.app))


async def test_a_model_that_takes_one_call_at_a_time_says_so():
    async with opened(core(), size=(100, 30)) as d:
        screen = await open_sheet(d)
        await d.press("slash", after=1)
        await d.until(lambda: screen.finder.has_focus)
        await d.type("llama3.2")
        await d.until(lambda: "one call at a time" in screen_text(d.app))
        assert "parallel calls" not in screen_text(d.app)


async def test_opening_asks_for_the_list_and_shows_what_comes():
    async with opened(core(p.ModelList())) as d:
        await open_sheet(d)
        assert d.core.sent(p.ListModels) == [p.ListModels()]
        assert "No key and no engine" in screen_text(d.app)
        d.core.model_list = LIST
        await d.put(p.ModelsListed(5, 1))
        await d.until(lambda: "claude-opus-4-8" in screen_text(d.app))
        assert "answered 401" in screen_text(d.app) and "asking …" in screen_text(d.app)
        await d.press("r")
        assert d.core.sent(p.ListModels)[-1] == p.ListModels(again=True)


async def test_enter_switches_and_an_effort_chosen_there_goes_along():
    async with opened(core()) as d:
        await open_sheet(d)
        await d.press("j", "e", "e", "enter", after=0.5)
        await d.until(lambda: not isinstance(d.app.screen, ModelsScreen))
        assert d.core.sent(p.SetModel) == [p.SetModel("anthropic/claude-opus-4-8")]
        assert d.core.sent(p.SetEffort) == [p.SetEffort("high")]


async def test_the_model_that_answers_is_marked_and_not_chosen_again():
    async with opened(core()) as d:
        await open_sheet(d)
        assert "● deepseek/deepseek-chat" in screen_text(d.app)
        await d.press("enter", after=0.5)
        await d.until(lambda: not isinstance(d.app.screen, ModelsScreen))
        assert d.core.sent(p.SetModel) == []


async def test_the_model_that_answers_is_shown_and_marked_though_nobody_lists_it():
    async with opened(core(p.ModelList(LIST.providers, LIST.models[1:]))) as d:
        screen = await open_sheet(d)
        assert "● deepseek/deepseek-chat" in screen_text(d.app)
        await d.press("slash", after=1)
        await d.until(lambda: screen.finder.has_focus)
        await d.type("claude")
        await d.until(lambda: "● deepseek/deepseek-chat" not in screen_text(d.app))


async def test_where_nobody_lists_models_the_one_that_answers_is_there_with_what_to_do():
    async with opened(core(p.ModelList())) as d:
        await d.press("alt+m", after=0.5)
        await d.until(lambda: "No key and no engine" in screen_text(d.app))
        assert "● deepseek/deepseek-chat" in screen_text(d.app)
        await d.press("enter", after=0.5)  # it answers already
        await d.until(lambda: d.app.screen is d.app.main)
        assert not d.core.sent(p.SetModel)


async def test_the_key_for_efforts_says_so_where_nobody_knows_any():
    async with opened(core()) as d:
        await open_sheet(d)
        await d.press("e")
        await d.until(lambda: any("/effort low" in one.message for one in d.app._notifications))
        assert not d.app.screen.efforts


async def test_searching_takes_several_words_and_leaves_out_the_rest():
    async with opened(core()) as d:
        screen = await open_sheet(d)
        await d.press("slash", after=1)
        await d.until(lambda: screen.finder.has_focus)
        await d.type("claude haiku")
        await d.until(lambda: [row.name for row in screen.by_key.values()] == ["claude-haiku-4-5"])
        assert "ollama" not in screen_text(d.app)


async def test_of_thousands_of_models_only_those_on_the_screen_are_drawn(monkeypatch):
    many = tuple(p.ModelRow("openrouter", f"vendor/model-{n:04}", window=1_000) for n in range(2_000))
    one = (p.ProviderRow("openrouter", "https://openrouter.ai/api/v1", "K", models=2_000),)
    drawn = []
    line_of = ModelsScreen.line
    monkeypatch.setattr(
        ModelsScreen, "line", lambda self, key, width: (drawn.append(key), line_of(self, key, width))[1]
    )
    async with opened(core(p.ModelList(one, many))) as d:
        await open_sheet(d)
        assert 0 < len(drawn) < 500


async def test_foreign_names_cannot_write_to_the_terminal():
    evil = p.ModelRow("x", "\x1b]0;owned\x07[red]\u202eevil", "http://\x1b[2J")
    async with opened(
        core(p.ModelList((p.ProviderRow("x", "http://x", problem="\x1b[2Jno"),), (evil,)))
    ) as d:
        await open_sheet(d)
        text = screen_text(d.app)
        assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text


# ----------------------------------------------------------- effort, header, prompt


async def test_the_effort_is_set_and_told_by_command():
    shown = p.ModelChanged("a/b", effort="low", efforts=("low", "high"))
    made = FakeCore()
    made.put(p.SessionStarted("s", "/srv/x", "confirm", "1"), shown)
    async with opened(made) as d:
        await d.type("/effort high")
        await d.press("enter", after=1)
        await d.type("/effort off")
        await d.press("enter", after=1)
        assert d.core.sent(p.SetEffort) == [p.SetEffort("high"), p.SetEffort("")]
        assert "a/b low" in screen_text(d.app)


def header(*events: p.Event) -> str:
    state = ViewState()
    reduce(state, [p.SessionStarted("s", "/srv/x", "confirm", "1"), *events])
    return "".join(text for text, _ in header_line(state, 100))


def test_the_header_says_who_stands_in_and_what_is_loaded():
    assert "b/c (stands in)" in header(p.ModelChanged("b/c", stands_in=True))
    loading = p.ModelLoading("local/x.gguf", 30, 120)
    assert "loading 25%" in header(loading)
    assert "loading" not in header(loading, p.ModelLoading("local/x.gguf"), p.ModelChanged("local//a/x.gguf"))
    assert "local/x.gguf" in header(p.ModelChanged("local//very/far/away/x.gguf"))


LOST = (
    p.TurnStarted(1, "is anybody there?"),
    p.StepStarted(1, 1),
    p.TurnEnded(1, "failed", "There is no network.", give_back=True),
)


async def test_a_message_that_reached_nobody_is_back_in_the_prompt():
    async with opened(scenes.busy_core()) as d:
        await d.put(*LOST)
        await d.until(lambda: d.app.main.prompt.text == "is anybody there?")


async def test_the_same_words_can_be_sent_again_once_they_came_back():
    async with opened(scenes.busy_core()) as d:
        await d.put(*LOST)
        await d.until(lambda: d.app.main.prompt.text == "is anybody there?")
        await d.press("ctrl+u")
        assert d.app.main.prompt.text == ""
        await d.type("is anybody there?")
        await d.press("enter")
        await d.until(lambda: d.core.sent(p.Submit) == [p.Submit("is anybody there?")])
        await d.put(p.TurnStarted(2, "is anybody there?"))
        await d.until(lambda: d.app.main.view.busy)
        assert d.app.main.prompt.text == ""


async def test_it_does_not_take_the_place_of_what_is_being_written():
    async with opened(scenes.busy_core()) as d:
        await d.type("something else")
        await d.put(*LOST)
        await d.until(lambda: "There is no network." in screen_text(d.app))
        await d.until(lambda: d.app.main.prompt.text == "is anybody there?\nsomething else")


def test_all_that_comes_back_in_one_frame_is_kept_in_its_order():
    lost = [*LOST, p.TurnStarted(9, "and now?"), p.TurnEnded(9, "failed", "No.", give_back=True)]
    assert reduce(ViewState(), lost).given_back == "is anybody there?\nand now?"
    taken = [p.Unqueued("second"), p.Unqueued("first")]
    assert reduce(ViewState(), taken).taken_back == "first\nsecond"


def test_a_session_that_is_gone_on_with_gives_nothing_back():
    state = ViewState()
    assert reduce(state, [p.Cleared("s", restoring=True), *LOST]).given_back == ""


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (512, "512"),
        (8_192, "8k"),
        (32_768, "32k"),
        (128_000, "128k"),
        (1_050_000, "1.1M"),
        (10**6, "1M"),
    ],
)
def test_windows_are_short(count, text):
    assert short_tokens(count) == text


@pytest.mark.parametrize(
    ("price", "text"),
    [(0.0, "0"), (0.0028, "0.0028"), (0.27, "0.27"), (1.1, "1.10"), (15.0, "15"), (1_500.0, "1,500")],
)
def test_prices_have_no_needless_digits(price, text):
    assert dollars(price) == text
