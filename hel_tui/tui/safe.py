"""The border for foreign text on the screen: what a server, a model or a file says, made safe to draw.

`clean` is for reading, `reveal` for deciding (dialogs); widgets draw text as it is, never as markup.
Not here: what a model is told, and masking of secrets.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, split_graphemes

STAND_IN = "\ufffd"
NEWLINE_MARK = "↵"
TAB_WIDTH = 4

_SUSPECT = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What `clean` changes; text without it is returned as it is."""

# A string sequence ends at its terminator or at the end of its line: one stray OSC must not eat what follows.
# The 8-bit introducers are common in wrongly decoded text: they only count when the terminator is there.
_SEQUENCE = re.compile(
    "\x1b[\\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|[\x90\x98\x9d-\x9f][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
)
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]+")

_TABLE: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_TABLE |= {0x7F: "\u2421", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_TABLE |= {code: STAND_IN for code in range(0x80, 0xA0) if code != 0x85}
_TABLE |= dict.fromkeys(range(0xD800, 0xE000), STAND_IN)
_TABLE |= dict.fromkeys(
    (0xAD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2065, 0xFEFF), ""
)

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_WORD = re.compile(r"[^\W\d_]+")
_LOOK_ALIKE = re.compile("[\u0370-\u03ff\u0400-\u052f\uff21-\uff3a\uff41-\uff5a]")
_ASCII_LETTER = re.compile("[A-Za-z]")


def clean(text: str, *, newlines: bool = True) -> str:
    """Return `text` safe to draw: whole escape sequences gone, other controls as stand-ins, tabs as spaces.

    Sequences are CSI, OSC, DCS, APC, SOS and PM in their 7- and 8-bit forms, also without their end.
    Marks that turn the direction of text and invisible tag characters become U+FFFD, other invisible
    format characters go. With `newlines` off a line break is drawn as ↵. Cleaning twice changes nothing.
    """
    if _SUSPECT.search(text) is not None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _SEQUENCE.sub("", text)
        text = _DIRECTION.sub(STAND_IN, text).translate(_TABLE)
    if not newlines and "\n" in text:
        text = text.replace("\n", NEWLINE_MARK)
    return text.expandtabs(TAB_WIDTH) if "\t" in text else text


def is_clean(text: str) -> bool:
    """Whether `clean` would return `text` unchanged (line breaks kept)."""
    return _SUSPECT.search(text) is None


def _code_point(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def _mark_look_alikes(match: re.Match[str]) -> str:
    word = match[0]
    if not _ASCII_LETTER.search(word):
        return word
    return _LOOK_ALIKE.sub(lambda found: f"{found[0]}⟨U+{ord(found[0]):04X}⟩", word)


def reveal(text: str) -> str:
    """Return `text` with everything a person cannot see drawn as ⟨U+202E⟩, for decisions.

    Covers controls, zero-width, bidi, tag and variation characters and spaces other than U+0020; line
    breaks stay and tabs become spaces. In a word that mixes scripts, letters that look Latin but are
    not are followed by their code point.
    """
    text = _HIDDEN.sub(_code_point, text.replace("\r\n", "\n")).expandtabs(TAB_WIDTH)
    if text.isascii():
        return text
    return _WORD.sub(_mark_look_alikes, text)


def cut(text: str, width: int) -> str:
    """Return `text` (one line, clean) in at most `width` cells; what is cut off ends in …."""
    if width <= 0:
        return ""
    if len(text) * 2 <= width or cell_len(text) <= width:
        return text
    # No more than this many code points are worth measuring, however long the line is.
    head = text[: width * 8]
    cells = 0
    end = 0
    for _start, stop, size in split_graphemes(head)[0]:
        if cells + size > width - 1:
            break
        cells += size
        end = stop
    return head[:end] + "…"


def one_line(text: str, width: int) -> str:
    """Return foreign `text` cleaned, on one line, in at most `width` cells, cut with …."""
    return cut(clean(text[: max(width, 1) * 64], newlines=False), width)
