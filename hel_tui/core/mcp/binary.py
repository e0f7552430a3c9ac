"""Binary parts of what a server sends: decoded, judged by their bytes, saved, told of in a marker.

Tolerant: whatever is wrong with a part becomes its marker. Not here: which block it came in (content), names
of files (the session's files, passed in).
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hel_tui.core.images import for_a_model, measure
from hel_tui.core.vocabulary import Image

MAX_BINARY = 32 * 1024 * 1024
"""Larger images, sounds and blobs are not decoded; bytes."""
UNKNOWN = "application/octet-stream"

_LABEL = 200
"""Characters of a part's name in its marker."""
_DATA_URL = re.compile(r"data:[\w/+.;=-]{0,200},")
_TEXTUAL = re.compile(
    r"text/|application/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|x-yaml|x-sh|sql)\Z|image/svg\+xml\Z"
)


class Spilled(Protocol):
    """What became of a long text."""

    @property
    def text(self) -> str:
        """For the model: the text itself, or its head, a notice and its tail."""

    @property
    def path(self) -> Path | None:
        """Where the whole text is, if it was cut."""


class ResultFiles(Protocol):
    """Where the session keeps what is too long or too binary for a message."""

    def save_bytes(self, hint: str, mime: str, data: bytes) -> Path:
        """Save under a safe name made from `hint`. Raises OSError."""

    def spill(self, text: str, hint: str = "") -> Spilled:
        """Save a text above the limit of a result; a shorter one comes back as it is."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of one part. `marker` stands for it in text, in brackets."""

    marker: str
    mime: str = UNKNOWN
    size: int = 0
    """Bytes."""
    measure: str = ""
    """Of an image: such as `640×480`."""
    path: Path | None = None
    image: Image | None = None
    """Where a model may look at it."""
    warning: str = ""
    """A phrase, where it is not what it says it is."""


def keep(kind: str, claimed: Any, data: Any, hint: str, files: ResultFiles, name: str = "") -> Kept:
    """Decode base64 `data` and save it. `kind` and `name` (such as a URI) are for the marker, `claimed` is
    the MIME type it came with. Never raises.
    """
    said = plain_mime(claimed)
    label = f"{kind} {name or said.rpartition('/')[2]}"[:_LABEL]
    if not isinstance(data, str):
        return Kept(f"[{label}, without data]", said)
    if len(data) * 3 // 4 > MAX_BINARY:
        count = len(data) * 3 // 4
        return Kept(f"[{label}, {count:,} bytes: too large, not saved]", said, count)
    content = decoded(data)
    if content is None:
        return Kept(f"[{label}: its base64 is broken, not saved]", said)
    found = measure(content)
    mime = found.mime if found else said
    if not name:
        label = f"{kind} {mime.rpartition('/')[2]}"[:_LABEL]
    size = f"{found.width}×{found.height}" if found else ""
    extent = size or f"{len(content):,} bytes"
    warning = _contradiction(kind, said, found.mime if found else "")
    try:
        path = files.save_bytes(hint, mime, content)
    except OSError as error:
        marker = f"[{label} {extent}, could not be saved: {error.strerror or error}]"
        return Kept(marker, mime, len(content), size, warning=warning)
    image = for_a_model(content, path) if found else None
    if isinstance(image, str):
        extent += f" ({image}: not shown to the model)"
        image = None
    return Kept(f"[{label} {extent}, saved: {path}]", mime, len(content), size, path, image, warning)


def text_in(claimed: Any, data: Any) -> str | None:
    """Return the text in base64 `data` when its MIME type says text and it is UTF-8; else None."""
    if not isinstance(data, str) or not _TEXTUAL.match(plain_mime(claimed)):
        return None
    content = decoded(data) if len(data) * 3 // 4 <= MAX_BINARY else None
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def decoded(data: str) -> bytes | None:
    """Return the bytes of base64 as servers write it: with line breaks, URL-safe, without its end, as a data
    URL; None when it is broken.
    """
    head = _DATA_URL.match(data)
    text = "".join(data[head.end() if head else 0 :].split()).rstrip("=")
    text = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def plain_mime(claimed: Any) -> str:
    """Return a MIME type in lower case without parameters; that of unknown bytes for anything else."""
    mime = claimed.partition(";")[0].strip().lower() if isinstance(claimed, str) else ""
    return mime if re.fullmatch(r"[\w.+-]{1,80}/[\w.+-]{1,80}", mime, re.ASCII) else UNKNOWN


def _contradiction(kind: str, said: str, found: str) -> str:
    """Return what is wrong with the claimed type, given the type the bytes were found to have."""
    said = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}.get(
        said, said
    )
    if found and said not in (found, UNKNOWN):
        return f"a part that says {said} is {found}"
    if not found and said in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        return f"a part that says {said} is no such image"
    if not found and kind == "image" and said == UNKNOWN:
        return "an image is of no known type"
    return ""
