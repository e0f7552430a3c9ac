"""Files of one session: large results and binary parts, kept beside the conversation.

Names are hel's own, made from a hint that may be hostile; nothing is ever overwritten or removed. Not
here: the conversation itself (sessions), who may read the folder (tools.paths).
"""

from __future__ import annotations

import mimetypes
import os
import re
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hel_tui.core.store.atomic import PRIVATE_FILE, why
from hel_tui.core.store.places import make_private
from hel_tui.core.vocabulary import estimate_tokens

SPILL_TOKENS = 12_500
"""Estimated tokens above which a result is saved and shown in part."""
SPILL_HEAD = 4_096
SPILL_TAIL = 1_024
UNSAVED_HEAD = 40_000
UNSAVED_TAIL = 8_000
"""Characters that stay inline when the rest cannot be saved."""

_NOTICE = re.compile(
    r"\[Cut here\. The whole is [\d,]+ bytes, [\d,]+ lines?, saved as (?P<path>[^\n]{1,4096})\. "
    r"Read parts of it with read_file \(start_line, max_lines\)\.\]"
)
_NOTICE_LENGTH = 200
"""Characters of a notice with a path of usual length: a cut that saves less is none."""
_MAX_NAME = 80
"""Bytes of a name, extension included."""
_MAX_EXTENSION = 12
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
"""Encodings by the mark that a text begins with."""
_EXTENSIONS = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/markdown": ".md",
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
}


@dataclass(frozen=True, slots=True)
class Spilled:
    """A result as the model gets it. `full` is the whole text where `text` is only a part of it."""

    text: str
    full: str | None = None
    path: Path | None = None


