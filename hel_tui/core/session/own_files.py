"""Files of the person's that join a message: text with its path, images as images.

A message names files of the project as `@path`; any other file is attached by hand. Not here: resources of
servers (offerings), finding names (tools.finding).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hel_tui.core.images import for_a_model, measure
from hel_tui.core.mcp.binary import ResultFiles
from hel_tui.core.protocol import Attachment
from hel_tui.core.tools.opening import read_whole
from hel_tui.core.tools.paths import Refusal, ResolvedPath, Workspace
from hel_tui.core.vocabulary import Image, estimate_tokens
from hel_tui.foreign import STAND_IN, for_model, plain_line

MAX_TEXT = 10 * 2**20
"""Bytes of a text file that are read."""
LONGEST = 50_000
"""Characters of a file that go along whole; of a longer one, head and tail."""
HEAD, TAIL = 16_000, 4_000
IMAGE_TOKENS = 1_000
"""What an image may cost at most, for the estimate of an attachment."""
MOST_NAMES = 10_000
"""Names of a folder that are looked through for one that is no text."""
_SNIFFED = 8_192
_MENTION = re.compile(r'(?<![\w@./])@(?:"([^"\n]{1,500})"|([^\s"]{1,500}))')
_AFTER = ".,;:!?)]}>'\""
_FILE = re.compile(
    r"\.(?:bat|c|cc|cfg|conf|cpp|cs|css|csv|diff|env|go|gif|h|hpp|html?|ini|ipynb|java|jpe?g|jsx?|json[cl]?|kt|lock"
    r"|log|lua|md|mjs|patch|php|pl|png|ps1|pyi?|rb|rs|rst|scss|sh|sql|svg|swift|tex|toml|tsx?|tsv|txt|vue|webp"
    r"|xml|ya?ml)$",
    re.I,
)
"""Endings that only names of files have: `@app.route` and `@a.person` are mentions of none."""


@dataclass(frozen=True, slots=True)
class Joining:
    """What joins the next message, of a file or a resource."""

    shown: Attachment
    text: str
    images: tuple[Image, ...] = ()


class OwnFiles:
    """Reads beside the loop; may be used from any thread."""

    def __init__(self, workspace: Workspace, files: Callable[[], ResultFiles]) -> None:
        self._workspace = workspace
        self._files = files
        self._pasted = 0

    def mentions(self, text: str) -> list[str]:
        """Paths of files of the project that a message names as `@path` or `@"path"`, in order.

        What is behind a word is no mention (an address), and neither is what names no file.
        """
        found: dict[str, None] = {}
        for quoted, bare in _MENTION.findall(text):
            path = quoted or bare
            while not quoted and path and path[-1] in _AFTER and not self._is_file(path):
                path = path[:-1]
            if path and self._is_file(path):
                found[path] = None
        return list(found)

    def strays(self, text: str) -> list[str]:
        """What a message seems to name as a file of the project and is none: a typing mistake, maybe, or what
        is there and is a folder, a pipe, or lies elsewhere.
        """
        found: dict[str, None] = {}
        for quoted, bare in _MENTION.findall(text):
            path = quoted or bare.rstrip(_AFTER)
            if ":" in path or not path.strip("./") or self._is_file(path):  # with a colon: a resource
                continue
            if _FILE.search(path) or self._is_there(path):
                found[path] = None
        return list(found)

    def _is_there(self, path: str) -> bool:
        """Whether something has this name, also one that text cannot tell."""
        try:
            place = self._workspace.project / Path(path).expanduser()
            if os.path.lexists(place):
                return True
            if STAND_IN not in place.name:
                return False
            with os.scandir(place.parent) as entries:
                names = (
                    os.fsencode(one.name).decode("utf-8", "replace") for one in islice(entries, MOST_NAMES)
                )
                return place.name in names
        except (OSError, ValueError, RuntimeError):
            return False

    def _is_file(self, path: str) -> bool:
        place = self._workspace.resolve(path)
        if isinstance(place, Refusal):
            return False
        try:
            return stat.S_ISREG(place.path.stat(follow_symlinks=False).st_mode)
        except (OSError, ValueError):
            return False

    def read(self, path: str) -> Joining | str:
        """What a file adds to a message, or a sentence why it does not. Blocking."""
        place = self._workspace.resolve(path)
        if isinstance(place, ResolvedPath):
            content = read_whole(self._workspace, place, MAX_TEXT)
            if isinstance(content, Refusal):
                return f"{path} was not attached. {content.sentence}"
            return self._joining(path, place.shown, content.data)
        data = _read(Path(path).expanduser())
        if isinstance(data, str):
            return f"{path} was not attached: {data}."
        return self._joining(path, path, data)

    def pasted(self, data: bytes) -> Joining | str:
        """What an image from the clipboard adds to a message."""
        self._pasted += 1
        name = f"pasted-{self._pasted}"
        return self._joining(name, name, data)

    def _joining(self, path: str, shown: str, data: bytes) -> Joining | str:
        if measure(data) is not None:
            return self._image(path, shown, data)
        text = _text_of(data)
        if text is None:
            return f"{shown} was not attached: it is neither text nor a PNG, JPEG, GIF or WebP image."
        whole = for_model(text)
        part = whole
        if len(whole) > LONGEST:
            left = len(whole) - HEAD - TAIL
            notice = f"\n[… {left:,} characters are left out here: read_file reads them …]\n"
            part = f"{whole[:HEAD]}{notice}{whole[-TAIL:]}"
        name = plain_line(shown)
        block = f"[file {name}]\n{part}\n[end of file {name}]"
        attachment = Attachment(
            "", path, shown, "text/plain", len(data), estimate_tokens(block), part is not whole
        )
        return Joining(attachment, block)

    def _image(self, path: str, shown: str, data: bytes) -> Joining | str:
        image = for_a_model(data)
        if isinstance(image, str):
            return f"{shown} was not attached: it is {image}."
        try:
            kept = self._files().save_bytes(Path(shown).name, image.mime, data)
        except OSError as error:
            return f"{shown} was not attached: it could not be kept ({error.strerror})."
        image = Image(image.mime, data, kept, image.width, image.height)
        marker = f"[image {plain_line(shown)}, {image.label}, saved: {kept}]"
        tokens = IMAGE_TOKENS + estimate_tokens(marker)
        attachment = Attachment("", path, shown, image.mime, len(data), tokens)
        return Joining(attachment, marker, (image,))


def _read(path: Path) -> bytes | str:
    """The bytes of a regular file that the person named, or a phrase why not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return "there is no such file"
    except OSError as error:
        return (error.strerror or "it cannot be read").lower()
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return "it is no file"
        data = file.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        return f"it is over {MAX_TEXT // 2**20} MiB"
    return data


def _text_of(data: bytes) -> str | None:
    """Text in UTF-8 or UTF-16 with its mark; None for anything else."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:_SNIFFED]:
        return None
    text = data.decode("utf-8-sig", "replace")
    # some bytes of another encoding do not make a text unreadable
    return text if text.count("\ufffd") * 10 <= len(text) else None
