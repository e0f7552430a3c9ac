"""Searches files where ripgrep is missing: run as a program of its own, so that it can be stopped.

Takes one JSON argument, writes what `rg -0nH` would: path, NUL, line number, colon, line. Imports nothing
of hel. Not here: limits and the answer (grep).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

MAX_LINE = 1 << 20
"""Bytes of a line that are searched."""
SNIFFED = 8_192


def main() -> None:
    """Search below the working directory, or in one file of it."""
    task: dict[str, Any] = json.loads(sys.argv[1])
    pattern = re.compile(task["pattern"], re.IGNORECASE if task["ignore_case"] else 0)
    start = os.fsencode(task["path"])
    skipped = {os.fsencode(name) for name in task["skipped"]}
    files = iter([start]) if task["is_file"] else walk(start, skipped)
    ends = tuple(os.fsencode(f".{extension}") for extension in task["extensions"])
    for path in files:
        if ends and not path.endswith(ends):
            continue
        try:
            with open(path, "rb", buffering=1 << 16) as file:  # noqa: PTH123 - bytes
                search(path, file, pattern)
        except OSError:
            continue


def walk(folder: bytes, skipped: set[bytes]) -> Iterator[bytes]:
    """Regular files in the order of ripgrep's `--sort path`."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.name in skipped or entry.name.lower() == b".hel":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path, skipped)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def search(path: bytes, file: BinaryIO, pattern: re.Pattern[str]) -> None:
    """Write the matching lines of a text file."""
    if b"\0" in file.read(SNIFFED):
        return
    file.seek(0)
    write = sys.stdout.buffer.write
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        rest = line
        while not rest.endswith(b"\n") and len(rest) == MAX_LINE:
            rest = file.readline(MAX_LINE)
        line = line.removesuffix(b"\n")
        if pattern.search(line.decode("utf-8", "surrogateescape")):
            write(b"%s\0%d:%s\n" % (path, number, line))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)
