"""What an image is, told from its bytes."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hel_tui.core.images import Measure, for_a_model, measure

GIF = base64.b64decode("R0lGODlhAwACAIAAAP///wAAACH5BAAAAAAALAAAAAADAAIAAAIEhI9pUAA7")
LOSSY = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
LOSSLESS = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (GIF, Measure("image/gif", 3, 2)),
        (LOSSY + bytes(8), Measure("image/webp", 1, 1)),
        (LOSSLESS + bytes(8), Measure("image/webp", 1, 1)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x7f\x02\0\xdf\x01\0", Measure("image/webp", 640, 480)),
        (
            b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xff\xc0\x00\x11\x08\x00\x20\x00\x40" + bytes(20),
            Measure("image/jpeg", 64, 32),
        ),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(8), None),
        (b"<svg/>", None),
        (b"", None),
    ],
)
def test_type_and_size_are_read_from_the_head(data: bytes, found: Measure | None) -> None:
    assert measure(data) == found


def test_an_image_no_provider_takes_is_told_apart() -> None:
    assert for_a_model(b"BM....") == "not a PNG, JPEG, GIF or WebP image"
    assert for_a_model(GIF + bytes(5 * 2**20)) == "over 5 MiB"


@given(st.binary(max_size=64))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    for head in (
        b"",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"RIFF0000WEBPVP8X",
        b"RIFF0000WEBPVP8L",
        b"GIF89a",
    ):
        measure(head + data)
