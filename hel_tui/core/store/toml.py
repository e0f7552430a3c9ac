"""Reading TOML that may come from anybody: whatever is wrong is a ValueError with a sentence.

Refuses what costs the parser far more than its size, before parsing. Not here: files (reading, atomic),
what the values mean.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_BYTES = 64 << 10
"""Bytes a file that people write may have."""
MAX_PARTS = 20
"""Parts of one dotted key. The parser keeps every prefix of a key: memory grows with their square."""

_QUIET = re.compile(
    r'"""(?:[^"\\]|\\.|""?(?!"))*"{3,5}'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*",
    re.DOTALL,
)
"""Texts and comments."""
_DOTTED = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAX_PARTS},}}")


class BadToml(ValueError):
    """The text cannot be used. The message is a sentence without its full stop; `line` is from 1, or 0."""

    def __init__(self, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.line = line


def parse_toml(text: str, most: int = MAX_BYTES) -> dict[str, Any]:
    """Return the document in `text`, of `most` bytes. Raises BadToml, never anything else."""
    if len(text.encode()) > most:
        raise BadToml(f"it is larger than {most >> 10} KiB")
    bare = _QUIET.sub(lambda found: re.sub(r"[^\n]", " " if found[0][0] == "#" else "s", found[0]), text)
    if dotted := _DOTTED.search(bare):
        line = bare.count("\n", 0, dotted.start()) + 1
        raise BadToml(f"a key has more than {MAX_PARTS} parts", line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        what = re.sub(r"\s*\(at [^()]*\)$", "", str(error))
        raise BadToml(f"it is not valid TOML: {what}", int(found[1]) if found else 0) from None
    except RecursionError:
        raise BadToml("it is nested too deeply") from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise BadToml("a number in it has too many digits") from None
