"""A server's form on a real screen, filled in by keys alone."""

from __future__ import annotations

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.dialogs.gate import DEAF, SETTLE
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.screen_text import screen_text


def form(*fields: p.FormField, message: str = "Please.") -> p.FormQuestion:
    return p.FormQuestion("f9", "srv", message, fields)


async def to_choices(d: Driver) -> None:
    """From a field to the choices, until they hear."""
    await d.press("escape", after=1)
    await d.until(lambda: d.dialog.focused is None)
    d.clock.now += DEAF + 0.01


async def answer(d: Driver) -> p.Answer:
    await d.until(lambda: d.core.answers())
    assert len(d.core.answers()) == 1
    await d.until(lambda: not d.has_dialog)
    return d.core.answers()[0]


async def test_a_form_is_filled_in_and_sent_with_keys_alone():
    async with opened() as d:
        await d.ask(scenes.FORM)
        await d.type("Disk is full")
        await d.press("tab", after=0.3)
        await d.press("tab", after=0.3)
        await d.press("backspace", "1", "2", after=0.3)
        await d.press("tab", "space", "tab", after=0.3)
        await d.press("down", "space", "tab", after=0.3)
        await d.press("space", "down", "down", "space", after=0.3)
        await d.press("ctrl+s", after=0.3)
        d.clock.now += SETTLE + 0.01
        content = (
            ("title", "Disk is full"),
            ("mail", "ana@example.com"),
            ("count", 12),
            ("urgent", True),
            ("kind", "ask"),
            ("parts", ("net", "ui")),
        )
        assert await answer(d) == p.FormAnswer("accept", content)


@pytest.mark.parametrize(
    ("key", "action"), [("y", "accept"), ("n", "decline"), ("escape", "cancel"), ("enter", "cancel")]
)
async def test_accept_decline_and_cancel_are_three_answers(key, action):
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text", default="x")))
        await to_choices(d)
        await d.decide(key)
        assert await answer(d) == p.FormAnswer(action, (("a", "x"),) if action == "accept" else ())


async def test_ctrl_c_cancels_from_a_field():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text")))
        await d.press("ctrl+c", after=1)
        assert await answer(d) == p.FormAnswer("cancel")


async def test_what_cannot_be_sent_is_said_beside_its_field_and_nothing_is_sent():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text"), p.FormField("n", "integer", "Count", required=True)))
        await d.press("tab", after=0.3)
        await d.type("many")
        await d.press("ctrl+s", after=0.3)
        d.clock.now += SETTLE + 0.01
        await d.until(lambda: "A whole number" in screen_text(d.app))
        assert d.core.answers() == []
        assert d.dialog.focused is d.dialog.fields.editors["n"]
        await d.until(lambda: "One field cannot be sent yet" in screen_text(d.app))
        await d.press(*["backspace"] * 4, "7", after=0.3)
        await d.until(lambda: "A whole number" not in screen_text(d.app))
        await d.press("ctrl+s", after=0.3)
        d.clock.now += SETTLE + 0.01
        assert await answer(d) == p.FormAnswer("accept", (("n", 7),))


async def test_while_there_is_more_below_the_key_that_sends_shows_it_and_says_so():
    async with opened() as d:
        await d.ask(form(*(p.FormField(f"f{n}", "text") for n in range(30))))
        await d.until(lambda: "Ctrl+S shows more" in screen_text(d.app))
        assert "Ctrl+S sends" not in screen_text(d.app)
        shown = []
        while d.dialog.bar.locked:
            shown.append(screen_text(d.app))
            await d.press("ctrl+s", after=0.3)
            await d.until(lambda: screen_text(d.app) != shown[-1])
            assert d.dialog.focused is d.dialog.fields.editors["f0"]
        await d.until(lambda: "Ctrl+S sends" in screen_text(d.app))
        assert len(shown) >= 2 and d.core.answers() == []
        await d.press("ctrl+s", after=0.3)
        d.clock.now += SETTLE + 0.01
        assert await answer(d) == p.FormAnswer("accept")


async def test_what_was_filled_in_is_thrown_away_only_when_esc_is_pressed_twice():
    async with opened() as d:
        await d.put(p.TurnStarted(1, "go"))
        await d.ask(form(p.FormField("a", "text")))
        await d.type("much work")
        await d.until(lambda: "Esc leaves the field" in screen_text(d.app))
        await to_choices(d)
        await d.until(lambda: "Esc twice cancels" in screen_text(d.app))
        await d.press("escape", after=1)
        await d.until(lambda: "Esc again throws away what you filled in" in screen_text(d.app))
        await d.until(lambda: "Esc cancels" in screen_text(d.app))
        assert d.has_dialog and d.core.answers() == []
        await d.press("tab", after=1)
        assert d.dialog.fields.typed() == {"a": "much work"}
        await to_choices(d)
        await d.press("escape", after=1)
        assert d.core.answers() == []
        await d.press("escape", after=1)
        assert await answer(d) == p.FormAnswer("cancel")


