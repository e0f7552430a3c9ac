"""The head of a GGUF file: what it tells, and files that are none."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from hel_tui.core.models.served.gguf import LEAST_WINDOW, SPARE, BadFile, Head, fitting, read_head

GIB = 2**30


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(of: Any) -> bytes:
    if isinstance(of, str):
        return struct.pack("<I", 8) + text(of)
    if isinstance(of, list):
        return struct.pack("<IIQ", 9, 4, len(of)) + b"".join(struct.pack("<I", one) for one in of)
    return struct.pack("<II", 4, of)


def gguf(path: Path, values: dict[str, Any], version: int = 3) -> Path:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(values))
    path.write_bytes(head + b"".join(text(name) + value(one) for name, one in values.items()))
    return path


LLAMA = {
    "general.architecture": "llama",
    "general.name": "eight",
    "llama.context_length": 131_072,
    "llama.block_count": 32,
    "llama.embedding_length": 4_096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "tokenizer.ggml.model": "gpt2",
}


def test_the_head_tells_the_window_and_what_a_token_takes(tmp_path: Path) -> None:
    path = gguf(tmp_path / "m.gguf", LLAMA)
    assert read_head(path) == Head(131_072, 2 * 32 * 8 * 128 * 2, path.stat().st_size)


def test_heads_may_differ_by_layer_and_widths_be_named(tmp_path: Path) -> None:
    own = {
        "llama.attention.head_count_kv": [2, 0, 4],
        "llama.attention.key_length": 256,
        "llama.attention.value_length": 128,
    }
    assert (
        read_head(
            gguf(tmp_path / "m.gguf", own | {k: v for k, v in LLAMA.items() if k not in own})
        ).token_bytes
        == 6 * (256 + 128) * 2
    )


def test_the_window_is_what_memory_allows() -> None:
    head = Head(131_072, 131_072, 5 * GIB)
    assert fitting(head, 64 * GIB) == 131_072
    assert fitting(head, 5 * GIB + SPARE + 4 * GIB) == 32_768
    assert fitting(head, 1 * GIB) == LEAST_WINDOW
    assert fitting(Head(8_192, 0, 1), 0) == 8_192, "a file that tells too little is taken at its word"
    assert fitting(Head(2_048, 1, 1), 0) == 2_048


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a GGUF file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "not a GGUF file"),
        (b"GGUF", "not whole"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 5), "not whole"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**60), "not whole"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 99), "not whole"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 4, 2**62), "not whole"),
    ],
)
def test_what_is_no_whole_file_is_told_in_a_sentence(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(BadFile, match=said):
        read_head(path)


def test_a_file_cut_anywhere_never_raises_anything_else(tmp_path: Path) -> None:
    whole = gguf(tmp_path / "m.gguf", LLAMA).read_bytes()
    for end in range(0, len(whole), 7):
        (tmp_path / "cut.gguf").write_bytes(whole[:end])
        try:
            read_head(tmp_path / "cut.gguf")
        except BadFile as bad:
            assert str(bad).endswith(".")


def test_a_folder_and_a_name_without_a_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="is a folder"):
        read_head(tmp_path)
    with pytest.raises(BadFile, match="There is no file"):
        read_head(tmp_path / "none.gguf")


def test_a_pipe_or_a_device_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.gguf")
    for path in (tmp_path / "m.gguf", Path("/dev/zero")):
        with pytest.raises(BadFile, match="not a regular file"):
            read_head(path)


def test_lists_of_lists_without_end_are_no_way_to_fill_the_stack(tmp_path: Path) -> None:
    deep = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 9)
    (tmp_path / "m.gguf").write_bytes(deep + struct.pack("<IQ", 9, 1) * 5_000)
    with pytest.raises(BadFile, match="not whole"):
        read_head(tmp_path / "m.gguf")
