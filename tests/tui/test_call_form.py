"""The form of a call on a fake core: what its rows say, hostile and large schemas, sizes of the screen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hel_tui.core import protocol as p
from hel_tui.tui.screens.call.screen import CallScreen
from tests.tui import scenes
from tests.tui.driving import Driver, opened
from tests.tui.fake_core import FakeCore
from tests.tui.screen_text import screen_text
from tests.tui.snapshots import same_as_kept


def with_schema(schema: Any, description: str = "Does something.") -> FakeCore:
    core = scenes.busy_core()
    row = p.ToolRow("inventory", "lookup_port", "mcp__inventory__lookup_port", description, 84, True)
    core.rows = (row, *core.rows[1:])
    core.tool_details["inventory", "lookup_port"] = p.ToolDetail(row, description, json.dumps(schema))
    return core


def obj(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


async def begin(d: Driver) -> CallScreen:
    d.app.main.commands.calls.open("inventory", "lookup_port")
    await d.until(lambda: isinstance(d.app.screen, CallScreen))
    await d.pilot.pause()
    assert isinstance(d.app.screen, CallScreen)
    return d.app.screen


def sent(d: Driver) -> list[Any]:
    return [json.loads(command.arguments) for command in d.core.sent(p.CallTool)]  # type: ignore[attr-defined]


async def test_n_in_the_tools_pane_opens_the_form_and_a_key_sends_what_it_requires() -> None:
    schema = obj(
        {"service": {"type": "string"}, "count": {"type": "integer", "default": 0}}, "service", "count"
    )
    async with opened(with_schema(schema)) as d:
        await d.press("f4", after=0.5)
        pane = d.app.main.side.tools
        pane.select(next(key for key, tool in pane.tools.items() if tool.raw == "lookup_port"))
        await d.press("n", after=0.5)
        await d.until(lambda: isinstance(d.app.screen, CallScreen))
        await d.pilot.pause()
        await d.type("api")
        await d.press("ctrl+s", after=0.5)
        (command,) = d.core.sent(p.CallTool)
        assert isinstance(command, p.CallTool)
        assert (command.target, command.share) == ("inventory.lookup_port", False)
        assert sent(d) == [{"service": "api", "count": 0}]


async def test_rows_say_the_kind_the_limits_and_the_default_and_tell_left_out_from_empty() -> None:
    schema = obj(
        {
            "n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 4},
            "s": {"type": "string"},
            "old": {"type": "string", "deprecated": True, "readOnly": True},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        }
    )
    async with opened(with_schema(schema)) as d:
        screen = await begin(d)
        text = screen_text(d.app, screen.form)
        for words in ("whole number 1–9", "default 4", "deprecated", "read-only", "string | null"):
            assert words in text
        await d.press("j", "space", after=0.5)
        await d.until(lambda: '""' in screen_text(d.app, screen.form))
        await d.press("ctrl+s", after=0.5)
        await d.press("x", "ctrl+s", after=0.5)
        assert sent(d) == [{"s": ""}, {}]


async def test_a_password_is_not_shown_once_it_is_typed() -> None:
    async with opened(with_schema(obj({"key": {"type": "string", "format": "password"}}, "key"))) as d:
        screen = await begin(d)
        await d.type("hunter22")
        await d.press("enter", after=0.5)
        text = screen_text(d.app, screen)
        assert "hunter22" not in text and "••••" in text
        await d.press("ctrl+s", after=0.5)
        assert sent(d) == [{"key": "hunter22"}]


async def test_a_warning_is_sent_over_when_it_is_said_again() -> None:
    async with opened(with_schema(obj({"mail": {"type": "string", "format": "email"}}, "mail"))) as d:
        screen = await begin(d)
        await d.type("nobody")
        await d.press("ctrl+s", after=0.5)
        assert "It does not look like: email." in screen_text(d.app, screen)
        assert not sent(d)
        await d.press("ctrl+s", after=0.5)
        assert sent(d) == [{"mail": "nobody"}]


HOSTILE = "evil\x1b[2J\x1b]0;x\x07[bold red]\u202e\u2066\x00"


async def test_nothing_a_schema_says_is_taken_for_anything_but_text() -> None:
    schema = obj(
        {
            HOSTILE: {
                "type": "string",
                "description": HOSTILE,
                "title": HOSTILE,
                "examples": [HOSTILE],
                "default": HOSTILE,
            },
            "c": {"enum": [HOSTILE, "b"], "enumNames": [HOSTILE]},
            "u": {"oneOf": [{"title": HOSTILE, "type": "object"}, {"type": "string"}]},
        },
        HOSTILE,
        "c",
        "u",
    )
    async with opened(with_schema(schema, HOSTILE)) as d:
        screen = await begin(d)
        for key in ("escape", "enter", "escape", "G", "enter", "b", "escape"):
            await d.press(key, after=0.5)
            if d.app.screen is screen:
                shown = screen_text(d.app)
                assert not set(shown) & set("\x1b\x07\x00\u202e\u2066")
                assert "[bold red]" in shown or "evil" not in shown


@pytest.mark.parametrize(
    "schema", [True, False, {}, {"type": "array"}, {"oneOf": [{"type": "object"}]}, 7, None, "x"]
)
async def test_a_schema_of_no_object_opens_and_json_can_be_sent(schema: Any) -> None:
    async with opened(with_schema(schema)) as d:
        screen = await begin(d)
        if screen.form.form_view.is_typing:
            await d.press("escape", after=0.5)
        await d.press("ctrl+r", after=0.5)
        screen.form.editor.text = '{"a": 1}'
        await d.press("ctrl+s", after=0.5)
        assert sent(d) == ([] if schema is False or schema == {"type": "array"} else [{"a": 1}])


async def test_a_form_of_thousands_of_fields_has_as_many_widgets_as_a_small_one() -> None:
    async def widgets(count: int) -> int:
        schema = obj({f"field_{n}": {"type": "string"} for n in range(count)}, f"field_{count - 1}")
        async with opened(with_schema(schema)) as d:
            screen = await begin(d)
            await d.until(lambda: f"field_{count - 1}" in screen_text(d.app, screen.form))
            return len(list(screen.walk_children()))

    assert await widgets(3_000) == await widgets(2) < 40


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_the_way_out_is_told_at_every_size(size: tuple[int, int]) -> None:
    async with opened(with_schema(obj({"a": {"type": "string"}})), size=size) as d:
        screen = await begin(d)
        assert "Esc leave" in screen_text(d.app, screen.foot)
        await d.press("tab", after=0.5)
        assert "Esc leave" in screen_text(d.app, screen.foot)


async def test_f1_tells_the_keys_of_both_sides() -> None:
    async with opened(with_schema(obj({}))) as d:
        await begin(d)
        await d.press("f1", after=0.5)
        shown = screen_text(d.app)
        assert "send the call" in shown


async def test_a_tool_that_is_gone_says_so() -> None:
    async with opened(scenes.busy_core()) as d:
        d.app.main.commands.calls.open("inventory", "lookup_port")
        await d.until(lambda: d.app._notifications)
        assert "not listed now" in next(iter(d.app._notifications)).message


PICTURE = {
    **obj(
        {
            "title": {
                "type": "string",
                "minLength": 3,
                "description": "What it is called.",
                "examples": ["Sun"],
            },
            "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "mode": {"enum": ["fast", "slow"], "default": "fast"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": ["string", "null"]},
            "shape": {
                "oneOf": [
                    {**obj({"r": {"type": "number"}}, "r"), "title": "Circle"},
                    {**obj({"w": {"type": "number"}}, "w"), "title": "Box"},
                ]
            },
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "title",
        "shape",
    )
}


def ended(core: FakeCore, call_id: str, number: int) -> list[p.Event]:
    """A call that came to a result, told and kept."""
    content = {"number": number, "title": "Sun"}
    text = json.dumps(content)
    raw = json.dumps({"content": [{"type": "text", "text": text}], "structuredContent": content})
    core.details[call_id] = p.CallDetail(
        call_id, "inventory", "lookup_port", '{"title": "Sun"}', text, "ok", shared=number > 1, raw=raw
    )
    return [
        p.CallStarted(1, call_id, "inventory", "lookup_port", "title=Sun", by_hand=True),
        p.CallChanged(call_id, "running"),
        p.CallChanged(call_id, "ok", 0.011, text, 1),
    ]


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_frames_of_a_form_with_mistakes_and_of_two_results_compared(size: tuple[int, int]) -> None:
    tag = f"{size[0]}x{size[1]}"
    core = with_schema(PICTURE, "Draws a picture.")
    async with opened(core, size=size) as d:
        await d.put(*ended(core, "one", 1), *ended(core, "two", 2))
        await begin(d)
        await d.type("Su")
        await d.press("ctrl+s", after=0.5)
        same_as_kept(f"call-form-{tag}", screen_text(d.app))
        await d.press("right_square_bracket", "tab", "equals_sign", after=0.5)
        await d.until(lambda: "1 value differs" in screen_text(d.app))
        same_as_kept(f"call-compare-{tag}", screen_text(d.app))


@pytest.mark.parametrize("number", [10**4000, -(10**4000), 10**309, 1e308, 0])
async def test_limits_beyond_all_floats_are_drawn(number: float) -> None:
    limits = {"minimum": number, "maximum": number, "multipleOf": number, "default": number}
    schema = obj({"n": {"type": "integer", **limits}, "l": {"type": "array", "minItems": number}}, "n")
    async with opened(with_schema(schema)) as d:
        await begin(d)
        assert "n *" in screen_text(d.app)
        await d.press("ctrl+s", after=0.5)
        await d.press("ctrl+r", after=0.5)
        assert isinstance(d.app.screen, CallScreen)
