"""What an image is, told from its bytes: its type, its size in pixels, whether a model may look at it.

Reads heads of files and decodes nothing. Not here: where images come from, how they are sent (models.wire).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.vocabulary import Image

MAX_BYTES = 5 * 1024 * 1024
"""Of an image for a model; the strictest limit among providers."""
MAX_SIDE = 8000
"""Pixels; likewise."""

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that carry the size (ITU T.81, B.1.1.3)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Type and size of an image."""

    mime: str
    width: int
    height: int


def measure(data: bytes) -> Measure | None:
    """Return what the bytes are; None when they are no PNG, JPEG, GIF or WebP, or end too early."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return _found("png", int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return _found("gif", int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    if data[:3] == b"\xff\xd8\xff":
        return _jpeg(data)
    return None


def for_a_model(data: bytes, path: Path | None = None) -> Image | str:
    """Return the image as a model may be shown it, or a phrase that says why it may not."""
    size = measure(data)
    if size is None:
        return "not a PNG, JPEG, GIF or WebP image"
    if len(data) > MAX_BYTES:
        return f"over {MAX_BYTES // 2**20} MiB"
    if max(size.width, size.height) > MAX_SIDE:
        return f"over {MAX_SIDE:,} pixels wide or high"
    return Image(size.mime, data, path, size.width, size.height)


def _found(kind: str, width: int, height: int) -> Measure | None:
    return Measure(f"image/{kind}", width, height) if width and height else None


def _webp(data: bytes) -> Measure | None:
    """RFC 9649, sections 2.5 to 2.7."""
    chunk = data[12:16]
    if chunk == b"VP8X":
        width, height = int.from_bytes(data[24:27], "little"), int.from_bytes(data[27:30], "little")
        return _found("webp", width + 1, height + 1)
    if chunk == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return _found("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if chunk == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
        return _found("webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _jpeg(data: bytes) -> Measure | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # fill bytes before a marker
            at += 1
            continue
        if marker in _START_OF_FRAME:
            height, width = data[at + 5 : at + 7], data[at + 7 : at + 9]
            return _found("jpeg", int.from_bytes(width, "big"), int.from_bytes(height, "big"))
        at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None