class SessionFiles:
    """The folder of the open session. Made when the first file is; safe to use from several threads."""

    def __init__(self, folder: Path, hide: Callable[[str], str] = str) -> None:
        """`hide` takes known secrets out of what is saved; it is called in any thread."""
        self.folder = folder
        self.hide = hide
        self._lock = threading.Lock()
        self._taken: dict[str, int] = {}

    def turn_over(self, folder: Path) -> None:
        """Save into another folder from now on: a new session began."""
        with self._lock:
            self.folder = folder
            self._taken.clear()

    def save_text(self, hint: str, text: str) -> Path:
        """Save `text` as UTF-8 under a name made from `hint`, without known secrets. Raises OSError."""
        return self._save(safe_name(hint, ".txt"), self.hide(text).encode("utf-8", "backslashreplace"))

    def save_bytes(self, hint: str, mime: str, data: bytes) -> Path:
        """Save `data` under a name made from `hint`, its extension from `mime`, without known secrets that
        are written in it as text. Raises OSError.
        """
        return self._save(safe_name(hint, extension_of(mime)), _without(data, self.hide))

    def spill(self, text: str, hint: str = "") -> Spilled:
        """Return `text` as it is, or above the limit its head and tail around a notice of the file that
        holds the whole. When that cannot be saved, more of it stays inline, cut. Never raises.
        """
        if estimate_tokens(text) <= SPILL_TOKENS:
            return Spilled(text)
        text = self.hide(text)
        try:
            path = self.save_text(hint or "result", text)
        except OSError as error:
            return _unsaved(text, why(error))
        return Spilled(_around(text, SPILL_HEAD, _saved_notice(text, path), SPILL_TAIL), text, path)

    def shorten(self, text: str, head: int, tail: int, hint: str = "") -> str:
        """`text` with only so many characters of its head and tail, around a notice of the file with the
        whole: the one it was cut with before, where it was. As it is where that is not shorter. Never raises.
        """
        notice = self._own_notice(text)
        if len(text) <= head + tail + max(len(notice), _NOTICE_LENGTH):
            return text
        if not notice:
            try:
                notice = _saved_notice(text, self.save_text(hint or "result", text))
            except OSError as error:
                notice = _unsaved_notice(text, why(error))
        return _around(text, head, notice, tail)

    def _own_notice(self, text: str) -> str:
        """The notice that this folder's cut left in `text`; a foreign text may hold one that is none."""
        for found in _NOTICE.finditer(text):
            if (path := Path(found["path"])).parent == self.folder and path.is_file():
                return found[0]
        return ""

    def _save(self, name: str, data: bytes) -> Path:
        with self._lock:
            make_private(self.folder)
            path, handle = self._create(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _create(self, name: str) -> tuple[Path, int]:
        """Create a new file named `name`, or with a number before the extension if that is taken."""
        stem, dot, extension = name.rpartition(".")
        number = self._taken.get(name, 0)
        while True:
            number += 1
            numbered = name if number == 1 else f"{stem}-{number}{dot}{extension}"
            path = self.folder / numbered
            try:
                handle = os.open(
                    path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE
                )
            except FileExistsError:
                continue
            self._taken[name] = number
            return path, handle


def spilled(text: str, files: SessionFiles | None, hint: str = "") -> Spilled:
    """`files.spill`, or the same without a folder: what is above the limit is cut, but stays inline."""
    if files is not None:
        return files.spill(text, hint)
    return Spilled(text) if estimate_tokens(text) <= SPILL_TOKENS else _unsaved(text, "there is no folder")


def _without(data: bytes, hide: Callable[[str], str]) -> bytes:
    """`data` with `hide` applied to what is text in it, in UTF-8 or, with its mark, in UTF-16."""
    ways = [("utf-8", "surrogateescape")]
    if len(data) % 2 == 0 and data[:2] in _UTF_16:
        ways.append((_UTF_16[data[:2]], "surrogatepass"))
    for encoding, errors in ways:
        text = data.decode(encoding, errors)
        if (hidden := hide(text)) != text:
            return hidden.encode(encoding, errors)
    return data


def extension_of(mime: str) -> str:
    """The extension for a MIME type (parameters ignored), with its dot; `.bin` when unknown."""
    kind = mime.partition(";")[0].strip().lower()
    return _EXTENSIONS.get(kind) or mimetypes.guess_extension(kind) or ".bin"


def safe_name(hint: str, extension: str) -> str:
    """A plain file name from a foreign hint: its last segment without control, hidden or odd characters.

    Never empty, never starting with a dot or dash, at most 80 bytes, ending in `extension` (where that is
    only `.bin`, an extension of the hint's own stays).
    """
    last = hint.replace("\\", "/").rstrip("/").rpartition("/")[2]
    kept = "".join(_plain(char) for char in unicodedata.normalize("NFC", last))
    stem = "-".join(part for part in kept.split("-") if part).strip(".-_ ") or "file"
    own_stem, dot, own = stem.rpartition(".")
    if dot and own_stem and (f".{own}".lower() == extension or (extension == ".bin" and _is_short(own))):
        stem, extension = own_stem, f".{own}"
    room = _MAX_NAME - len(extension.encode())
    stem = stem.encode()[:room].decode("utf-8", "ignore").rstrip(".-_ ") or "file"
    return stem + extension


def _plain(char: str) -> str:
    if char.isalnum() or char in "._-":
        return char
    return "" if unicodedata.category(char).startswith(("C", "M")) else "-"


def _is_short(extension: str) -> bool:
    return extension.isascii() and extension.isalnum() and len(extension) < _MAX_EXTENSION


def _saved_notice(text: str, path: Path) -> str:
    return (
        f"[Cut here. The whole is {_measure(text)}, saved as {path}. "
        "Read parts of it with read_file (start_line, max_lines).]"
    )


def _unsaved_notice(text: str, reason: str) -> str:
    return f"[Cut here. The whole is {_measure(text)}; it could not be saved: {reason}.]"


def _unsaved(text: str, reason: str) -> Spilled:
    return Spilled(_around(text, UNSAVED_HEAD, _unsaved_notice(text, reason), UNSAVED_TAIL), text)


def _measure(text: str) -> str:
    size = len(text.encode("utf-8", "backslashreplace"))
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{size:,} bytes, {lines:,} line{'s' if lines != 1 else ''}"


def _around(text: str, head: int, notice: str, tail: int) -> str:
    return f"{text[:head]}\n\n{notice}\n\n{text[-tail:]}"
