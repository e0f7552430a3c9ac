"""What the head of a GGUF file tells: the window its model was trained for, and the memory a token takes.

Reads the head alone, never the weights; the form is that of ggml-org/ggml, docs/gguf.md. Not here: serving
the file (process).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hel_tui.core.store.atomic import why
from hel_tui.core.store.reading import open_plain

MAGIC = b"GGUF"
MOST_KEYS = 10_000
LONGEST_TEXT = 2**20
"""Bytes of a text in the head; a chat template has some thousands."""
MOST_ITEMS = 2**24
LAYERS = 1_024
"""Numbers of a list that are kept: one a layer."""
LEAST_WINDOW = 4_096
"""Tokens below which hel can do little."""
SPARE = 2 * 2**30
"""Bytes of memory that stay free beside weights and window."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9


@dataclass(frozen=True, slots=True)
class Head:
    """Of one file. Zero means: it does not say."""

    window: int = 0
    """Tokens the model was trained for."""
    token_bytes: int = 0
    """Memory for one token of the window: keys and values of all layers, 16 bits each."""
    size: int = 0
    """Bytes of the file, and of the others it is split into."""


class BadFile(Exception):
    """The file cannot be served; the text is a sentence."""


def read_head(path: Path) -> Head:
    """Read the head of a file. Raises BadFile with a sentence."""
    try:
        with open_plain(path) as file:
            found = _values(file, path)
            size = path.stat().st_size
    except FileNotFoundError:
        raise BadFile(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise BadFile(f"{path} is a folder: name a GGUF file in it.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {why(error)}.") from None
    except (struct.error, MemoryError, RecursionError):
        raise BadFile(f"{path} ends, or breaks, within its head: it is not whole.") from None
    kind = found.get("general.architecture", "")
    values = {name.removeprefix(f"{kind}."): value for name, value in found.items()}
    parts = _whole(values.get("split.count"))
    return Head(_whole(values.get("context_length")), _token_bytes(values), size * max(parts, 1))


def fitting(head: Head, available: int) -> int:
    """Tokens of window that memory allows, with `available` bytes of it.

    A multiple of 1,024, at least LEAST_WINDOW, at most what the model was trained for; all of that where the
    file says too little.
    """
    if not head.token_bytes or not head.window:
        return head.window
    room = max(available - head.size - SPARE, 0) // head.token_bytes
    return min(head.window, max(room // 1_024 * 1_024, LEAST_WINDOW))


def _values(file: BinaryIO, path: Path) -> dict[str, Any]:
    if file.read(4) != MAGIC:
        raise BadFile(f"{path} is not a GGUF file.")
    version, _tensors, count = struct.unpack("<IQQ", file.read(20))
    if not 2 <= version <= 9:
        raise BadFile(f"{path} is GGUF of version {version}, which hel does not read.")
    found: dict[str, Any] = {}
    for _ in range(min(count, MOST_KEYS)):
        name = _text(file)
        if name.startswith("tokenizer."):  # a hundred thousand words, and nothing of use behind them
            break
        found[name] = _value(file, *struct.unpack("<I", file.read(4)))
    return found


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        inner, count = struct.unpack("<IQ", file.read(12))
        if count > MOST_ITEMS:
            raise struct.error("too long")
        return [_value(file, inner) for _ in range(count)][:LAYERS]
    form = "<" + _NUMBERS.get(kind, "!")
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > LONGEST_TEXT:
        raise struct.error("too long")
    data = file.read(length)
    if len(data) < length:
        raise struct.error("too short")
    return data.decode("utf-8", "replace")


def _token_bytes(values: dict[str, Any]) -> int:
    layers, heads = _whole(values.get("block_count")), _whole(values.get("attention.head_count"))
    keys = values.get("attention.head_count_kv")
    each = sum(map(_whole, keys)) if isinstance(keys, list) else _whole(keys or heads) * layers
    width = _whole(values.get("embedding_length")) // heads if heads else 0
    key = _whole(values.get("attention.key_length")) or width
    value = _whole(values.get("attention.value_length")) or width
    return each * (key + value) * 2


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0