async def test_enter_on_cancel_asks_once_too():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "boolean")))
        await d.press("space", after=1)
        await to_choices(d)
        await d.decide("enter")
        await d.until(lambda: "throws away" in screen_text(d.app))
        assert d.core.answers() == []
        await d.decide("enter")
        assert await answer(d) == p.FormAnswer("cancel")


async def test_at_the_choices_too_the_key_that_sends_shows_what_is_below():
    async with opened() as d:
        await d.ask(form(*(p.FormField(f"f{n}", "text") for n in range(30))))
        await to_choices(d)
        while d.dialog.bar.locked:
            place = d.dialog.fields.scroll_offset.y
            await d.press("ctrl+s", after=1)
            await d.until(lambda place=place: d.dialog.fields.scroll_offset.y > place)
        await d.decide("ctrl+s")
        assert await answer(d) == p.FormAnswer("accept")


async def test_letters_typed_into_a_field_decide_nothing():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text")))
        await d.type("yes no yes")
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []
        assert d.dialog.fields.typed() == {"a": "yes no yes"}


async def test_going_on_to_type_after_leaving_a_field_decides_nothing():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text")))
        await d.type("ab")
        await d.press("tab", after=0.1)
        await d.press("y", "e", "s", after=0.1)
        d.clock.now += SETTLE * 2
        await d.pilot.pause(0.1)
        assert d.core.answers() == []


async def test_keys_in_the_deaf_time_reach_no_field():
    async with opened() as d:
        d.clock.now += 2
        await d.put(p.Asked(form(p.FormField("a", "text"))))
        await d.until(lambda: d.has_dialog and d.dialog.gate.deaf_until != float("inf"))
        await d.press(*"abc", after=DEAF / 8)
        assert d.dialog.fields.typed() == {"a": ""}


async def test_tab_goes_round_through_fields_and_choices():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text"), p.FormField("b", "boolean")))
        seen = []
        for _ in range(4):
            seen.append(d.dialog.fields.field_of(d.dialog.focused))
            await d.press("tab", after=1)
        assert [field.name if field else "" for field in seen] == ["a", "b", "", "a"]
        await d.press("shift+tab", "shift+tab", after=1)
        assert d.dialog.focused is None
        await d.press("shift+tab", after=1)
        assert d.dialog.focused is d.dialog.fields.editors["b"]


async def test_a_form_without_fields_can_be_accepted():
    async with opened() as d:
        await d.ask(form())
        assert "nothing to fill in" in screen_text(d.app)
        await d.decide("y")
        assert await answer(d) == p.FormAnswer("accept")


async def test_fifty_fields_fit_the_smallest_terminal_and_must_have_been_seen():
    fields = tuple(p.FormField(f"f{n}", "text", f"Field number {n}", default=str(n)) for n in range(50))
    async with opened(size=(80, 24)) as d:
        await d.ask(form(*fields))
        assert "Field number 0" in screen_text(d.app) and "Field number 49" not in screen_text(d.app)
        assert "go on to the last field" in screen_text(d.app)
        await to_choices(d)
        await d.decide("y")
        assert d.core.answers() == []
        await d.press("end", after=1)
        await d.until(lambda: "Field number 49" in screen_text(d.app))
        await d.until(lambda: not d.dialog.bar.locked)
        await d.decide("y")
        sent = await answer(d)
        assert isinstance(sent, p.FormAnswer) and len(sent.content) == 50


async def test_the_field_with_the_focus_is_on_the_screen():
    fields = tuple(p.FormField(f"f{n}", "text", f"Field number {n}") for n in range(30))
    async with opened(size=(80, 24)) as d:
        await d.ask(form(*fields))
        for number in range(1, 30):
            await d.press("tab", after=0.5)
            await d.until(lambda number=number: f"Field number {number} " in screen_text(d.app))


async def test_a_long_message_is_read_to_its_end_before_anything_is_sent():
    async with opened(size=(80, 24)) as d:
        await d.ask(
            form(p.FormField("a", "boolean", "Agreed", default=True), message="word " * 1000 + "last")
        )
        await to_choices(d)
        await d.decide("y")
        assert d.core.answers() == []
        await d.press("end", after=1)
        await d.until(lambda: not d.dialog.bar.locked)
        assert "Agreed" in screen_text(d.app)


async def test_options_are_chosen_by_a_click():
    async with opened() as d:
        await d.ask(scenes.FORM)
        d.dialog.gate.deaf_until = 0.0
        await d.pilot.click(d.dialog.fields.editors["kind"], offset=(3, 2))
        await d.until(lambda: d.dialog.fields.typed()["kind"] == "idea")


async def test_what_is_pasted_into_a_field_is_cleaned_and_keeps_its_lines_in_a_text():
    async with opened() as d:
        await d.ask(form(p.FormField("a", "text"), p.FormField("b", "uri")))
        fields = d.dialog.fields
        for name in ("a", "b"):
            await d.press("tab" if name == "b" else "left", after=1)
            event = __import__("textual.events").events.Paste("one\x1b[2J\ntwo")
            event.time = d.clock.now
            d.app.post_message(event)
            await d.until(lambda name=name: fields.typed()[name])
        assert fields.typed() == {"a": "one\ntwo", "b": "one↵two"}
