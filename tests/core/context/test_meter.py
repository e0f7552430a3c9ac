"""What the next request is estimated at."""

from __future__ import annotations

import pytest

from hel_tui.core.context.meter import Meter, image_tokens
from hel_tui.core.vocabulary import AssistantMessage, Image, ToolMessage, UserMessage


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
