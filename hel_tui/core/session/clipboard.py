"""What lies in the system's clipboard: an image or text, by the programs that systems have for it.

Terminals hand on text only, and few of them let a program ask. Not here: what becomes of it (own_files).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hel_tui.core.images import MAX_BYTES, measure
from hel_tui.core.store.redact import looks_like_secret
from hel_tui.core.tools.programs import find_program

LIMIT = 5.0
"""Seconds a program gets."""
MAX_TEXT = 2_000_000
_KINDS = ("image/png", "image/jpeg", "image/webp", "image/gif")
_OSASCRIPT = ("-e", "the clipboard as «class PNGf»")
NONE = (
    "No program to read the clipboard with was found: wl-paste (wl-clipboard), xclip or pbpaste. "
    "Paste with your terminal, or write @FILE."
)


class Empty(Exception):
    """There is nothing to paste; the text is a sentence."""


class Unfit(Exception):
    """What is there cannot be pasted; the text is a sentence."""


def read_clipboard(environ: Mapping[str, str], project: Path) -> bytes | str:
    """The bytes of an image, else text. May take as long as LIMIT; call it beside the loop.

    Raises Empty, Unfit.
    """
    environ = {name: value for name, value in environ.items() if not looks_like_secret(name, value)}
    readers = (("wl-paste", _wayland), ("xclip", _xclip), ("osascript", _mac), ("pbpaste", _pbpaste))
    tried = False
    for name, reader in readers:
        if name == "wl-paste" and not environ.get("WAYLAND_DISPLAY"):
            continue
        if name == "xclip" and not environ.get("DISPLAY"):
            continue
        program = find_program(name, environ, project)
        if program is None:
            continue
        tried = True
        found = reader(program, environ)
        if found:
            return found
    raise Empty("The clipboard is empty." if tried else NONE)


def _wayland(program: str, environ: Mapping[str, str]) -> bytes | str:
    kinds = _text(_run([program, "--list-types"], environ)).split()
    for kind in _KINDS:
        if kind in kinds and (data := _run([program, "--no-newline", "--type", kind], environ)):
            return _image(data)
    return _text(_run([program, "--no-newline"], environ))


def _xclip(program: str, environ: Mapping[str, str]) -> bytes | str:
    base = [program, "-selection", "clipboard", "-o"]
    kinds = _text(_run([*base, "-t", "TARGETS"], environ)).split()
    for kind in _KINDS:
        if kind in kinds and (data := _run([*base, "-t", kind], environ)):
            return _image(data)
    return _text(_run(base, environ))


def _mac(program: str, environ: Mapping[str, str]) -> bytes | str:
    """AppleScript writes data as «data PNGf8950…»."""
    said = _text(_run([program, *_OSASCRIPT], environ, MAX_BYTES * 3))
    found = re.search(r"«data PNGf([0-9A-F]+)»", said)
    return _image(bytes.fromhex(found[1])) if found else ""


def _pbpaste(program: str, environ: Mapping[str, str]) -> str:
    return _text(_run([program], environ))


def _image(data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise Unfit(f"The image in the clipboard is over {MAX_BYTES // 2**20} MiB: too large for a model.")
    if measure(data) is None:
        raise Unfit("The image in the clipboard is no PNG, JPEG, GIF or WebP.")
    return data


def _text(data: bytes) -> str:
    return data[:MAX_TEXT].decode("utf-8", "replace")


def _run(command: Sequence[str], environ: Mapping[str, str], most: int = MAX_BYTES + 1) -> bytes:
    """What a program prints, empty when it fails."""
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout[:most] if done.returncode == 0 else b""
