"""Foreign text made safe: what servers, models and files say, for a screen, for a decision, for a model.

The one home of cleaning; text without anything suspect costs one scan and comes back as it is. Not here:
how wide text is drawn (tui.safe), masking of secrets (core.store.redact).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

STAND_IN = "\ufffd"
NEWLINE_MARK = "↵"
TAB_WIDTH = 4
UNSEEN = "[invisible characters removed]"
"""What a model reads in the place of a run of them."""

_WINDOW = 256 * 1024
"""Characters that are looked at in one go: other threads get their turn in between."""

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

_PICTURES: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)}
_PICTURES |= {0x7F: "\u2421", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_PICTURES |= {code: STAND_IN for code in range(0x80, 0xA0) if code != 0x85}
_PICTURES |= dict.fromkeys(range(0xD800, 0xE000), STAND_IN)
_PICTURES |= dict.fromkeys(
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

_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What `for_model` looks at; some of it stays."""
_INVISIBLE = (
    "\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
# Tag characters spell ASCII that models read; three invisible characters in a row are in no writing system
# and no emoji, and spell whatever one likes.
_SMUGGLED = re.compile(f"[{_INVISIBLE}]*[\U000e0000-\U000e007f][{_INVISIBLE}]*|[{_INVISIBLE}]{{3,}}")
_MARKED = re.compile("[\u202a-\u202e\u2066-\u2069]")
_FOR_MODEL = _PICTURES | dict.fromkeys((*range(0x206A, 0x2070), *range(0xFFF9, 0xFFFC), 0x034F), "")

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_UNSAID = re.compile(f"[{_INVISIBLE}\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class ForeignText:
    """A string somebody else wrote, with the forms in which it may be used."""

    raw: str

    @property
    def for_screen(self) -> str:
        """For reading: see `clean`."""
        return clean(self.raw)

    @property
    def revealed(self) -> str:
        """For deciding: see `reveal`."""
        return reveal(self.raw)

    @property
    def for_model(self) -> str:
        """For a model: see `for_model`."""
        return for_model(self.raw)


# ------------------------------------------------------------------ for a screen


COLOURS = re.compile("(?:\x1b\\[|\x9b)([0-9;:]*)m")
"""Control sequences that change how text is written (SGR), with their numbers: logs show them as colours."""
SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""Control sequences of a terminal; between letters they would hide a word from a search."""


def clean(text: str, *, newlines: bool = True) -> str:
    """Return `text` safe to draw: whole escape sequences gone, other controls as stand-ins, tabs as spaces.

    Sequences are CSI, OSC, DCS, APC, SOS and PM in their 7- and 8-bit forms, also without their end.
    Marks that turn the direction of text and invisible tag characters become U+FFFD, other invisible
    format characters go. With `newlines` off a line break is drawn as ↵. Cleaning twice changes nothing.
    """
    if _SUSPECT.search(text) is not None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _SEQUENCE.sub("", text)
        text = _DIRECTION.sub(STAND_IN, text).translate(_PICTURES)
    if not newlines and "\n" in text:
        text = text.replace("\n", NEWLINE_MARK)
    return text.expandtabs(TAB_WIDTH) if "\t" in text else text


def is_clean(text: str) -> bool:
    """Whether `clean` would return `text` unchanged (line breaks kept)."""
    return _SUSPECT.search(text) is None


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


def _code_point(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def _mark_look_alikes(match: re.Match[str]) -> str:
    word = match[0]
    if not _ASCII_LETTER.search(word):
        return word
    return _LOOK_ALIKE.sub(lambda found: f"{found[0]}⟨U+{ord(found[0]):04X}⟩", word)


# ------------------------------------------------------------------- for a model


def for_model(text: str) -> str:
    """Return `text` as a model may read it: what it says stays, what no person would have seen does not.

    Escape sequences go; other controls, NUL among them, become pictures, lone surrogates U+FFFD, line
    ends `\\n`. Marks that turn the direction of text are written out as ⟨U+202E⟩. Tag characters and longer
    runs of invisible ones, which can spell instructions, leave `UNSEEN`; a single one goes, joiners and
    variation selectors (emoji, Persian, Indic) stay. Tabs stay. Cleaning twice changes nothing.
    """
    if len(text) <= _WINDOW:
        return _piece_for_model(text)
    return "".join(map(_piece_for_model, _pieces(text)))


def _piece_for_model(text: str) -> str:
    if _UNFIT.search(text) is None:
        return text
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _MARKED.sub(_code_point, _SMUGGLED.sub(UNSEEN, text))
    return text.translate(_FOR_MODEL)


def _pieces(text: str) -> list[str]:
    """`text` in pieces that end with a line, as nothing that is looked for goes on after one."""
    pieces, start = [], 0
    while start < len(text):
        end = text.find("\n", start + _WINDOW) + 1 or len(text)
        pieces.append(text[start:end])
        start = end
    return pieces


def whole_characters(text: str) -> str:
    """Return `text` with lone surrogates, which no encoding takes, as U+FFFD."""
    return _SURROGATES.sub(STAND_IN, text)


# ------------------------------------------------------------------ for one line


def plain_line(text: str) -> str:
    """Foreign text on one line, for a sentence: no escape sequences, no controls, nothing invisible."""
    text = _SPACE.sub(" ", _SEQUENCE.sub("", text))
    return _UNSAID.sub("", whole_characters(text)).strip()


def printable(text: str) -> str:
    """Foreign text for a line of a terminal: control and invisible characters as escapes."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in "\t "
        else character.encode("unicode_escape").decode()
        for character in text
    )


def harmless(text: str) -> str:
    """A model's words for stdout: all writing and line breaks stay, what steers a terminal becomes escapes.

    Judged a character at a time, so that words may come in pieces. Carriage returns and marks that turn
    the direction of text count as steering.
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
