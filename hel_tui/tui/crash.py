"""Readable reports of bugs in the screen: where, not with what. No values of variables, no secrets.

Not here: bugs in the core (they arrive as an event).
"""

from __future__ import annotations

import platform
import re
import traceback

import textual

from hel_tui import __version__
from hel_tui.tui.safe import clean
from hel_tui.tui.strings import t

MESSAGE = 300
_TOKEN = re.compile(r"[A-Za-z0-9_\-./+=]{20,}")


def _masked(text: str) -> str:
    """Long runs that could be a key are hidden; paths and names keep their end."""
    return _TOKEN.sub(lambda m: m[0] if "/" in m[0] and not re.search(r"\d", m[0]) else "•••", text)


def report(error: BaseException) -> str:
    """The report of an exception: versions, the places it went through, its type and a masked message."""
    lines = [
        t("crash.title"),
        f"hel {__version__}, textual {textual.__version__}, python {platform.python_version()},"
        f" {platform.system()}",
        "",
    ]
    for frame in traceback.extract_tb(error.__traceback__):
        lines.append(f"  {frame.filename}:{frame.lineno} {frame.name}")
    message = clean(str(error), newlines=False)[:MESSAGE]
    lines += ["", f"{type(error).__name__}: {_masked(message)}"]
    return "\n".join(lines)
