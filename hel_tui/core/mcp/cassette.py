"""A cassette: what a client and a server said to each other, a JSON object a line.

First a header, then frames in the order in which they passed: `t` seconds since the first, `dir` (`out` to
the server, `in` from it), `msg` the message, or `text` where it was no JSON. Secrets are taken out before
anything is written. Not here: standing between a client and a server (cli), answering (cassette_player).
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from hel_tui.core.nesting import is_nested_deeper
from hel_tui.core.store.atomic import NotWritten, why
from hel_tui.core.store.reading import open_plain
from hel_tui.core.store.redact import Redactor
from hel_tui.core.vocabulary import Json

FORMAT = "hel-cassette"
VERSION = 1
SUFFIX = ".cassette"
MAX_LINE = 64 << 20
"""Bytes of one line that are read."""
MAX_FRAMES = 200_000
MAX_SECONDS = 10**10
"""Of one recording."""
MAX_DEPTH = 200
"""Levels of objects and lists that a message may be nested: what matches and sends it recurses."""
_AS_IT_IS = frozenset(("progressToken", "cursor", "nextCursor", "requestState"))
"""Keys that sound like credentials and tie messages together."""

Way = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Taped:
    """One frame. `message` is None where it was no JSON object or list; then `text` is what it was."""

    time: float
    """Seconds since the recording began."""
    way: Way
    message: Any
    text: str = ""


@dataclass(frozen=True, slots=True)
class Cassette:
    server: str
    protocol: str
    """The revision that was negotiated; empty when that is not in it."""
    created: str
    frames: tuple[Taped, ...]


class BadCassette(ValueError):
    """The file cannot be used; the text is a sentence."""


def is_too_deep(value: Any, text: str | bytes, levels: int = MAX_DEPTH) -> bool:
    """Whether what was read from `text` is nested more than so many levels."""
    if isinstance(text, bytes):
        opened = text.count(b"{") + text.count(b"[")
    else:
        opened = text.count("{") + text.count("[")
    return opened > levels and is_nested_deeper(value, levels)


# --------------------------------------------------------------------- redaction


def redacted(value: Any, redactor: Redactor, key: str = "") -> Any:
    """A message without secrets. What ties messages together stays as it is."""
    if isinstance(value, Mapping):
        return {redactor(str(name)): redacted(item, redactor, str(name)) for name, item in value.items()}
    if isinstance(value, list):
        return [redacted(item, redactor, key) for item in value]
    return value if key in _AS_IT_IS else redactor.data(value, key)


# ----------------------------------------------------------------------- writing


class Tape:
    """A cassette that is being written: each frame is in the file as soon as it passed."""

    def __init__(self, file: IO[bytes], server: str, redactor: Redactor, protocol: str = "") -> None:
        """Write the header into `file`, which was opened without a buffer. Raises OSError."""
        from hel_tui import __version__

        self._file = file
        self._redactor = redactor
        self._write(
            {
                "format": FORMAT,
                "version": VERSION,
                "server": server,
                "protocol": protocol,
                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "hel": __version__,
            }
        )

    def add(self, seconds: float, way: Way, line: bytes | str) -> None:
        """Add one line as it was on the wire. Raises OSError."""
        text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        frame: Json = {"t": round(seconds, 6), "dir": way}
        try:
            message = json.loads(text)
            if is_deep := is_too_deep(message, text):
                message = None
        except ValueError:
            message, is_deep = None, False
        except RecursionError:
            message, is_deep = None, True
        if isinstance(message, dict | list):
            self._write({**frame, "msg": redacted(message, self._redactor)})
            return
        if is_deep:
            text = f"[a message of {len(text):,} characters, nested too deeply to be kept]"
        self._write({**frame, "text": self._redactor(text)})

    def _write(self, line: Json) -> None:
        data = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        while data:  # unbuffered: a part may be written
            data = data[self._file.write(data) :]


def create(path: Path, *, over: bool = False) -> IO[bytes]:
    """Open a file for a cassette, private and unbuffered, a new one unless `over`. Raises OSError, also for a
    link: it may have come with somebody's project.

    What is in one that is there stays until `empty`.
    """
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_APPEND | os.O_NOFOLLOW | (0 if over else os.O_CREAT | os.O_EXCL)
    try:
        return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", str(path)) from None
        raise


def empty(file: IO[bytes]) -> None:
    """Write over what was in a file, and make it private. Raises OSError."""
    os.fchmod(file.fileno(), 0o600)
    os.ftruncate(file.fileno(), 0)


def write_cassette(
    path: Path,
    server: str,
    frames: Iterable[tuple[float, Way, str]],
    *,
    protocol: str = "",
    mask: Redactor | None = None,
) -> NotWritten | None:
    """Write frames (Unix time, way, body as it was on the wire) to a new file. None when done.

    Takes time: call it beside the loop. A file that is there is left alone.
    """
    try:
        with create(path) as file:
            tape = Tape(file, server, mask or Redactor(), protocol)
            first: float | None = None
            for at, way, body in frames:
                first = at if first is None else first
                tape.add(max(0.0, at - first), way, body)
    except FileExistsError:
        return NotWritten(path, f"{path} was not written: there is a file of that name.")
    except OSError as error:
        return NotWritten(path, f"{path} was not written: {why(error)}.")
    return None


# ----------------------------------------------------------------------- reading


def read_cassette(path: Path) -> Cassette:
    """Read a cassette. Raises BadCassette.

    A last line without its end is left out: whoever recorded may have been killed.
    """
    try:
        with open_plain(path) as file:
            return _read(file)
    except BadCassette as bad:
        raise BadCassette(f"{path}: {bad}") from None
    except OSError as error:
        raise BadCassette(f"{path} cannot be read: {why(error)}.") from None


def _read(file: IO[bytes]) -> Cassette:
    header = _line(file.readline(MAX_LINE), 1)
    if header is None or header.get("format") != FORMAT:
        raise BadCassette("it is no cassette: `hel mcp record` makes one.")
    if header.get("version") != VERSION:
        raise BadCassette(
            f"it is a cassette of version {header.get('version')!r:.20}; this hel reads {VERSION}."
        )
    frames: list[Taped] = []
    number = 1
    while raw := file.readline(MAX_LINE):
        number += 1
        line = _line(raw, number)
        if line is None:  # torn: nothing can be behind it
            break
        frames.append(_frame(line, number))
        if len(frames) > MAX_FRAMES:
            raise BadCassette(f"it has more than {MAX_FRAMES:,} frames.")
    told = {key: str(header.get(key) or "") for key in ("server", "protocol", "created")}
    return Cassette(told["server"], told["protocol"] or _protocol(frames), told["created"], tuple(frames))


def _line(raw: bytes, number: int) -> Json | None:
    """The object in a line; None for a last one that is torn. Raises BadCassette."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        if not raw.endswith(b"\n"):
            return None
        raise BadCassette(f"line {number} is no JSON." if number > 1 else "it is no cassette.") from None
    if not isinstance(value, dict):
        raise BadCassette(f"line {number} is no object.")
    if is_too_deep(value, raw, MAX_DEPTH + 1):
        raise BadCassette(f"line {number} is nested more than {MAX_DEPTH} levels deep.")
    return value


def _frame(line: Json, number: int) -> Taped:
    at, way, text = line.get("t"), line.get("dir"), line.get("text", "")
    if isinstance(at, bool) or not isinstance(at, int | float) or way not in ("out", "in"):
        raise BadCassette(f"line {number} is no frame: it needs `t`, `dir` and `msg`.")
    if not 0 <= at <= MAX_SECONDS:  # what is no number is not, either
        raise BadCassette(f"line {number} is no frame: its `t` is no time of a recording.")
    return Taped(float(at), way, line.get("msg"), text if isinstance(text, str) else "")


def _protocol(frames: list[Taped]) -> str:
    """The revision a server named in its first answer that names one."""
    for frame in frames:
        result = (
            frame.message.get("result") if frame.way == "in" and isinstance(frame.message, dict) else None
        )
        if isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
            return str(result["protocolVersion"])
    return ""
