"""What the next request is estimated at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.context.meter import Meter, definition_tokens, image_tokens
from hel_tui.core.vocabulary import (
    AssistantMessage,
    Image,
    Message,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)


def image(width: int, height: int) -> Image:
    return Image("image/png", b"", None, width, height)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(1, 1, 255), (512, 512, 255), (1024, 1024, 765), (2048, 4096, 1105), (8000, 10, 765), (0, 0, 255)],
)
def test_an_image_costs_by_tiles(width: int, height: int, tokens: int) -> None:
    assert image_tokens(image(width, height)) == tokens


def test_images_count_for_a_model_that_sees_only() -> None:
    history = [UserMessage("abcd", (image(1, 1),)), AssistantMessage("abcd"), ToolMessage("1", "t", "abcd")]
    assert Meter().estimate("", history, ()) == (3, 3, 0)
    assert Meter().estimate("", history, (), sees=True) == (258, 258, 0)
    meter = Meter()
    meter.report(300, 1)
    shot = ToolMessage("2", "t", "", images=(image(1, 1),))
    assert meter.estimate("", [*history, shot], (), sees=True)[0] == 300 + 2 + 255


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL = ToolDefinition("read_file", "Reads a file of the project.", SCHEMA)


def talk(length: int) -> list[Message]:
    return [UserMessage("abcd" * 100) for _ in range(length)]


def test_the_providers_count_and_what_came_since_make_the_estimate() -> None:
    meter, history = Meter(), talk(10)
    meter.report(1_500, 10, system="abcd" * 50, history=history, tools=(TOOL,))
    history += [AssistantMessage("abcd" * 10), ToolMessage("1", "t", "abcd" * 20)]
    assert meter.estimate("abcd" * 50, history, (TOOL,)).whole == 1_530


def test_tools_that_were_loaded_since_count_too() -> None:
    meter, history = Meter(), talk(10)
    meter.report(1_500, 10, system="s", history=history, tools=())
    loaded = meter.estimate("s", history, (TOOL, TOOL))
    assert loaded.whole - 1_500 == loaded.definitions == 2 * definition_tokens(TOOL)
    assert meter.estimate("s", history, ()).whole == 1_500


def test_after_a_summary_the_estimate_keeps_the_providers_measure() -> None:
    """Korean has more tokens than characters / 4; what was learned of that outlives what was counted."""
    meter, history = Meter(), talk(20)
    meter.report(6_000, 20, history=history)
    assert meter.scale == 3.0
    meter.forget()
    assert meter.estimate("", history[:10], ()).whole == 3_000
    meter.reset()
    assert meter.estimate("", history[:10], ()).whole == 1_000


@pytest.mark.parametrize("count", [0, 3, 900_000])
def test_a_count_that_cannot_be_is_not_believed(count: int) -> None:
    meter, history = Meter(), talk(20)
    meter.report(count, 20, history=history)
    assert (meter.reported, meter.estimate("", history, ()).whole) == (0, 2_000)


def test_a_refused_request_was_as_long_as_its_limit_at_least() -> None:
    meter, history = Meter(), talk(20)
    meter.at_least(4_000, meter.estimate("", history, ()).whole)
    assert meter.estimate("", history, ()).whole == 4_000
    meter.at_least(1_000, 4_000)
    assert meter.estimate("", history, ()).whole == 4_000


def test_reasoning_counts_where_it_goes_back_only() -> None:
    history: list[Message] = [AssistantMessage("abcd", "abcd" * 30, extra={"signature": "x" * 40})]
    assert Meter().estimate("", history, ()).whole == 1
    assert 31 < Meter().estimate("", history, (), thinks=True).whole < 60


sized = st.builds(lambda size: UserMessage("abcd" * size), st.integers(0, 50))


@given(st.lists(st.tuples(st.sampled_from(["append", "amend", "cut"]), sized), max_size=30))
def test_what_is_followed_is_what_is_counted_anew(changes: list[tuple[str, UserMessage]]) -> None:
    history: list[Message] = []
    meter = Meter()
    for what, message in changes:
        match what:
            case "append":
                history.append(message)
            case "amend" if history:
                history[-1] = message
            case "cut" if history:
                del history[: len(history) // 2]
                meter.forget()
        assert meter.estimate("abcd", history, ()) == Meter().estimate("abcd", history, ())
